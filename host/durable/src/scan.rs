//! Scan of a run's journal: one pass that collects the details of the run.

use crate::error::DurableError;
use crate::header::{FORMAT, Header};
use crate::record::{BadRecord, Record};
use crate::recorded_call::RecordedCall;
use agent_spaces_journal::{Store, Stored};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Entries and bytes that are read at once: a journal may have gigabytes.
const PAGE: usize = 200;
const PAGE_BYTES: usize = 256 << 10;

/// Details of a run, collected by a scan.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) header: Header,
    pub(crate) is_imported: bool,
    /// Number of calls.
    pub(crate) calls: usize,
    /// The value or the error, if the run is over.
    pub(crate) result: Option<Value>,
    /// Calls without an answer.
    unanswered: BTreeMap<u64, RecordedCall>,
    /// Calls that were sent and have no answer: true if the last may be made again, and the number of times.
    sent: HashMap<u64, (bool, u32)>,
}

/// Beginning of an event.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventHead<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(default)]
    call_id: Option<u64>,
}

/// Beginning of an answer, which may be large.
#[derive(Deserialize)]
struct AnswerHead {
    call: u64,
}

impl Scan {
    /// Reads the first entries of a run, and passes each event to a function.
    pub(crate) async fn read(
        store: &dyn Store,
        run: &str,
        entries: u64,
        mut event: impl FnMut(&str),
    ) -> Result<Scan, DurableError> {
        let mut scan: Option<Scan> = None;
        let mut next = 0;
        while next < entries {
            let limit = usize::try_from(entries - next).unwrap_or(usize::MAX).min(PAGE);
            let page = store.read_bytes(run, next, limit, PAGE_BYTES).await?;
            // It was removed meanwhile.
            let Some(last) = page.last() else { break };
            next = last.seq.saturating_add(1);
            for entry in page {
                match &mut scan {
                    Some(scan) => scan.add(entry, &mut event)?,
                    None => scan = Some(Scan::first(entry)?),
                }
            }
        }
        scan.ok_or(DurableError::Empty)
    }

    fn first(entry: Stored) -> Result<Scan, DurableError> {
        let Record::Started(header) = Record::read(entry.seq, &entry.kind, entry.body)? else {
            return Err(DurableError::Empty);
        };
        if header.format > FORMAT {
            return Err(DurableError::Newer { found: header.format, known: FORMAT });
        }
        let (unanswered, sent) = Default::default();
        Ok(Scan { header: *header, is_imported: false, calls: 0, result: None, unanswered, sent })
    }

    fn add(&mut self, entry: Stored, event: &mut impl FnMut(&str)) -> Result<(), DurableError> {
        // Its value is not shown.
        if entry.kind == "answer" {
            let AnswerHead { call } = serde_json::from_slice(&entry.body).map_err(|error| BadRecord {
                seq: entry.seq,
                kind: entry.kind,
                message: error.to_string(),
            })?;
            self.sent.remove(&call);
            self.unanswered.remove(&call);
            return Ok(());
        }
        match Record::read(entry.seq, &entry.kind, entry.body)? {
            Record::Started(_) => return Err(DurableError::Empty),
            Record::Imported => self.is_imported = true,
            Record::Sent(sent) => {
                let (is_repeatable, attempts) = self.sent.entry(sent.call).or_insert((true, 0));
                *is_repeatable = sent.repeatable;
                *attempts = attempts.saturating_add(1);
            }
            Record::Result(result) => self.result = Some(result),
            Record::Event(text) => {
                self.add_event(&text)?;
                event(&text);
            }
            _ => {}
        }
        Ok(())
    }

