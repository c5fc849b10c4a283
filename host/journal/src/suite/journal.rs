//! Entries: order, expected numbers, fencing.

use super::{Fixture, LEASE, entry, fenced, new, texts};
use crate::error::StoreError;
use crate::run::Status;
use std::sync::Arc;

/// Appends are stored in the order of the calls, and counted.
pub async fn entries_are_read_in_their_order(fixture: &Fixture) {
    let store = &fixture.store;
    let (claim, created) = store.create(new("run_1"), store.owner(), vec![entry("a"), entry("b")]);
    assert_eq!((claim.epoch, claim.next_seq), (1, 2));
    let appended = store.append(&claim, 2, vec![entry("c")]);
    drop(store.append(&claim, 3, vec![]));
    drop(store.append(&claim, 3, vec![entry("d"), entry("é")]));
    store.flush().await.unwrap();
    assert_eq!((created.await, appended.await), (Ok(()), Ok(())));
    assert_eq!(fixture.bodies("run_1").await, ["a", "b", "c", "d", "é"]);
    let page = store.read("run_1", 1, 2).await.unwrap();
    assert_eq!(page.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((page[0].kind.as_str(), page[0].at_ms), ("note", super::START));
    assert_eq!(store.read("run_2", 0, 10).await, Ok(vec![]));
    let run = fixture.run("run_1").await;
    assert_eq!((run.next_seq, run.bytes, run.epoch, run.status), (5, 5 * 4 + 6, 1, Status::Running));
    assert_eq!(run.owner.as_deref(), Some(&*store.owner().id));
    assert_eq!(
        (run.summary.script.as_str(), run.created, run.lease_until),
        ("a.ts", super::START, fixture.now() + 60_000)
    );
    assert_eq!(store.run("run_").await, Ok(None), "ids are whole");
}

/// A hole, a repetition, and what follows them.
pub async fn an_unexpected_number_writes_nothing_and_voids_the_claim(fixture: &Fixture) {
    for (id, number) in [("run_1", 0), ("run_2", 2), ("run_3", u64::from(u32::MAX))] {
        let claim = fixture.create(id).await;
        let wrong = fixture.store.append(&claim, number, vec![entry("wrong")]);
        let right = fixture.store.append(&claim.clone(), 1, vec![entry("right")]);
        assert_eq!((wrong.await, right.await), (fenced(&claim), fenced(&claim)));
        assert_eq!(claim.fault(), fenced(&claim).as_ref().err());
        assert_eq!(fixture.bodies(id).await, ["0"]);
        assert_eq!(fixture.run(id).await.next_seq, 1);
    }
}

/// Writes of an old owner, of its successor and of others, all in the queue at once.
pub async fn a_stale_epoch_writes_nothing_among_writes_of_others(fixture: &Fixture) {
    let store = &fixture.store;
    let old = fixture.create("run_1").await;
    let bystander = fixture.create("run_2").await;
    fixture.pass(LEASE);
    let latest = store.claim("run_1", fixture.other.owner(), LEASE).await.unwrap();
    assert_eq!((latest.epoch, latest.next_seq), (2, 1));
    let mut tickets = Vec::new();
    for number in 1..30 {
        // Each time a claim that has not failed yet.
        let (run, caller) = (Arc::clone(&old.run), Arc::clone(&old.caller));
        let stale = crate::claim::Claim::new(run, caller, 1, number, old.lease_until);
        tickets.push((store.append(&stale, number, vec![entry("stale")]), fenced(&old)));
        tickets.push((store.append(&bystander, number, vec![entry("b")]), Ok(())));
        tickets.push((store.append(&latest, number, vec![entry("l")]), Ok(())));
    }
    for (ticket, expected) in tickets {
        assert_eq!(ticket.await, expected);
    }
    assert_eq!(store.finish(&old, 30, vec![], Status::Failed, String::new()).await, fenced(&old));
    assert_eq!(store.renew(&old, LEASE).await.map(drop), fenced(&old));
    assert_eq!(store.release(&old).await, fenced(&old));
    assert_eq!(fixture.bodies("run_1").await.concat(), format!("0{}", "l".repeat(29)));
    assert_eq!(fixture.bodies("run_2").await.concat(), format!("0{}", "b".repeat(29)));
    assert_eq!(fixture.run("run_1").await.owner.as_deref(), Some(&*fixture.other.owner().id));
}

/// The claim of a refused creation has no power over the run that exists.
pub async fn an_id_is_created_once(fixture: &Fixture) {
    let first = fixture.create("run_1").await;
    let (claim, ticket) = fixture.other.create(new("run_1"), fixture.other.owner(), vec![entry("second")]);
    let exists = Err(StoreError::Exists { id: "run_1".to_owned() });
    assert_eq!(ticket.await, exists);
    assert_eq!(fixture.other.append(&claim, 1, vec![entry("second")]).await, exists);
    assert_eq!(fixture.other.release(&claim).await, exists);
    fixture.store.append(&first, 1, vec![entry("1")]).await.unwrap();
    assert_eq!(fixture.bodies("run_1").await, ["0", "1"]);
    let (_, ticket) = fixture.store.create(new("run\n"), fixture.store.owner(), vec![]);
    assert!(matches!(ticket.await, Err(StoreError::Invalid(_))));
}

/// 64 runs at once, through both handles.
pub async fn many_writers_at_once_keep_their_order(fixture: &Fixture) {
    const APPENDS: u64 = 20;
    let write = |number: usize| {
        let store = Arc::clone(if number.is_multiple_of(2) { &fixture.store } else { &fixture.other });
        tokio::spawn(async move {
            let id = format!("run_{number}");
            let (claim, _) = store.create(new(&id), store.owner(), vec![]);
            let mut last = None;
            for seq in 0..APPENDS {
                last = Some(store.append(&claim, seq, vec![entry(&seq.to_string())]));
                tokio::task::yield_now().await;
            }
            last.unwrap().await.unwrap();
            assert_eq!(texts(&*store, &id).await.len() as u64, APPENDS, "flushed is visible");
        })
    };
    let writers: Vec<_> = (0..64).map(write).collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let expected: Vec<String> = (0..APPENDS).map(|seq| seq.to_string()).collect();
    for number in 0..64 {
        assert_eq!(fixture.bodies(&format!("run_{number}")).await, expected);
    }
}
