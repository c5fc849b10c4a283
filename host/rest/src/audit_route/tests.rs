//! Tests of the filter, and of the limits of one request.

use super::export::Export;
use super::{AuditEntry, MAX_SCAN, PARAMETERS, Search, is_shown, page};
use crate::audit::{
    Action, ApiAction, AuditFault, AuditLimits, AuditLine, AuditLines, AuditLog, AuditPosition, AuditVerification,
    Auditing, Subject,
};
use crate::pages::PageRequest;
use crate::query::Query;
use crate::who::Who;
use agent_spaces_http_server::Client;
use agent_spaces_types::caller::Caller;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

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
        let rest = (first..self.entries.len() as u64).take(self.most(limits)).collect();
        let lines = self.lines(rest);
        let next = first + lines.len() as u64;
        self.answer(lines, next, next == self.entries.len() as u64)
    }

    fn read_newest(&self, before: Option<AuditPosition>, limits: AuditLimits) -> Auditing<'_, AuditLines> {
        let end = before.map_or(self.entries.len() as u64, |before| before.offset);
        let rest = (0..end).rev().take(self.most(limits)).collect();
        let lines = self.lines(rest);
        let next = end - lines.len() as u64;
        self.answer(lines, next, next == 0)
    }

    fn verify(&self) -> Auditing<'_, Option<AuditVerification>> {
        Box::pin(async { Ok(None) })
    }
}

impl Lines {
    /// Most lines of one read.
    fn most(&self, limits: AuditLimits) -> usize {
        usize::try_from(limits.bytes.div_ceil(self.bytes)).unwrap().min(limits.entries)
    }

    /// The lines with these numbers, from zero.
    fn lines(&self, numbers: Vec<u64>) -> Vec<AuditLine> {
        let at = |offset| AuditPosition { file: 1, offset };
        let line = |number: u64| AuditLine {
            seq: number + 1,
            time: "2026-01-31T12:00:00Z".to_owned(),
            entry: self.entries[number as usize].clone(),
            before: at(number),
            after: at(number + 1),
        };
        numbers.into_iter().map(line).collect()
    }

    fn answer(&self, lines: Vec<AuditLine>, next: u64, is_end: bool) -> Auditing<'_, AuditLines> {
        let count = lines.len() as u64;
        *self.read.lock().unwrap() += count;
        let next = AuditPosition { file: 1, offset: next };
        let scanned = count * self.bytes;
        Box::pin(async move { Ok(AuditLines { lines, next, is_end, scanned }) })
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
    let query = Query::parse(Some(query), &[&PARAMETERS[..], &["limit", "cursor"]].concat()).unwrap();
    let (request, search) = (PageRequest::read(&query).unwrap(), Search::read(&query).unwrap());
    let page = page(log, who, &search, &request).await.unwrap();
    (page.items, page.next)
}

/// Returns the numbers of all entries, page by page.
async fn all(log: &Lines, who: &Who, limit: usize) -> Vec<u64> {
    found(log, who, limit, "").await
}

/// The same for those that a query finds.
async fn found(log: &Lines, who: &Who, limit: usize, query: &str) -> Vec<u64> {
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let (items, next) = get(log, who, &format!("limit={limit}{query}{cursor}")).await;
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

#[tokio::test]
async fn entries_are_searched_in_both_orders() {
    let entries = (1..=1200).map(|number| event(if number % 3 == 0 { "ann" } else { "bob" }, number)).collect();
    let log = Lines::new(entries, 100);
    let mut own = all(&log, &named("ann"), 100).await;
    own.reverse();
    for limit in [1, 7, 100] {
        assert_eq!(found(&log, &named("ann"), limit, "&order=newest").await, own, "limit {limit}");
    }
    assert_eq!(found(&log, &operator(), 10, "&run=run_9&order=newest").await, [9]);
    assert_eq!(found(&log, &operator(), 100, "&caller=ann").await.len(), 400);
    assert_eq!(found(&log, &named("ann"), 10, "&caller=bob").await, Vec::<u64>::new(), "a filter shows nothing more");
    assert_eq!(found(&log, &named("ann"), 10, "&q=RUN_12%22").await, [12]);
    assert_eq!(found(&log, &operator(), 10, "&from=2026-02-01T00:00:00Z").await, Vec::<u64>::new());
}

#[tokio::test]
async fn an_export_has_all_own_entries_and_says_where_it_stopped() {
    let entries = (1..=1200).map(|number| event(if number % 3 == 0 { "ann" } else { "bob" }, number)).collect();
    let folder = tempfile::tempdir().unwrap();
    let service = crate::service::test_service(folder.path());
    let export = async |log: &Arc<Lines>, who: Who, after: Option<AuditPosition>| {
        let permit = service.0.callers.export_permit(who.owner()).unwrap();
        let started = Export::start(&service, log.clone(), who, Search::default(), after, permit).await.unwrap();
        let body = axum::body::to_bytes(started.response().into_body(), usize::MAX).await.unwrap();
        let lines = std::str::from_utf8(&body).unwrap().lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let log = Arc::new(Lines::new(entries, 100));
    let lines = export(&log, named("ann"), None).await;
    assert_eq!(lines.len(), 400);
    assert!(lines.iter().all(|line| line["entry"]["caller"] == "ann"), "{lines:?}");
    assert_eq!((&lines[0]["seq"], &lines[0]["time"]), (&json!(3), &json!("2026-01-31T12:00:00Z")));

    // Each line takes half of what one export reads.
    let large = Arc::new(Lines::new(vec![event("ann", 1); 3], 128 << 20));
    let mut lines = export(&large, named("ann"), None).await;
    let next = lines.pop().unwrap()["next"].as_str().unwrap().to_owned();
    assert_eq!(lines.len(), 2);
    let query = Query::parse(Some(&format!("cursor={next}")), &["limit", "cursor"]).unwrap();
    let after = PageRequest::read(&query).unwrap().after;
    let rest = export(&large, named("ann"), after).await;
    assert_eq!((rest.len(), &rest[0]["seq"]), (1, &json!(3)), "no `next` at the end of the log");
    service.drain();
    let stopped = export(&large, named("ann"), None).await;
    assert!(stopped.len() == 2 && stopped[1]["next"].is_string(), "{stopped:?}");
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
