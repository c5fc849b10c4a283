//! Full stores, full queues, and what does not fail with them.

use super::{Gate, create, entry, open, wait};
use crate::content::Content;
use crate::error::StoreError;
use crate::run::{NewRun, Prune, Status};
use crate::sqlite::turn::Turn;
use crate::sqlite::{Settings, SqliteStore};
use crate::store::Store;
use crate::suite::LEASE;
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn is_full(outcome: &Result<(), StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Full(_)))
}

fn is_queue_full(outcome: &Result<(), StoreError>) -> bool {
    matches!(outcome, Err(StoreError::QueueFull(_)))
}

#[test]
fn a_full_store_ends_runs_and_goes_on_after_a_prune() {
    let outer = tempfile::tempdir().unwrap();
    let settings = Settings { max_bytes: 1 << 20, ..Settings::default() };
    let store = SqliteStore::open(&outer.path().join("journal"), settings).unwrap();
    let ended = create(&store, "run_ended");
    store.append(&ended, 0, vec![entry(300_000)]).wait().unwrap();
    let claim = create(&store, "run_1");
    let mut seq = 0;
    let full = loop {
        let outcome = store.append(&claim, seq, vec![entry(50_000)]).wait();
        if outcome.is_err() {
            break outcome;
        }
        seq += 1;
    };
    assert!(is_full(&full) && seq > 5, "{seq}: {full:?}");
    assert!(full.unwrap_err().to_string().contains("limit of 1048576 bytes: prune"));
    assert!(is_full(&store.append(&claim, seq, vec![entry(1)]).wait()), "the claim is void");
    let (_, created) = store.create(super::new("run_2"), store.owner(), vec![entry(50_000)]);
    assert!(is_full(&created.wait()));
    let content = Content::new(vec![0_u8; 50_000]);
    let run = NewRun { content: vec![content.clone()], ..super::new("run_3") };
    assert!(is_full(&store.create(run, store.owner(), vec![]).1.wait()));
    assert_eq!((wait(store.run("run_3")), wait(store.has_blob(content.hash()))), (Ok(None), Ok(false)));

    store.release(&claim).wait().unwrap();
    let claim = wait(store.claim("run_1", store.owner(), LEASE)).unwrap();
    assert_eq!(claim.next_seq, seq);
    let ended = {
        store.release(&ended).wait().unwrap();
        wait(store.claim("run_ended", store.owner(), LEASE)).unwrap()
    };
    store.finish(&ended, 1, vec![entry(100)], Status::Failed, "{}".to_owned()).wait().unwrap();
    let policy = Prune { older_than: None, max_bytes: Some(1 << 19), now_ms: 0 };
    assert_eq!(wait(store.prune(policy)).unwrap().runs, 1);
    store.append(&claim, seq, vec![entry(50_000)]).wait().unwrap();
}

#[test]
fn a_write_that_does_not_fit_the_disk_fails_alone_and_whole() {
    let outer = tempfile::tempdir().unwrap();
    let gate = Arc::new(Gate::default());
    let settings = gate.settings(Settings { max_bytes: 1 << 20, ..Settings::default() });
    let store = SqliteStore::open(&outer.path().join("journal"), settings).unwrap();
    let [small, large, last] = ["run_small", "run_large", "run_last"].map(|id| create(&store, id));
    let closed = gate.close(&store);
    let tickets = [
        store.append(&small, 0, vec![entry(10)]),
        // The limit of the store lets it pass; SQLite's does not, after some of its entries.
        store.finish(&large, 0, vec![entry(500_000), entry(3 << 20)], Status::Finished, "{}".to_owned()),
        store.append(&large, 2, vec![entry(1)]),
        store.append(&last, 0, vec![entry(10)]),
    ];
    drop(closed);
    let outcomes = tickets.map(|ticket| ticket.wait());
    assert_eq!((&outcomes[0], &outcomes[3]), (&Ok(()), &Ok(())));
    assert!(is_full(&outcomes[1]) && is_full(&outcomes[2]), "{outcomes:?}");
    let run = wait(store.run("run_large")).unwrap().unwrap();
    assert_eq!((run.status, run.next_seq, run.bytes), (Status::Running, 0, 0));
    assert_eq!(wait(store.read("run_large", 0, 10)), Ok(vec![]));
    store.release(&large).wait().unwrap();
    let large = wait(store.claim("run_large", store.owner(), LEASE)).unwrap();
    store.finish(&large, 0, vec![], Status::Failed, "{}".to_owned()).wait().unwrap();
}

