//! Limits of the store and of its queue.

use crate::cluster::Cluster;
use crate::{LEASE, create, entry, new, open};
use agent_spaces_journal::{
    Approval, ApprovalFilter, Content, Entry, Expected, NewDocument, NewRun, Prune, Put, Status, Store, StoreError,
    Summary, Wake,
};
use agent_spaces_journal_postgres::{Address, PostgresStore, Settings};
use std::time::{Duration, Instant};

const MOST: u64 = 1 << 20;

fn small(address: &Address) -> PostgresStore {
    PostgresStore::open(address.clone(), Settings { max_bytes: MOST, ..Settings::default() }).unwrap()
}

fn large() -> Entry {
    Entry::new("note", 0, vec![b'x'; 200_000])
}

fn is_full<T: std::fmt::Debug>(outcome: Result<T, StoreError>) {
    assert!(matches!(&outcome, Err(StoreError::Full(text)) if text.contains("prune ended runs")), "{outcome:?}");
}

/// Entries, runs, blobs, requests and documents; by any host.
#[tokio::test]
async fn a_full_store_refuses_what_makes_it_larger() {
    let Some(cluster) = Cluster::get() else { return };
    let address = cluster.address();
    let (store, other) = (small(&address), small(&address));
    let claim = create(&store, "run_1").await;
    for seq in 0..5 {
        store.append(&claim, seq, vec![large()]).await.unwrap();
    }
    let document =
        |body: &str| NewDocument { kind: "k".into(), id: "d".into(), body: body.into(), ..NewDocument::default() };
    assert!(matches!(other.put_document(document("0123456789"), Expected::Any).await, Ok(Put::Stored(_))));
    is_full(store.append(&claim, 5, vec![large()]).await);
    // The claim is void, and the run can be released and claimed again.
    store.release(&claim).await.unwrap();
    let claim = store.claim("run_1", store.owner(), Duration::from_secs(60)).await.unwrap();
    is_full(other.create(new("run_2"), other.owner(), vec![large()]).1.await);
    let content = Content::new(vec![7_u8; 200_000]);
    let run = NewRun { content: vec![content.clone()], ..new("run_3") };
    is_full(other.create(run, other.owner(), vec![]).1.await);
    assert_eq!((other.run("run_3").await, other.has_blob(content.hash()).await), (Ok(None), Ok(false)));
    let third = create(&other, "run_4").await;
    let request = Approval { id: "apr_1".into(), call: 1, request: "x".repeat(200_000) };
    is_full(other.request_approval(&third, 0, vec![], request).await);
    is_full(other.put_document(document(&"x".repeat(200_000)), Expected::Any).await);
    let smaller = other.put_document(document("01234"), Expected::Version(1)).await.unwrap();
    assert!(matches!(smaller, Put::Stored(_)), "not larger than before: {smaller:?}");

    // What ends or parks a run is written, a sixteenth beyond the limit.
    let end = Entry::new("end", 0, vec![b'x'; 20_000]);
    store.finish(&claim, 5, vec![end], Status::Finished, "{}".into()).await.unwrap();
    let fourth = create(&other, "run_5").await;
    is_full(other.park(&fourth, 0, vec![large()], Wake::default()).await);
    let policy = Prune { older_than: None, max_bytes: Some(MOST / 2), now_ms: 0 };
    assert_eq!(other.prune(policy).await.unwrap().runs, 1);
    let fifth = create(&store, "run_6").await;
    store.append(&fifth, 0, vec![large()]).await.unwrap();
}

