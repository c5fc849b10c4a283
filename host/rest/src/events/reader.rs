//! Events of a run from a number on.

use crate::problem::Problem;
use agent_spaces_journal::{Store, Stored};
use serde::Deserialize;
use std::sync::Arc;

/// Entries and bytes that are read at once: an event may have megabytes, and clients may not read what they ask for.
const PAGE: usize = 200;
const PAGE_BYTES: usize = 256 << 10;

/// Kind of the entries that are events.
const EVENT: &str = "event";

/// Reads the events of a run, in order and each once.
pub(crate) struct EventReader {
    store: Arc<dyn Store>,
    run: String,
    /// Number of the next entry to read.
    entry: u64,
    /// Number of the last event that was read; `None` for none.
    last: Option<u64>,
}

/// Event of a run.
pub(crate) struct ReadEvent {
    /// Its number in the run.
    pub(crate) number: u64,
    /// Its JSON text.
    pub(crate) text: String,
}

#[derive(Deserialize)]
struct Numbered {
    seq: u64,
}

impl EventReader {
    /// Reads from the event after this one on.
    pub(crate) fn after(store: &Arc<dyn Store>, run: &str, last: Option<u64>) -> EventReader {
        // The first entry is no event, so an event's entry has a higher number than the event.
        let entry = last.map_or(0, |last| last.saturating_add(1));
        EventReader { store: store.clone(), run: run.to_owned(), entry, last }
    }

    /// Returns the number of entries that were read.
    pub(crate) fn entries(&self) -> u64 {
        self.entry
    }

    /// Reads the next events that are on disk; none if there are no more now.
    pub(crate) async fn next(&mut self) -> Result<Vec<ReadEvent>, Problem> {
        loop {
            let entries = self.store.read_bytes(&self.run, self.entry, PAGE, PAGE_BYTES).await?;
            let Some(last) = entries.last() else { return Ok(Vec::new()) };
            self.entry = last.seq.saturating_add(1);
            let mut events = Vec::new();
            for entry in entries.into_iter().filter(|entry| entry.kind == EVENT) {
                let event = read(entry)?;
                if self.last.is_none_or(|last| event.number > last) {
                    self.last = Some(event.number);
                    events.push(event);
                }
            }
            if !events.is_empty() {
                return Ok(events);
            }
        }
    }
}

fn read(entry: Stored) -> Result<ReadEvent, Problem> {
    let text = String::from_utf8(entry.body).map_err(|error| Problem::internal(&error))?;
    let numbered: Numbered = serde_json::from_str(&text).map_err(|error| Problem::internal(&error))?;
    Ok(ReadEvent { number: numbered.seq, text })
}
