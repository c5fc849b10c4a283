//! Approvals.

use super::{Fixture, LEASE, START, entry, fenced};
use crate::approval::{Approval, ApprovalFilter, ApprovalRow, Decided};
use crate::error::StoreError;
use crate::run::{Status, Wake};
use std::sync::Arc;

fn approval(id: &str) -> Approval {
    Approval { id: id.to_owned(), call: 7, request: r#"{"function":"pay"}"#.to_owned() }
}

fn wait_for(id: &str) -> Wake {
    Wake { at_ms: None, keys: vec![Approval::key(id)] }
}

async fn ids(fixture: &Fixture, filter: ApprovalFilter) -> Vec<String> {
    fixture.other.approvals(filter).await.unwrap().into_iter().map(|approval| approval.id).collect()
}

/// Of two people, and the run wakes.
pub async fn the_first_decision_stands(fixture: &Fixture) {
    let claim = fixture.create("run_1").await;
    drop(fixture.store.request_approval(&claim, 1, vec![], approval("apr_1")));
    fixture.store.park(&claim, 1, vec![entry("1")], wait_for("apr_1")).await.unwrap();
    assert_eq!(ids(fixture, ApprovalFilter::default()).await, ["apr_1"]);
    assert_eq!(fixture.other.decide("apr_1", "yes").await, Ok(Decided::Recorded));
    assert_eq!(fixture.run("run_1").await.status, Status::Ready);
    let already = Decided::Already { decision: "yes".to_owned() };
    assert_eq!(fixture.store.decide("apr_1", "no").await, Ok(already));
    assert_eq!(fixture.store.decide("apr_2", "no").await, Ok(Decided::Unknown));
    let expected = ApprovalRow {
        id: "apr_1".to_owned(),
        run: "run_1".to_owned(),
        call: 7,
        request: approval("apr_1").request,
        decision: Some("yes".to_owned()),
        created: START,
        decided_at: Some(START),
    };
    assert_eq!(fixture.store.approval("apr_1").await, Ok(Some(expected)));
    assert_eq!(fixture.store.approval("apr_2").await, Ok(None));
    assert_eq!(ids(fixture, ApprovalFilter::default()).await, [""; 0]);
    let all = ApprovalFilter { pending: false, ..ApprovalFilter::default() };
    assert_eq!(ids(fixture, all.clone()).await, ["apr_1"]);
    assert_eq!(ids(fixture, ApprovalFilter { run: Some("run_2".to_owned()), ..all.clone() }).await, [""; 0]);
    assert_eq!(ids(fixture, ApprovalFilter { run: Some("run_1".to_owned()), ..all }).await, ["apr_1"]);
}

/// Somebody decides before the owner has parked.
pub async fn a_decision_before_parking_leaves_the_run_ready(fixture: &Fixture) {
    let claim = fixture.create("run_1").await;
    fixture.store.request_approval(&claim, 1, vec![], approval("apr_1")).await.unwrap();
    assert_eq!(fixture.other.decide("apr_1", "yes").await, Ok(Decided::Recorded));
    assert_eq!(fixture.run("run_1").await.status, Status::Running);
    fixture.store.park(&claim, 1, vec![], wait_for("apr_1")).await.unwrap();
    assert_eq!(fixture.run("run_1").await.status, Status::Ready);
    fixture.store.claim("run_1", fixture.store.owner(), LEASE).await.unwrap();
}

/// Without waiting for the request.
pub async fn a_decision_follows_its_queued_request(fixture: &Fixture) {
    let store = &fixture.store;
    let claim = fixture.create("run_1").await;
    for number in 1..20_u64 {
        let id = format!("apr_{number}");
        let requested = store.request_approval(&claim, number, vec![entry("asks")], approval(&id));
        let (first, second) = (store.decide(&id, "yes"), store.decide(&id, "no"));
        assert_eq!((requested.await, first.await), (Ok(()), Ok(Decided::Recorded)));
        assert_eq!(second.await, Ok(Decided::Already { decision: "yes".to_owned() }));
    }
}

/// The run ended meanwhile.
pub async fn a_late_decision_is_not_recorded(fixture: &Fixture) {
    let claim = fixture.create("run_1").await;
    fixture.store.request_approval(&claim, 1, vec![], approval("apr_1")).await.unwrap();
    fixture.store.finish(&claim, 1, vec![], Status::Cancelled, "{}".to_owned()).await.unwrap();
    assert_eq!(ids(fixture, ApprovalFilter::default()).await, [""; 0]);
    assert_eq!(fixture.other.decide("apr_1", "yes").await, Ok(Decided::Ended));
    assert_eq!(fixture.store.approval("apr_1").await.unwrap().unwrap().decision, None);
}

/// A run that is replayed asks again.
pub async fn a_repeated_request_is_the_same_or_refused(fixture: &Fixture) {
    let claim = fixture.create("run_1").await;
    fixture.store.request_approval(&claim, 1, vec![], approval("apr_1")).await.unwrap();
    fixture.other.decide("apr_1", "yes").await.unwrap();
    fixture.store.request_approval(&claim, 1, vec![], approval("apr_1")).await.unwrap();
    assert!(fixture.store.approval("apr_1").await.unwrap().unwrap().decision.is_some());
    let other = Approval { request: r#"{"function":"delete"}"#.to_owned(), ..approval("apr_1") };
    let exists = StoreError::Exists { id: "apr_1".to_owned() };
    assert_eq!(fixture.store.request_approval(&claim, 1, vec![], other).await, Err(exists));
    let stranger = fixture.create("run_2").await;
    assert!(fixture.store.request_approval(&stranger, 1, vec![], approval("apr_1")).await.is_err());
    let claim = fixture.create("run_3").await;
    fixture.store.release(&claim).await.unwrap();
    let refused = fixture.store.request_approval(&claim, 1, vec![], approval("apr_3")).await;
    assert!(matches!(refused, Err(StoreError::Fenced { .. })));
    assert_eq!(fixture.store.approval("apr_3").await, Ok(None));
}

/// The number is not the next, the id is taken, or it was asked before.
pub async fn a_request_is_stored_with_its_entries_or_not_at_all(fixture: &Fixture) {
    let store = &fixture.store;
    let first = fixture.create("run_1").await;
    store.request_approval(&first, 1, vec![entry("asks"), entry("1")], approval("apr_1")).await.unwrap();
    assert_eq!(fixture.bodies("run_1").await, ["0", "asks", "1"]);
    assert_eq!(fixture.run("run_1").await.next_seq, 3);
    store.request_approval(&first, 3, vec![entry("asks again")], approval("apr_1")).await.unwrap();
    assert_eq!(ids(fixture, ApprovalFilter::default()).await, ["apr_1"]);
    let wrong = store.request_approval(&first, 3, vec![entry("wrong")], approval("apr_2"));
    let after = store.append(&first, 4, vec![entry("after")]);
    assert_eq!((wrong.await, after.await), (fenced(&first), fenced(&first)));
    assert_eq!(fixture.bodies("run_1").await, ["0", "asks", "1", "asks again"]);

    let second = fixture.create("run_2").await;
    let exists = StoreError::Exists { id: "apr_1".to_owned() };
    assert_eq!(store.request_approval(&second, 1, vec![entry("asks")], approval("apr_1")).await, Err(exists));
    assert_eq!(fixture.bodies("run_2").await, ["0"]);
    assert_eq!(ids(fixture, ApprovalFilter::default()).await, ["apr_1"]);
}

/// In another process that looks all the time.
pub async fn whoever_reads_of_a_request_finds_it(fixture: &Fixture) {
    let claim = fixture.create("run_1").await;
    for number in 1..30_u64 {
        let id = format!("apr_{number}");
        let (other, name) = (Arc::clone(&fixture.other), id.clone());
        let found = tokio::spawn(async move {
            while other.read("run_1", number, 1).await.unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
            other.approval(&name).await.unwrap().is_some()
        });
        tokio::task::yield_now().await;
        fixture.store.request_approval(&claim, number, vec![entry("asks")], approval(&id)).await.unwrap();
        assert!(found.await.unwrap(), "{id} was read of before it was there");
    }
}
