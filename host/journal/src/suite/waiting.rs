//! Parking, signals, requests to cancel, runs that are due.

use super::{Fixture, LEASE, entry};
use crate::claim::{ClaimError, Refused};
use crate::error::StoreError;
use crate::run::{Signalled, Status, Wake};
use std::time::Duration;

fn keys(keys: &[&str]) -> Wake {
    Wake { at_ms: None, keys: keys.iter().map(|&key| key.to_owned()).collect() }
}

/// Not before, and without a signal.
pub async fn a_parked_run_wakes_at_its_time(fixture: &Fixture) {
    let claim = fixture.create("run_1").await;
    let wake = Wake { at_ms: Some(fixture.now() + 1000), keys: vec!["k".to_owned()] };
    fixture.store.park(&claim, 1, vec![entry("1")], wake).await.unwrap();
    let run = fixture.run("run_1").await;
    assert_eq!((run.status, run.wake_at, run.owner), (Status::Parked, Some(fixture.now() + 1000), None));
    fixture.pass(Duration::from_millis(999));
    let refused = fixture.store.claim("run_1", fixture.store.owner(), LEASE).await.unwrap_err();
    let parked = Refused::Parked { wake_at: run.wake_at, waits_for: vec!["k".to_owned()] };
    assert_eq!(refused, ClaimError::Refused(parked));
    assert_eq!(fixture.store.due(fixture.now(), 10).await.unwrap(), [""; 0]);
    fixture.pass(Duration::from_millis(1));
    assert_eq!(fixture.store.due(fixture.now(), 10).await.unwrap(), ["run_1"]);
    let claim = fixture.other.claim("run_1", fixture.other.owner(), LEASE).await.unwrap();
    assert_eq!((claim.epoch, claim.next_seq), (2, 2));
    let run = fixture.run("run_1").await;
    assert_eq!((run.status, run.wake_at, run.waits_for), (Status::Running, None, vec![]));
}

/// Any of them, by any process.
pub async fn a_parked_run_wakes_by_one_of_its_keys(fixture: &Fixture) {
    let claim = fixture.create("run_1").await;
    fixture.store.park(&claim, 1, vec![], keys(&["a", "b"])).await.unwrap();
    assert_eq!(fixture.run("run_1").await.waits_for, ["a", "b"]);
    assert_eq!(fixture.other.signal("run_1", "c").await, Ok(Signalled::Noted));
    assert_eq!(fixture.run("run_1").await.status, Status::Parked);
    assert_eq!(fixture.other.signal("run_1", "b").await, Ok(Signalled::Woken));
    assert_eq!(fixture.run("run_1").await.status, Status::Ready);
    assert_eq!(fixture.other.signal("run_1", "a").await, Ok(Signalled::Noted));
    fixture.store.claim("run_1", fixture.store.owner(), LEASE).await.unwrap();
    let unknown = StoreError::Unknown { run: "run_2".to_owned() };
    assert_eq!(fixture.store.signal("run_2", "a").await, Err(unknown));
    fixture.end("run_3", Status::Failed).await;
    assert_eq!(fixture.store.signal("run_3", "a").await, Ok(Signalled::Ended));
    assert!(matches!(fixture.store.signal("run_1", "").await, Err(StoreError::Invalid(_))));
}

/// The owner is about to park when the event happens.
pub async fn a_signal_before_parking_is_not_lost(fixture: &Fixture) {
    let claim = fixture.create("run_1").await;
    assert_eq!(fixture.other.signal("run_1", "answer:7").await, Ok(Signalled::Noted));
    assert_eq!(fixture.other.signal("run_1", "answer:7").await, Ok(Signalled::Noted));
    fixture.store.park(&claim, 1, vec![entry("1")], keys(&["answer:6", "answer:7"])).await.unwrap();
    assert_eq!(fixture.run("run_1").await.status, Status::Ready);
    assert_eq!(fixture.bodies("run_1").await, ["0", "1"]);
    let claim = fixture.store.claim("run_1", fixture.store.owner(), LEASE).await.unwrap();
    fixture.store.park(&claim, 2, vec![], keys(&["answer:8"])).await.unwrap();
    assert_eq!(fixture.run("run_1").await.status, Status::Parked, "only what was signalled");
}

/// While parked, while running, when ended.
pub async fn a_request_to_cancel_wakes_and_stays(fixture: &Fixture) {
    let claim = fixture.create("run_1").await;
    fixture.store.park(&claim, 1, vec![], keys(&["a"])).await.unwrap();
    assert_eq!(fixture.other.request_cancel("run_1").await, Ok(Signalled::Woken));
    let run = fixture.run("run_1").await;
    assert_eq!((run.status, run.cancel_requested), (Status::Ready, true));

    let claim = fixture.create("run_2").await;
    assert!(!fixture.run("run_2").await.cancel_requested);
    assert_eq!(fixture.other.request_cancel("run_2").await, Ok(Signalled::Noted));
    assert!(fixture.run("run_2").await.cancel_requested);
    fixture.store.park(&claim, 1, vec![], keys(&["a"])).await.unwrap();
    assert_eq!(fixture.run("run_2").await.status, Status::Ready, "nobody would end it");
    let claim = fixture.store.claim("run_2", fixture.store.owner(), LEASE).await.unwrap();
    fixture.store.finish(&claim, 1, vec![], Status::Cancelled, "{}".to_owned()).await.unwrap();
    assert_eq!(fixture.other.request_cancel("run_2").await, Ok(Signalled::Ended));
    let unknown = StoreError::Unknown { run: "run_3".to_owned() };
    assert_eq!(fixture.store.request_cancel("run_3").await, Err(unknown));
}

/// Ready ones, sleepers and those of lost owners in one list.
pub async fn due_runs_come_in_the_order_of_their_wait(fixture: &Fixture) {
    let second = Duration::from_secs(1);
    let sleeper = fixture.create("run_sleeper").await;
    let wake = Wake { at_ms: Some(fixture.now() + 1500), keys: vec![] };
    fixture.store.park(&sleeper, 1, vec![], wake).await.unwrap();
    let first = fixture.create("run_first").await;
    let last = fixture.create("run_last").await;
    fixture.pass(second);
    fixture.store.release(&first).await.unwrap();
    fixture.pass(second);
    fixture.store.release(&last).await.unwrap();
    fixture.create("run_owned").await;
    let due = fixture.store.due(fixture.now(), 10).await.unwrap();
    assert_eq!(due, ["run_first", "run_sleeper", "run_last"]);
    assert_eq!(fixture.other.due(fixture.now(), 2).await.unwrap(), ["run_first", "run_sleeper"]);
    let due = fixture.store.due(fixture.now() + 60_000, 10).await.unwrap();
    assert_eq!(due.len(), 4, "with the one whose lease expired: {due:?}");
}
