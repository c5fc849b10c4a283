//! Errors: each names the fault and the fix, and none has the password.

use crate::cluster::{Cluster, PASSWORD, free_port};
use crate::{create, open};
use agent_spaces_journal::{Store, StoreError};
use agent_spaces_journal_postgres::{Address, PostgresStore, Settings};

fn refused(url: &str) -> String {
    let error = PostgresStore::open(Address::parse(url).unwrap(), Settings::default()).unwrap_err();
    assert!(matches!(error, StoreError::Io(_) | StoreError::Unreachable(_)), "{error:?}");
    let text = error.to_string();
    assert!(!text.contains(PASSWORD) && !text.contains("wrong-horse"), "{text}");
    text
}

fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_server_that_does_not_answer_is_named() {
    let port = free_port();
    let text = refused(&format!("postgres://ann:{PASSWORD}@127.0.0.1:{port}/agents"));
    contains(&text, &[&format!("postgres://ann@127.0.0.1:{port}/agents"), "check that the server runs"]);
}

#[test]
fn a_wrong_password_is_not_shown() {
    let Some(cluster) = Cluster::get() else { return };
    let host = format!("127.0.0.1:{}/postgres", cluster.port);
    let text = refused(&format!("postgres://tester:wrong-horse@{host}"));
    contains(&text, &["28P01", "correct the user, or the password in the file or variable"]);
    let text = refused(&format!("postgres://tester@{host}"));
    contains(&text, &["the server wants a password", "file:PATH"]);
    let address = Address::parse(&format!("postgres://tester:{PASSWORD}@{host}?schema=password_test")).unwrap();
    let store = PostgresStore::open(address, Settings::default()).unwrap();
    assert!(!format!("{store:?}").contains(PASSWORD));
}

#[test]
fn a_missing_database_is_named() {
    let Some(cluster) = Cluster::get() else { return };
    let text = refused(&format!("postgres://tester:{PASSWORD}@127.0.0.1:{}/nowhere", cluster.port));
    contains(&text, &["nowhere", "create the database"]);
}

#[test]
fn a_plain_server_does_not_pass_for_an_encrypted_one() {
    let Some(cluster) = Cluster::get() else { return };
    let text = refused(&format!("postgres://tester:{PASSWORD}@127.0.0.1:{}/postgres?sslmode=require", cluster.port));
    contains(&text, &["TLS", "sslmode=disable"]);
}

/// A role that may not create the schema, then one that may use what another created.
#[tokio::test]
async fn missing_rights_are_named() {
    let Some(cluster) = Cluster::get() else { return };
    cluster.sql("CREATE ROLE guest LOGIN");
    let folder = cluster.folder.display();
    let options = format!("host={folder}&port={}&schema=rights", cluster.port);
    let url = |user: &str| format!("postgres:///postgres?user={user}&{options}");
    contains(&refused(&url("guest")), &["GRANT CREATE ON DATABASE", "schema rights"]);
    drop(open(&Address::parse(&url("tester")).unwrap()));
    contains(&refused(&url("guest")), &["GRANT USAGE ON SCHEMA rights"]);
    cluster.sql(
        "GRANT USAGE ON SCHEMA rights TO guest; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA rights TO guest",
    );
    let store = open(&Address::parse(&url("guest")).unwrap());
    create(&store, "run_1").await;
    assert_eq!(store.size().await.unwrap().runs.len(), 1);
}

/// A server that forgets what it promised.
#[test]
fn a_server_that_loses_commits_is_refused() {
    let Some(cluster) = Cluster::get() else { return };
    cluster.sql("CREATE ROLE hasty LOGIN SUPERUSER; ALTER ROLE hasty SET synchronous_commit = off");
    cluster.sql("CREATE ROLE lonely LOGIN SUPERUSER; ALTER ROLE lonely SET synchronous_commit = local");
    cluster
        .sql("CREATE ROLE strict LOGIN SUPERUSER; ALTER ROLE strict SET default_transaction_isolation = serializable");
    let options = format!("host={}&port={}", cluster.folder.display(), cluster.port);
    contains(
        &refused(&format!("postgres:///postgres?user=hasty&{options}")),
        &["synchronous_commit = off", "switch it on"],
    );
    contains(
        &refused(&format!("postgres:///postgres?user=lonely&{options}")),
        &["synchronous_commit = local", "standby"],
    );
    contains(&refused(&format!("postgres:///postgres?user=strict&{options}")), &["serializable", "ALTER ROLE"]);
}

/// As a standby does, or a server that is about to be promoted.
#[test]
fn a_server_that_takes_no_writes_is_refused() {
    let Some(cluster) = Cluster::get() else { return };
    cluster.sql("CREATE ROLE reader LOGIN SUPERUSER; ALTER ROLE reader SET default_transaction_read_only = on");
    let options = format!("host={}&port={}", cluster.folder.display(), cluster.port);
    let text = refused(&format!("postgres:///postgres?user=reader&{options}"));
    contains(&text, &["does not allow writes", "name the primary"]);
}