/// What is counted is what the rows have, whatever happened.
#[tokio::test]
async fn the_count_of_bytes_agrees_with_the_rows() {
    let Some(cluster) = Cluster::get() else { return };
    let name = "counted";
    let store = open(&cluster.address().with_schema(name).unwrap());
    for number in 0..6_u8 {
        let content = vec![Content::new(vec![number; 1000]), Content::new(vec![99_u8; 100_000])];
        let run = NewRun { content, ..new(&format!("run_{number}")) };
        let (claim, created) = store.create(run, store.owner(), vec![]);
        created.await.unwrap();
        store.append(&claim, 0, vec![entry("a"), entry("bc")]).await.unwrap();
        store.signal(&claim.run, "key").await.unwrap();
        store.signal(&claim.run, "key").await.unwrap();
        let id = format!("apr_{number}");
        let request = Approval { id: id.clone(), call: 1, request: "{}".into() };
        store.request_approval(&claim, 2, vec![entry("asks")], request.clone()).await.unwrap();
        store.request_approval(&claim, 3, vec![entry("asks again")], request).await.unwrap();
        store.decide(&id, "yes").await.unwrap();
        match number {
            0..3 => store.finish(&claim, 4, vec![entry("d")], Status::Failed, "{}".into()).await.unwrap(),
            _ => store.park(&claim, 4, vec![entry("d")], Wake::default()).await.unwrap(),
        }
        let new = NewDocument { kind: "k".into(), id: id.clone(), body: "1".into(), ..NewDocument::default() };
        store.put_document(new.clone(), Expected::Absent).await.unwrap();
        let expires = (number == 5).then_some(1);
        let new = NewDocument { body: "123".into(), expires, ..new };
        store.put_document(new, Expected::Any).await.unwrap();
        if number == 4 {
            assert!(store.delete_document("k", &id, None).await.unwrap());
        }
    }
    let agrees = || {
        let sum = |table: &str| format!("(SELECT coalesce(sum(charged), 0) FROM {name}.{table})");
        let rows = format!("SELECT {} + {} + {}", sum("runs"), sum("blobs"), sum("documents"));
        let (counted, rows) = (cluster.sql(&format!("SELECT sum(bytes) FROM {name}.usage")), cluster.sql(&rows));
        assert_eq!(counted, rows);
        counted.parse::<u64>().unwrap()
    };
    let before = agrees();
    let policy = Prune { older_than: Some(Duration::ZERO), max_bytes: None, now_ms: i64::MAX };
    let pruned = store.prune(policy).await.unwrap();
    assert_eq!((pruned.runs, pruned.documents), (3, 1));
    assert_eq!(agrees(), before - pruned.bytes);
    assert_eq!(
        cluster.sql(&format!("SELECT count(*) FROM {name}.blobs")),
        "4",
        "three of runs that stay, and the shared"
    );
    let text = store.export("run_5").await.unwrap();
    let elsewhere = "counted_too";
    let there = open(&cluster.address().with_schema(elsewhere).unwrap());
    there.import(&text).await.unwrap();
    let sum = "SELECT (SELECT sum(charged) FROM counted_too.runs) + (SELECT sum(charged) FROM counted_too.blobs) \
               - (SELECT sum(bytes) FROM counted_too.usage)";
    assert_eq!(cluster.sql(sum), "0");
}

#[tokio::test]
async fn a_full_queue_refuses_writes_and_voids_the_claim() {
    let Some(cluster) = Cluster::get() else { return };
    let settings = Settings { max_queued: 1_000_000, ..Settings::default() };
    let store = PostgresStore::open(cluster.address(), settings).unwrap();
    let claim = create(&store, "run_1").await;
    let tickets: Vec<_> = (0..20).map(|seq| store.append(&claim, seq, vec![large()])).collect();
    let mut stored = 0;
    let mut refused = 0;
    for ticket in tickets {
        match ticket.await {
            Ok(()) => stored += 1,
            Err(StoreError::QueueFull(_)) => refused += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
    assert!(stored >= 1 && refused >= 1, "{stored} {refused}");
    assert_eq!(store.run("run_1").await.unwrap().unwrap().next_seq, stored);
}

#[tokio::test]
async fn a_caller_cannot_fill_the_queue_for_others() {
    let Some(cluster) = Cluster::get() else { return };
    let settings = Settings { max_queued: 1_000_000, ..Settings::default() };
    let store = PostgresStore::open(cluster.address(), settings).unwrap();
    let of = |id: &str, caller: &str| {
        let summary = Summary { caller: caller.to_owned(), ..Summary::default() };
        store.create(NewRun { summary, ..new(id) }, store.owner(), vec![large()]).1
    };
    let flood: Vec<_> = (0..20).map(|number| of(&format!("run_{number}"), "flood")).collect();
    of("run_quiet", "quiet").await.unwrap();
    let mut refused = 0;
    for ticket in flood {
        match ticket.await {
            Ok(()) => {}
            Err(StoreError::QueueFull(text)) if text.contains("one tenant") => refused += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
    assert!(refused >= 1);
}

/// Leases would end meanwhile.
#[tokio::test]
async fn reads_that_take_long_do_not_hold_up_writes() {
    let Some(cluster) = Cluster::get() else { return };
    let name = "slow_reads";
    let store = open(&cluster.address().with_schema(name).unwrap());
    let claim = create(&store, "run_1").await;
    let lock = format!("BEGIN; LOCK TABLE {name}.approvals; SELECT pg_sleep(6); COMMIT");
    let locking = std::thread::spawn(move || cluster.sql(&lock));
    let locks = format!(
        "SELECT count(*) FROM pg_locks WHERE relation = '{name}.approvals'::regclass AND mode = 'AccessExclusiveLock'"
    );
    while cluster.sql(&locks) == "0" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let reads: Vec<_> = (0..20).map(|_| store.approvals(ApprovalFilter::default())).collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let begun = Instant::now();
    store.renew(&claim, LEASE).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    for read in reads {
        assert!(read.await.unwrap().is_empty());
    }
    locking.join().unwrap();
}
