//! Statements as the server logs them: prepared on direct connections, and without content that it has.

use crate::cluster::Cluster;
use crate::pooler::{Pooler, TRANSACTIONS, start};
use crate::{create, entry, open};
use agent_spaces_journal::{Content, NewRun, Store};
use agent_spaces_journal_postgres::Address;

/// Makes a role whose statements are in the log of the server.
fn logged(cluster: &Cluster, role: &str) {
    let _ = cluster.sql(&format!("CREATE ROLE {role} SUPERUSER LOGIN; ALTER ROLE {role} SET log_statement = 'all'"));
}

/// Returns the address of a store of a role over the socket.
fn address(cluster: &Cluster, role: &str, options: &str) -> Address {
    let (folder, port) = (cluster.folder.display(), cluster.port);
    let url =
        format!("postgres:///postgres?host={folder}&port={port}&user={role}&schema={role}&connections=10{options}");
    Address::parse(&url).unwrap()
}

/// Appends to a run, and returns how many of the appends the server got prepared, and how many whole.
async fn appended(cluster: &Cluster, address: &Address, schema: &str) -> (usize, usize) {
    let store = open(address);
    let claim = create(&store, "run").await;
    for seq in 0..20 {
        store.append(&claim, seq, vec![entry("x")]).await.unwrap();
    }
    drop(store);
    let log = std::fs::read_to_string(cluster.folder.join("log")).unwrap();
    // The lines of a statement are one entry.
    let entries: Vec<&str> = log.split("LOG:  execute ").collect();
    let is_append = |text: &&&str| text.contains(&format!("UPDATE {schema}.runs SET next_seq = next_seq + $5"));
    let appends: Vec<&&str> = entries.iter().filter(is_append).collect();
    let whole = appends.iter().filter(|text| text.starts_with("<unnamed>")).count();
    (appends.len() - whole, whole)
}

/// Starts a pooler whose connections are a role's.
async fn pooled(cluster: &Cluster, role: &str, settings: &str) -> Option<(Pooler, String)> {
    logged(cluster, role);
    let (pooler, port) = start(cluster, role, settings).await?;
    Some((pooler, format!("postgres://{role}@127.0.0.1:{port}/postgres?connections=10&schema={role}")))
}

#[tokio::test]
async fn the_server_prepares_statements_once() {
    let Some(cluster) = Cluster::get() else { return };
    logged(cluster, "direct");
    assert_eq!(appended(cluster, &address(cluster, "direct", ""), "direct").await, (20, 0));
    logged(cluster, "unprepared");
    let address = address(cluster, "unprepared", "&prepare=false");
    assert_eq!(appended(cluster, &address, "unprepared").await, (0, 20));
}

#[tokio::test]
async fn a_pooler_gets_whole_statements() {
    let Some(cluster) = Cluster::get() else { return };
    let Some((_pooler, url)) = pooled(cluster, "whole", TRANSACTIONS).await else { return };
    assert_eq!(appended(cluster, &Address::parse(&url).unwrap(), "whole").await, (0, 20));
}

#[tokio::test]
async fn a_pooler_that_keeps_statements_for_its_clients_gets_them_prepared_if_the_address_says_so() {
    let Some(cluster) = Cluster::get() else { return };
    // Newer versions do that for transactions, too.
    let settings = "pool_mode = session\ndefault_pool_size = 20\n";
    let Some((_pooler, url)) = pooled(cluster, "knowing", settings).await else { return };
    let address = Address::parse(&format!("{url}&prepare=true")).unwrap();
    assert_eq!(appended(cluster, &address, "knowing").await, (20, 0));
}

#[tokio::test]
async fn a_statement_is_executed_also_when_its_table_has_changed() {
    let Some(cluster) = Cluster::get() else { return };
    logged(cluster, "altered");
    let store = open(&address(cluster, "altered", ""));
    let _claim = create(&store, "run").await;
    // Several connections know the statement then.
    let reads: Vec<_> = (0..50).map(|_| store.run("run")).collect();
    for read in reads {
        assert!(read.await.unwrap().is_some());
    }
    let _ = cluster.sql("ALTER TABLE altered.runs ALTER COLUMN script TYPE varchar(1000)");
    for _ in 0..20 {
        assert_eq!(store.run("run").await.unwrap().unwrap().summary.script, "");
    }
}

#[tokio::test]
async fn every_write_is_counted_however_many_come_together() {
    let Some(cluster) = Cluster::get() else { return };
    logged(cluster, "counted_together");
    let _ = cluster.sql("ALTER ROLE counted_together RESET log_statement");
    let address = address(cluster, "counted_together", "&connections=24");
    let stores = [open(&address), open(&address)];
    let before: i64 = cluster.sql("SELECT sum(changes) FROM counted_together.usage").parse().unwrap();
    let mut tickets = Vec::new();
    for number in 0..60 {
        let store = &stores[number % 2];
        let (claim, created) = store.create(crate::new(&format!("run_{number}")), store.owner(), vec![]);
        created.await.unwrap();
        tickets.push((claim, store));
    }
    for seq in 0..20 {
        let appended: Vec<_> =
            tickets.iter().map(|(claim, store)| store.append(claim, seq, vec![entry("x")])).collect();
        for ticket in appended {
            ticket.await.unwrap();
        }
    }
    let after: i64 = cluster.sql("SELECT sum(changes) FROM counted_together.usage").parse().unwrap();
    assert_eq!(after - before, 60 + 60 * 20);
    let sums =
        "SELECT (SELECT sum(bytes) FROM counted_together.usage) - (SELECT sum(charged) FROM counted_together.runs)";
    assert_eq!(cluster.sql(sums), "0");
}

#[tokio::test]
async fn content_that_the_store_has_is_not_sent_again() {
    let Some(cluster) = Cluster::get() else { return };
    logged(cluster, "content");
    let store = open(&address(cluster, "content", ""));
    let (shared, own) = (Content::new(vec![0xaa; 100_000]), Content::new(vec![0xbb; 100_000]));
    for (id, content) in [("one", vec![shared.clone()]), ("other", vec![shared, own.clone()]), ("third", vec![own])] {
        let (_claim, created) = store.create(NewRun { content, ..crate::new(id) }, store.owner(), vec![]);
        created.await.unwrap();
    }
    drop(store);
    // Parameters are in the log, too.
    let log = std::fs::read_to_string(cluster.folder.join("log")).unwrap();
    for byte in ["aa", "bb"] {
        assert_eq!(log.matches(&byte.repeat(100_000)).count(), 1, "{byte}");
    }
}
