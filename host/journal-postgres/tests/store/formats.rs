//! Formats: creation by several hosts at once, newer ones.

use crate::cluster::Cluster;
use crate::{create, open};
use agent_spaces_journal::{Store, StoreError};
use agent_spaces_journal_postgres::{PostgresStore, Settings};

#[test]
fn one_of_several_hosts_creates_the_tables() {
    let Some(cluster) = Cluster::get() else { return };
    let name = "format_created";
    let address = cluster.address().with_schema(name).unwrap();
    let hosts: Vec<_> = (0..6)
        .map(|_| {
            let address = address.clone();
            std::thread::spawn(move || drop(open(&address)))
        })
        .collect();
    hosts.into_iter().for_each(|host| host.join().unwrap());
    assert_eq!(cluster.sql(&format!("SELECT count(*), max(format) FROM {name}.format")), "1|1");
    assert_eq!(cluster.sql(&format!("SELECT count(*) FROM {name}.usage")), "64");
}

/// A newer program added a table and a column while this one runs, and says that it may stay.
#[tokio::test]
async fn a_newer_format_that_only_adds_is_used() {
    let Some(cluster) = Cluster::get() else { return };
    let name = "format_added";
    let address = cluster.address().with_schema(name).unwrap();
    let store = open(&address);
    cluster.sql(&format!(
        "BEGIN; ALTER TABLE {name}.runs ADD COLUMN colour text NOT NULL DEFAULT 'red'; CREATE TABLE {name}.more (id text); \
         UPDATE {name}.format SET format = 7; COMMIT"
    ));
    create(&store, "run_1").await;
    let later = open(&address);
    create(&later, "run_2").await;
    assert_eq!(later.size().await.unwrap().runs.values().sum::<u64>(), 2);
    assert_eq!(cluster.sql(&format!("SELECT format FROM {name}.format")), "7", "it stays");
}

#[test]
fn a_newer_format_that_breaks_is_refused() {
    let Some(cluster) = Cluster::get() else { return };
    let name = "format_broken";
    let address = cluster.address().with_schema(name).unwrap();
    drop(open(&address));
    cluster.sql(&format!("UPDATE {name}.format SET format = 9, oldest_program = 8"));
    let error = PostgresStore::open(address, Settings::default()).unwrap_err();
    assert_eq!(error, StoreError::Newer { found: 9, known: 1 });
}