    fn add_event(&mut self, text: &str) -> Result<(), DurableError> {
        let unreadable = |error: serde_json::Error| DurableError::Event(error.to_string());
        let head: EventHead<'_> = serde_json::from_str(text).map_err(unreadable)?;
        match (head.kind, head.call_id) {
            ("callScheduled", _) => {
                let value = serde_json::from_str(text).map_err(unreadable)?;
                if let Some(call) = RecordedCall::of_event(&value) {
                    self.calls += 1;
                    self.unanswered.insert(call.call, call);
                }
            }
            ("callResult" | "callError", Some(call)) => {
                self.unanswered.remove(&call);
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes the calls that were sent, have no answer, and may not be made again, each with the number of times.
    pub(crate) fn take_in_doubt(&mut self) -> Vec<(RecordedCall, u32)> {
        let unanswered = std::mem::take(&mut self.unanswered).into_values();
        let in_doubt = unanswered.filter_map(|call| match self.sent.get(&call.call) {
            Some((false, attempts)) => Some((call, *attempts)),
            _ => None,
        });
        in_doubt.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Scan;
    use crate::error::DurableError;
    use crate::replay::Replay;
    use crate::stored;
    use agent_spaces_journal::{Entry, NewRun, SqliteStore, Store, Summary};
    use serde_json::{Value, json};
    use std::time::Duration;

    fn entry(kind: &'static str, body: &Value) -> Entry {
        Entry::new(kind, 0, body.to_string())
    }

    fn header() -> Value {
        let limits = agent_spaces_types::limits::Limits::default();
        json!({
            "format": 1, "version": "1", "script": "a.ts", "program": "p", "engine": "e", "engineSha256": "s",
            "wasmtime": "1", "limits": limits, "caller": agent_spaces_types::caller::Caller::default(),
            "hidden": agent_spaces_sandbox::imports::Hidden::default(), "seed": "0",
        })
    }

    fn scheduled(call: u64) -> Entry {
        entry(
            "event",
            &json!({
                "type": "callScheduled", "seq": call, "callId": call, "functionId": "a:shop/shop@1.0.0#pay",
                "capability": "shop", "function": "pay", "params": { "item": call },
            }),
        )
    }

    async fn written(store: &SqliteStore, entries: Vec<Entry>) -> u64 {
        let count = entries.len() as u64;
        let new = NewRun {
            id: "run_1".to_owned(),
            summary: Summary::default(),
            lease: Duration::from_secs(30),
            content: vec![],
        };
        let (_claim, created) = store.create(new, store.owner(), entries);
        created.await.unwrap();
        count
    }

    #[tokio::test]
    async fn a_scan_finds_what_a_replay_finds() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("journal"), Default::default()).unwrap();
        let mut entries = vec![entry("started", &header())];
        let sent = |call: u64, repeatable: bool| entry("sent", &json!({ "call": call, "repeatable": repeatable }));
        // More than a page, with answers that are larger than one.
        for call in 1..=300 {
            entries.push(scheduled(call));
            entries.push(sent(call, false));
            if call % 100 != 7 {
                let ok = if call == 20 { "x".repeat(400_000) } else { String::new() };
                entries.push(entry("answer", &json!({ "call": call, "ok": ok, "micros": 1, "spentMs": 1 })));
            }
        }
        entries.extend([scheduled(301), sent(301, true), sent(107, false)]);
        entries.push(entry("event", &json!({ "type": "console", "seq": 400, "level": "log", "text": "a" })));
        entries.push(entry("result", &json!({ "ok": 7 })));
        let count = written(&store, entries).await;

        let mut events = Vec::new();
        let mut scan = Scan::read(&store, "run_1", count, |text| events.push(text.to_owned())).await.unwrap();
        let replay = Replay::read(stored::entries(&store, "run_1").await.unwrap()).unwrap();
        assert_eq!((scan.calls, replay.calls().count()), (301, 301));
        assert_eq!((&scan.result, scan.header == replay.header, scan.is_imported), (&replay.result, true, false));
        assert!(events.len() == 302 && events[301].contains("console"), "{}", events.len());
        assert!(scan.unanswered.len() < 10, "answered calls are not kept");
        let in_doubt = scan.take_in_doubt().into_iter();
        let in_doubt: Vec<(u64, u32)> = in_doubt.map(|(call, attempts)| (call.call, attempts)).collect();
        assert_eq!(in_doubt, [(7, 1), (107, 2), (207, 1)]);
        let expected: Vec<u64> = in_doubt.iter().map(|(call, _)| *call).collect();
        assert_eq!(replay.in_doubt(), expected);

        // Only as far as it is asked for, and a page at a time.
        let short = Scan::read(&store, "run_1", 2, |_| {}).await.unwrap();
        assert_eq!((short.calls, &short.result), (1, &None));
        let missing = Scan::read(&store, "run_2", 5, |_| {}).await;
        assert!(matches!(missing, Err(DurableError::Empty)), "{missing:?}");
    }
}
