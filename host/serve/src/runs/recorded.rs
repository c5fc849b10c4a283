//! Result of a durable run, from its journal.

use super::Ended;
use super::value::RunValue;
use agent_spaces_durable::DurableError;
use agent_spaces_durable::record::Record;
use agent_spaces_journal::Store;
use agent_spaces_types::code::Code;
use agent_spaces_types::event::{ConsoleLevel, ConsoleLine};
use agent_spaces_types::run_error::RunError;
use agent_spaces_types::usage::Usage;
use serde::Deserialize;
use serde_json::Value;
use std::time::Instant;

/// Entries that are read at once.
const PAGE: usize = 1_000;

/// Value or error of a run, as its journal has it.
#[derive(Deserialize)]
struct RecordedResult {
    #[serde(default)]
    ok: Value,
    error: Option<RunError>,
}

/// Members of the events that a result shows.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum ShownEvent {
    Console {
        text: String,
    },
    RunFinished {
        usage: Usage,
    },
    #[serde(other)]
    Other,
}

impl Ended {
    /// Reads the result of a run; `None` if its journal has none.
    pub(crate) async fn recorded(store: &dyn Store, run: &str) -> Result<Option<Ended>, DurableError> {
        let (mut console, mut usage, mut result) = (Vec::new(), Usage::default(), None);
        let mut from = 0;
        loop {
            let page = store.read(run, from, PAGE).await?;
            let is_last = page.len() < PAGE;
            from += page.len() as u64;
            for entry in page.into_iter().filter(|entry| matches!(entry.kind.as_str(), "event" | "result")) {
                match Record::read(entry.seq, &entry.kind, entry.body)? {
                    Record::Event(text) => match serde_json::from_str(&text) {
                        // The level of a line is not shown.
                        Ok(ShownEvent::Console { text }) => {
                            console.push(ConsoleLine { level: ConsoleLevel::Log, text })
                        }
                        Ok(ShownEvent::RunFinished { usage: used }) => usage = used,
                        Ok(ShownEvent::Other) | Err(_) => {}
                    },
                    Record::Result(value) => result = Some(value),
                    _ => {}
                }
            }
            if is_last {
                break;
            }
        }
        let Some(result) = result else { return Ok(None) };
        let result = RecordedResult::deserialize(result).map_err(|error| DurableError::Event(error.to_string()))?;
        let outcome = match result.error {
            Some(error) => Err(error),
            // A large value takes a while.
            None => {
                let kept = tokio::task::spawn_blocking(move || RunValue::new(result.ok)).await;
                kept.map_err(|error| RunError::new(Code::HostEngine, error.to_string()))
            }
        };
        Ok(Some(Ended { outcome, console, usage, at: Instant::now() }))
    }
}
