//! Tests of the filter, and of the limits of one request.

use super::{AuditEntry, MAX_SCAN, is_shown, page};
use crate::audit::{
    Action, ApiAction, AuditFault, AuditLimits, AuditLine, AuditLines, AuditLog, AuditPosition, Auditing, Subject,
};
use crate::pages::PageRequest;
use crate::query::Query;
use crate::who::Who;
use agent_spaces_http_server::Client;
use agent_spaces_types::caller::Caller;
use serde_json::{Value, json};
use std::sync::Mutex;

/// Log in memory whose lines have one size. A position is the number of lines before it.
struct Lines {
    entries: Vec<Value>,
    bytes: u64,
    /// Lines that were read.
    read: Mutex<u64>,
}

impl Lines {
    fn new(entries: Vec<Value>, bytes: u64) -> Lines {
        Lines { entries, bytes, read: Mutex::default() }
    }
}

impl AuditLog for Lines {
    fn record(&self, _: ApiAction) -> Auditing<'_, ()> {
        Box::pin(async { Err(AuditFault("only read here".to_owned())) })
    }

    fn read(&self, from: Option<AuditPosition>, limits: AuditLimits) -> Auditing<'_, AuditLines> {
        let first = from.map_or(0, |from| from.offset);
        let most = limits.bytes.div_ceil(self.bytes).min(limits.entries as u64);
        let rest = self.entries.iter().enumerate().skip(first as usize).take(most as usize);
        let after = |offset| AuditPosition { file: 1, offset };
        let lines: Vec<AuditLine> = rest
            .map(|(index, entry)| {
                let seq = index as u64 + 1;
                AuditLine { seq, time: "2026-01-31T12:00:00Z".to_owned(), entry: entry.clone(), after: after(seq) }
            })
            .collect();
        let count = lines.len() as u64;
        *self.read.lock().unwrap() += count;
        let next = first + count;
        let is_end = next == self.entries.len() as u64;
        Box::pin(async move { Ok(AuditLines { lines, next: after(next), is_end, scanned: count * self.bytes }) })
    }
}

fn named(name: &str) -> Who {
    Who(Client::named(name, Caller { name: Some(name.to_owned()), ..Caller::default() }))
}

fn operator() -> Who {
    Who(Client::of_process(Caller::default()))
}

/// Entry of a run.
fn event(caller: &str, number: usize) -> Value {
    json!({ "type": "runStarted", "runId": format!("run_{number}"), "seq": 0, "caller": caller })
}

async fn get(log: &Lines, who: &Who, query: &str) -> (Vec<AuditEntry>, Option<String>) {
    let request = PageRequest::read(&Query::parse(Some(query), &["limit", "cursor"]).unwrap()).unwrap();
    let page = page(log, who, &request).await.unwrap();
    (page.items, page.next)
}

/// Returns the numbers of all entries, page by page.
async fn all(log: &Lines, who: &Who, limit: usize) -> Vec<u64> {
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let (items, next) = get(log, who, &format!("limit={limit}{cursor}")).await;
        assert!(items.len() <= limit);
        seen.extend(items.into_iter().map(|item| item.seq));
        match next {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return seen,
        }
    }
}

#[test]
fn a_caller_sees_only_entries_that_name_it() {
    let action =
        |who: &Who| serde_json::to_value(ApiAction::new(who, Action::SpaceCreated, Subject::space("spc_1"))).unwrap();
    let (ann, bob) = (named("ann"), named("bob"));
    for own in [event("ann", 1), action(&ann)] {
        assert!(is_shown(&ann, &own) && !is_shown(&bob, &own) && is_shown(&operator(), &own), "{own}");
    }
    let others = [
        event("bob", 1),
        event("", 1),
        event("ann ", 1),
        event("Ann", 1),
        action(&bob),
        action(&operator()),
        // Names elsewhere in an entry are no callers.
        json!({ "type": "callScheduled", "caller": "bob", "params": { "caller": "ann" }, "runId": "run_1" }),
        json!({ "type": "runStarted", "runId": "ann" }),
        json!({ "type": "apiAction", "by": "ann", "operator": true }),
        json!({ "type": "x", "caller": ["ann"] }),
        json!({ "type": "rotated", "file": 2 }),
        json!("ann"),
    ];
    for other in others {
        assert!(!is_shown(&ann, &other) && is_shown(&operator(), &other), "{other}");
    }
    // A caller whose name is unknown is not the operator.
    let nobody = Who(Client::named("ann", Caller::default()));
    assert!(!is_shown(&nobody, &event("", 1)) && !is_shown(&nobody, &json!({ "type": "runStarted" })));
}

#[tokio::test]
async fn pages_have_every_own_entry_once_and_no_other() {
    let entries = (1..=1200).map(|number| event(if number % 3 == 0 { "ann" } else { "bob" }, number)).collect();
    let log = Lines::new(entries, 100);
    let own: Vec<u64> = (1..=1200).filter(|number| number % 3 == 0).collect();
    for limit in [1, 7, 100] {
        assert_eq!(all(&log, &named("ann"), limit).await, own, "limit {limit}");
    }
    assert_eq!(all(&log, &operator(), 100).await.len(), 1200);
    assert_eq!(all(&log, &named("eve"), 100).await, Vec::<u64>::new());
    assert_eq!(all(&Lines::new(Vec::new(), 1), &operator(), 1).await, Vec::<u64>::new());
}

#[tokio::test]
async fn a_request_reads_a_part_of_a_large_log() {
    let size = 64 << 10;
    let mut entries = vec![event("bob", 1); 1000];
    entries.push(event("ann", 2));
    let log = Lines::new(entries, size);
    let (items, next) = get(&log, &named("ann"), "limit=1").await;
    assert!(items.is_empty() && next.is_some(), "the search goes on with the next request");
    assert_eq!(*log.read.lock().unwrap() * size, MAX_SCAN);
    assert_eq!(all(&log, &named("ann"), 1).await, [1001]);
}

#[test]
fn forged_cursors_are_positions_or_refused() {
    let read = |cursor: &str| {
        let text = data_encoding::BASE64URL_NOPAD.encode(cursor.as_bytes());
        let query = Query::parse(Some(&format!("cursor={text}")), &["limit", "cursor"]).unwrap();
        PageRequest::<AuditPosition>::read(&query)
    };
    assert!(read(r#"{"file":1,"offset":18446744073709551615}"#).is_ok());
    for wrong in [r#"{"file":-1,"offset":0}"#, r#"{"file":1}"#, r#"{"file":1,"offset":0,"caller":"ann"}"#, "1", " "] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}
