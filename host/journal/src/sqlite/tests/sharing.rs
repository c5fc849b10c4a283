//! Several handles of one store: dead owners, races for a run.

use super::{create, entry, open, wait};
use crate::claim::{ClaimError, Owner, Refused};
use crate::error::StoreError;
use crate::store::Store;
use crate::suite::LEASE;
use std::sync::{Arc, Barrier};
use std::time::Duration;

#[test]
fn a_dead_owner_is_known_before_its_lease_expires() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("journal");
    let (first, second) = (open(&folder), open(&folder));
    let claim = create(&first, "run_1");
    let owned = wait(second.claim("run_1", second.owner(), LEASE)).unwrap_err();
    assert!(matches!(owned, ClaimError::Refused(Refused::Owned { .. })), "{owned:?}");
    assert_eq!(wait(second.due(0, 10)).unwrap(), [""; 0]);
    drop(first);
    assert_eq!(wait(second.due(0, 10)).unwrap(), ["run_1"]);
    let next = wait(second.claim("run_1", second.owner(), LEASE)).unwrap();
    assert_eq!(next.epoch, claim.epoch + 1);
    assert_eq!(wait(second.due(0, 10)).unwrap(), [""; 0]);
    let nobody = Owner { id: "nobody".into() };
    second.release(&next).wait().unwrap();
    wait(second.claim("run_1", &nobody, LEASE)).unwrap();
    assert_eq!(wait(second.due(0, 10)).unwrap(), ["run_1"]);
}

#[test]
fn one_of_many_claims_a_run() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("journal");
    let stores = [Arc::new(open(&folder)), Arc::new(open(&folder))];
    for round in 0..5 {
        let id = format!("run_{round}");
        let claim = create(&stores[0], &id);
        stores[0].release(&claim).wait().unwrap();
        let start = Arc::new(Barrier::new(8));
        let claimants = (0..8).map(|number| {
            let (store, start, id) = (Arc::clone(&stores[number % 2]), Arc::clone(&start), id.clone());
            std::thread::spawn(move || {
                start.wait();
                wait(store.claim(&id, store.owner(), LEASE)).is_ok()
            })
        });
        let claimants: Vec<_> = claimants.collect();
        let won = claimants.into_iter().map(|claimant| claimant.join().unwrap()).filter(|won| *won).count();
        assert_eq!(won, 1);
        assert_eq!(wait(stores[1].run(&id)).unwrap().unwrap().epoch, 2);
    }
}

#[test]
fn a_closed_store_tells_those_who_wait() {
    let outer = tempfile::tempdir().unwrap();
    let store = open(&outer.path().join("journal"));
    let claim = create(&store, "run_1");
    let seen = wait(store.changed(0));
    let (changed, read) = (store.changed(seen), store.read("run_1", 0, 10));
    let written = store.append(&claim, 0, vec![entry(1)]);
    drop(store);
    assert_eq!(written.wait(), Ok(()), "it was queued");
    assert_ne!(wait(changed), seen, "the append");
    assert!(matches!(wait(read), Ok(entries) if entries.len() < 2));
}

#[test]
fn waiting_for_changes_ends_with_the_store() {
    let outer = tempfile::tempdir().unwrap();
    let store = open(&outer.path().join("journal"));
    let seen = wait(store.changed(0));
    let changed = store.changed(seen);
    drop(store);
    let ended = wait(async { tokio::time::timeout(Duration::from_secs(20), changed).await });
    assert_eq!(ended, Ok(seen));
}

#[test]
fn a_ticket_of_a_writer_that_ended_fails() {
    let (completion, ticket) = crate::ticket::Ticket::pair();
    drop(completion);
    assert_eq!(ticket.wait(), Err(StoreError::closed()));
}
