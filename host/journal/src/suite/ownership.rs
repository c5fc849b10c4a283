//! Claims and leases.

use super::{Fixture, LEASE, START, entry, fenced, new};
use crate::claim::{ClaimError, Refused};
use crate::error::StoreError;
use crate::run::{NewRun, Signalled, Status, Summary, Wake};
use std::sync::atomic::Ordering;
use std::time::Duration;

const MOMENT: Duration = Duration::from_millis(1);

/// Neither others nor the owner itself claim it before.
pub async fn an_owned_run_is_free_when_its_lease_expires(fixture: &Fixture) {
    let claim = fixture.create("run_1").await;
    fixture.pass(LEASE - MOMENT);
    let owned = Refused::Owned { owner: fixture.store.owner().to_string(), lease_until: START + 60_000 };
    for store in [&fixture.store, &fixture.other] {
        let refused = store.claim("run_1", store.owner(), LEASE).await.unwrap_err();
        assert_eq!(refused, ClaimError::Refused(owned.clone()));
        assert_eq!(store.due(fixture.now(), 10).await.unwrap(), [""; 0]);
    }
    fixture.store.append(&claim, 1, vec![entry("1")]).await.unwrap();
    fixture.pass(MOMENT);
    assert_eq!(fixture.store.due(fixture.now(), 10).await.unwrap(), ["run_1"]);
    fixture.store.append(&claim, 2, vec![entry("2")]).await.expect("it is the owner until somebody else is");
    let next = fixture.other.claim("run_1", fixture.other.owner(), LEASE).await.unwrap();
    assert_eq!((next.epoch, next.next_seq, &*next.run), (2, 3, "run_1"));
    assert_eq!(fixture.store.append(&claim, 3, vec![entry("3")]).await, fenced(&claim));
    fixture.other.append(&next, 3, vec![entry("three")]).await.unwrap();
    assert_eq!(fixture.bodies("run_1").await, ["0", "1", "2", "three"]);
}

/// Counted from the renewal.
pub async fn a_renewed_lease_lasts(fixture: &Fixture) {
    let claim = fixture.create("run_1").await;
    fixture.pass(LEASE - MOMENT);
    let until = fixture.store.renew(&claim, LEASE).await.unwrap();
    assert!(until >= claim.lease_until);
    fixture.pass(LEASE - MOMENT);
    assert!(fixture.other.claim("run_1", fixture.other.owner(), LEASE).await.is_err());
    fixture.pass(MOMENT);
    fixture.other.claim("run_1", fixture.other.owner(), LEASE).await.unwrap();
}

/// An hour back: the lease is an hour longer.
pub async fn a_clock_that_goes_back_only_delays(fixture: &Fixture) {
    let claim = fixture.create("run_1").await;
    fixture.now.fetch_sub(3_600_000, Ordering::SeqCst);
    fixture.store.append(&claim, 1, vec![entry("1")]).await.unwrap();
    fixture.pass(LEASE);
    assert!(fixture.other.claim("run_1", fixture.other.owner(), LEASE).await.is_err());
    fixture.pass(Duration::from_secs(3600));
    fixture.other.claim("run_1", fixture.other.owner(), LEASE).await.unwrap();
    assert_eq!(fixture.store.append(&claim, 2, vec![entry("2")]).await, fenced(&claim));
}

/// Each end.
pub async fn an_ended_or_unknown_run_is_not_claimed(fixture: &Fixture) {
    for status in [Status::Finished, Status::Failed, Status::Cancelled] {
        let id = format!("run_{status}");
        fixture.end(&id, status).await;
        fixture.pass(LEASE * 2);
        let refused = fixture.store.claim(&id, fixture.store.owner(), LEASE).await.unwrap_err();
        assert_eq!(refused, ClaimError::Refused(Refused::Finished { status }));
        let run = fixture.run(&id).await;
        assert_eq!((run.status, run.owner, run.outcome.as_deref()), (status, None, Some("{}")));
    }
    let refused = fixture.store.claim("run_x", fixture.store.owner(), LEASE).await.unwrap_err();
    assert_eq!(refused, ClaimError::Refused(Refused::Unknown));
    assert_eq!(fixture.store.due(i64::MAX, 10).await.unwrap(), [""; 0]);
}

/// Released, parked, finished.
pub async fn a_claim_that_was_given_up_writes_nothing(fixture: &Fixture) {
    let store = &fixture.store;
    for id in ["run_released", "run_parked", "run_finished"] {
        let claim = fixture.create(id).await;
        let given_up = match id {
            "run_released" => store.release(&claim),
            "run_parked" => store.park(&claim, 1, vec![], Wake::default()),
            _ => store.finish(&claim, 1, vec![], Status::Finished, "{}".to_owned()),
        };
        // Without waiting, so that both are in one batch.
        let late = store.append(&claim, 1, vec![entry("late")]);
        assert_eq!((given_up.await, late.await), (Ok(()), fenced(&claim)));
        assert_eq!(fixture.bodies(id).await, ["0"]);
        assert_eq!(fixture.run(id).await.owner, None);
    }
    let claim = fixture.other.claim("run_released", fixture.other.owner(), LEASE).await.unwrap();
    assert_eq!(claim.epoch, 2);
}

/// `finish` with another status.
pub async fn only_an_end_ends_a_run(fixture: &Fixture) {
    for status in Status::ALL {
        let id = format!("run_{status}");
        let claim = fixture.create(&id).await;
        let ended = fixture.store.finish(&claim, 1, vec![entry("1")], status, "{}".to_owned()).await;
        match status.is_ended() {
            true => assert_eq!(ended, Ok(())),
            false => assert!(matches!(ended, Err(StoreError::Invalid(_))), "{ended:?}"),
        }
        assert_eq!(fixture.bodies(&id).await.len(), if status.is_ended() { 2 } else { 1 });
    }
}

/// Though a claim and a signal are by nobody's claim, and others have writes queued.
pub async fn a_claim_follows_queued_writes_and_knows_the_caller(fixture: &Fixture) {
    let store = &fixture.store;
    let of = |id: &str, caller: &str| {
        let summary = Summary { caller: caller.to_owned(), ..Summary::default() };
        store.create(NewRun { summary, ..new(id) }, store.owner(), vec![])
    };
    for number in 0..20 {
        let (id, caller) = (format!("run_{number}"), format!("caller_{}", number % 3));
        let (claim, _) = of(&id, &caller);
        let signalled = store.signal(&id, "key");
        drop(store.append(&claim, 0, vec![entry("0")]));
        drop(store.release(&claim));
        let next = store.claim(&id, store.owner(), LEASE);
        assert_eq!(signalled.await, Ok(Signalled::Noted));
        let next = next.await.unwrap();
        assert_eq!((next.epoch, next.next_seq), (2, 1));
        assert_eq!((&*claim.caller, &*next.caller), (caller.as_str(), caller.as_str()));
    }
}