#[test]
fn a_full_queue_refuses_writes_but_not_ends() {
    let outer = tempfile::tempdir().unwrap();
    let gate = Arc::new(Gate::default());
    let settings = gate.settings(Settings { max_queued: 20_000, ..Settings::default() });
    let store = SqliteStore::open(&outer.path().join("journal"), settings).unwrap();
    let [full, other, _living] = ["run_1", "run_2", "run_3"].map(|id| create(&store, id));
    let closed = gate.close(&store);
    let fits = store.append(&full, 0, vec![entry(15_000)]);
    assert!(is_queue_full(&store.append(&full, 1, vec![entry(15_000)]).wait()), "at once");
    let later = store.append(&full, 1, vec![entry(1)]);
    let (unborn, created) = store.create(super::new("run_3"), store.owner(), vec![entry(15_000)]);
    assert!(is_queue_full(&created.wait()), "at once");
    let ends = store.finish(&other, 0, vec![entry(15_000)], Status::Finished, "{}".to_owned());
    drop(closed);
    assert_eq!(ends.wait(), Ok(()));
    assert_eq!(fits.wait(), Ok(()), "it was queued before the claim was void");
    assert!(is_queue_full(&later.wait()), "it would leave a hole, or hide the loss");
    assert!(is_queue_full(&store.release(&unborn).wait()), "the run with this id is another one");
    assert_eq!(wait(store.run("run_3")).unwrap().unwrap().status, Status::Running);
    store.flush().wait().unwrap();
    assert_eq!(store.shared.queued.load(Ordering::SeqCst), 0);
    store.release(&full).wait().unwrap();
    let claim = wait(store.claim("run_1", store.owner(), LEASE)).unwrap();
    assert_eq!(claim.next_seq, 1);
    store.append(&claim, 1, vec![entry(15_000)]).wait().unwrap();
}

#[test]
fn queued_writes_share_a_commit() {
    let outer = tempfile::tempdir().unwrap();
    let gate = Arc::new(Gate::default());
    let settings = gate.settings(Settings::default());
    let store = SqliteStore::open(&outer.path().join("journal"), settings).unwrap();
    let claims = ["run_1", "run_2", "run_3"].map(|id| create(&store, id));
    let closed = gate.close(&store);
    let before = gate.commits.load(Ordering::SeqCst);
    let mut tickets = Vec::new();
    for seq in 0..100 {
        tickets.extend(claims.iter().map(|claim| store.append(claim, seq, vec![entry(10)])));
    }
    drop(closed);
    assert!(tickets.into_iter().all(|ticket| ticket.wait().is_ok()));
    store.flush().wait().unwrap();
    let commits = gate.commits.load(Ordering::SeqCst) - before;
    assert_eq!(commits, 3, "of what was held up, of the appends, of the flush");
}

#[test]
fn other_processes_are_waited_for_but_not_forever() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("journal");
    let settings = Settings { busy_timeout: std::time::Duration::from_millis(30), ..Settings::default() };
    let store = SqliteStore::open(&folder, settings).unwrap();
    let claim = create(&store, "run_1");
    let other = rusqlite::Connection::open(folder.join("journal.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(store.append(&claim, 0, vec![entry(1)]).wait(), Err(StoreError::Busy));
    assert_eq!(wait(store.read("run_1", 0, 10)), Ok(vec![]), "reads go on");
    other.execute_batch("COMMIT").unwrap();
    store.release(&claim).wait().unwrap();
    let claim = wait(store.claim("run_1", store.owner(), LEASE)).unwrap();
    assert_eq!(claim.next_seq, 0);
    store.append(&claim, 0, vec![entry(1)]).wait().unwrap();
    drop(store);
    assert_eq!(wait(open(&folder).read("run_1", 0, 10)).unwrap().len(), 1);
}

#[test]
fn a_writer_waits_for_the_one_that_has_its_turn() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("journal");
    let settings = Settings { busy_timeout: std::time::Duration::from_millis(30), ..Settings::default() };
    let store = SqliteStore::open(&folder, settings).unwrap();
    let claim = create(&store, "run_1");
    let turn = Turn::open(&folder, std::time::Duration::ZERO).unwrap();
    let taken = turn.take().unwrap();
    assert_eq!(store.append(&claim, 0, vec![entry(1)]).wait(), Err(StoreError::Busy));
    drop(taken);
    store.release(&claim).wait().unwrap();
    drop(turn.take().expect("it is returned when the transaction has begun"));
}
