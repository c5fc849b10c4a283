//! Several hosts: claims, clocks, lost connections, ends of processes.

use crate::cluster::Cluster;
use crate::{LEASE, create, entry, new, open};
use agent_spaces_journal::{ClaimError, Signalled, Status, Store, Wake};
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
    let server: i64 = cluster.sql("SELECT (extract(epoch FROM now()) * 1000)::bigint").parse().unwrap();
    let run = store.run("run_owned").await.unwrap().unwrap();
    assert!((server - run.created).abs() < 60_000, "{} {server}", run.created);
    assert_eq!(run.lease_until - run.created, 600_000);
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
