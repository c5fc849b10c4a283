//! Several hosts: claims, clocks, lost connections, ends of processes.

use crate::cluster::Cluster;
use crate::{LEASE, create, entry, new, open};
use agent_spaces_journal::{
    Approval, ClaimError, Expected, NewDocument, Prune, Pruned, Signalled, Status, Store, Wake,
};
use agent_spaces_journal_postgres::{Address, PostgresStore};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Four hosts want all runs at the same time.
#[tokio::test]
async fn each_run_is_claimed_by_one_host() {
    const RUNS: usize = 25;
    let Some(cluster) = Cluster::get() else { return };
    let address = cluster.address();
    let hosts: Vec<Arc<PostgresStore>> = (0..4).map(|_| Arc::new(open(&address))).collect();
    for number in 0..RUNS {
        let claim = create(&hosts[0], &format!("run_{number}")).await;
        hosts[0].release(&claim).await.unwrap();
    }
    let mut tasks = Vec::new();
    for host in &hosts {
        let host = Arc::clone(host);
        tasks.push(tokio::spawn(async move {
            let mut own = Vec::new();
            for run in host.due(0, RUNS).await.unwrap() {
                match host.claim(&run, host.owner(), LEASE).await {
                    Ok(claim) => own.push((run, claim.epoch)),
                    Err(ClaimError::Refused(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            own
        }));
    }
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await.unwrap());
    }
    let distinct: BTreeSet<_> = all.iter().collect();
    assert_eq!((all.len(), distinct.len()), (RUNS, RUNS), "{all:?}");
    assert!(all.iter().all(|(_, epoch)| *epoch == 2));
}

/// The host's own says anything.
#[tokio::test]
async fn leases_and_waits_go_by_the_clock_of_the_server() {
    let Some(cluster) = Cluster::get() else { return };
    let store = open(&cluster.address());
    create(&store, "run_owned").await;
    let ready = create(&store, "run_ready").await;
    store.release(&ready).await.unwrap();
    let sleeper = create(&store, "run_sleeper").await;
    let wake = Wake { at_ms: Some(i64::MAX - 1), keys: vec![] };
    store.park(&sleeper, 0, vec![], wake).await.unwrap();
    for now in [0, i64::MAX] {
        assert_eq!(store.due(now, 10).await.unwrap(), ["run_ready"]);
    }
    let server = server_ms(cluster);
    let run = store.run("run_owned").await.unwrap().unwrap();
    assert!((server - run.created).abs() < 60_000, "{} {server}", run.created);
    assert_eq!(run.lease_until - run.created, 600_000);
}

fn server_ms(cluster: &Cluster) -> i64 {
    cluster.sql("SELECT (extract(epoch FROM now()) * 1000)::bigint").parse().unwrap()
}

/// Otherwise it would reset counts that all hosts share.
#[tokio::test]
async fn a_host_whose_clock_is_ahead_removes_nothing_early() {
    let Some(cluster) = Cluster::get() else { return };
    let store = open(&cluster.address());
    let claim = create(&store, "run_1").await;
    store.finish(&claim, 0, vec![], Status::Finished, "{}".into()).await.unwrap();
    let expires = Some(server_ms(cluster) + 3_600_000);
    let new = NewDocument { kind: "k".into(), id: "d".into(), body: "{}".into(), expires, ..NewDocument::default() };
    store.put_document(new, Expected::Absent).await.unwrap();
    let policy = Prune { older_than: Some(Duration::from_secs(3600)), max_bytes: None, now_ms: i64::MAX };
    assert_eq!(store.prune(policy).await, Ok(Pruned::default()));
    tokio::time::sleep(Duration::from_millis(10)).await;
    let policy = Prune { older_than: Some(Duration::ZERO), max_bytes: None, now_ms: 0 };
    assert_eq!(store.prune(policy).await.unwrap().runs, 1, "nor late");
}

/// The server ends all connections, again and again, while a run is written: nothing is lost, nothing is there twice.
#[tokio::test]
async fn lost_connections_leave_neither_holes_nor_repeats() {
    const APPENDS: u64 = 300;
    let Some(cluster) = Cluster::get() else { return };
    let store = Arc::new(open(&named(cluster, "lossy")));
    let claim = create(&store, "run_1").await;
    let writer = {
        let (store, claim) = (Arc::clone(&store), claim.clone());
        tokio::spawn(async move {
            for seq in 0..APPENDS {
                store.append(&claim, seq, vec![entry(&seq.to_string())]).await.unwrap();
            }
        })
    };
    let mut ended = 0_u64;
    while !writer.is_finished() {
        let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'lossy'";
        ended += cluster.sql(sql).parse::<u64>().unwrap();
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    writer.await.unwrap();
    assert!(ended > 0);
    let entries = store.read("run_1", 0, usize::MAX).await.unwrap();
    let bodies: Vec<String> = entries.into_iter().map(|entry| String::from_utf8(entry.body).unwrap()).collect();
    let expected: Vec<String> = (0..APPENDS).map(|seq| seq.to_string()).collect();
    assert_eq!(bodies, expected);
}

/// Returns an address whose connections have a name.
fn named(cluster: &Cluster, name: &str) -> Address {
    let options = format!("host={}&port={}&user=tester", cluster.folder.display(), cluster.port);
    Address::parse(&format!("postgres:///postgres?{options}&application_name={name}&schema={name}")).unwrap()
}

/// Without waiting for the lease.
#[tokio::test]
async fn the_runs_of_a_host_that_ends_are_free() {
    let Some(cluster) = Cluster::get() else { return };
    let address = cluster.address();
    let (first, second) = (open(&address), open(&address));
    let (_claim, ticket) = first.create(new("run_1"), first.owner(), vec![entry("0")]);
    drop(first);
    ticket.await.expect("what was queued is written");
    assert_eq!(second.due(0, 10).await.unwrap(), ["run_1"]);
    let claim = second.claim("run_1", second.owner(), LEASE).await.unwrap();
    assert_eq!((claim.epoch, claim.next_seq), (2, 1));
}

/// Hosts that signal while the owner parks, many times: whatever comes first, the run is ready.
#[tokio::test]
async fn no_wakeup_is_lost_between_hosts() {
    let Some(cluster) = Cluster::get() else { return };
    let address = cluster.address();
    let (owner, other) = (open(&address), open(&address));
    for round in 0..40 {
        let id = format!("run_{round}");
        let claim = create(&owner, &id).await;
        let wake = Wake { at_ms: None, keys: vec!["answer".into()] };
        let (parked, signalled) = if round % 2 == 0 {
            (owner.park(&claim, 0, vec![], wake), other.signal(&id, "answer"))
        } else {
            let signalled = other.signal(&id, "answer");
            (owner.park(&claim, 0, vec![], wake), signalled)
        };
        parked.await.unwrap();
        assert_ne!(signalled.await.unwrap(), Signalled::Ended);
        assert_eq!(owner.run(&id).await.unwrap().unwrap().status, Status::Ready, "round {round}");
    }
}

/// With a connection for notifications.
#[tokio::test]
async fn changes_are_seen_by_hosts_that_listen() {
    let Some(cluster) = Cluster::get() else { return };
    let options = format!("host={}&port={}&user=tester", cluster.folder.display(), cluster.port);
    let address = Address::parse(&format!("postgres:///postgres?{options}&listen=true&schema=listening")).unwrap();
    let (writer, reader) = (open(&address), open(&address));
    let mut seen = reader.changed(0).await;
    for round in 0..3 {
        let changed = reader.changed(seen);
        create(&writer, &format!("run_{round}")).await;
        let version = tokio::time::timeout(Duration::from_secs(20), changed).await.expect("a change");
        assert_ne!(version, seen);
        seen = version;
    }
}

/// What a host counts as a write and the server does not must not make up for a write of another host.
#[tokio::test]
async fn own_writes_do_not_hide_those_of_others() {
    let Some(cluster) = Cluster::get() else { return };
    let address = cluster.address();
    let (reader, writer) = (open(&address), open(&address));
    let claim = create(&reader, "run_own").await;
    let request = Approval { id: "apr_1".into(), call: 1, request: "{}".into() };
    reader.request_approval(&claim, claim.next_seq, vec![], request.clone()).await.unwrap();
    // Somebody waits all the time, so the server is asked at intervals.
    let _waiting = reader.changed(0);
    tokio::time::sleep(Duration::from_secs(1)).await;
    for round in 0..5 {
        // It is there already.
        reader.request_approval(&claim, claim.next_seq, vec![], request.clone()).await.unwrap();
        let changed = reader.changed(reader.changed(0).await);
        create(&writer, &format!("run_{round}")).await;
        tokio::time::timeout(Duration::from_secs(20), changed).await.expect("a change");
    }
}
