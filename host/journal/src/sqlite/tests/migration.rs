//! Files of earlier formats.

use super::{open, wait};
use crate::approval::ApprovalFilter;
use crate::document::{DocumentFilter, Expected, NewDocument, Put};
use crate::run::{Filter, Status};
use crate::sqlite::{Settings, SqliteStore};
use crate::store::Store;
use crate::suite::LEASE;
use rusqlite::Connection;
use std::fs;
use std::path::Path;

/// Tables as the first format had them, and what later ones added. Never changed.
const FORMAT_1: &str = include_str!("schema-1.sql");
const FORMAT_2: &str = include_str!("schema-2.sql");
const FORMAT_3: &str = include_str!("schema-3.sql");

/// A finished run and one that waits for an approval.
const ROWS: &str = r#"
    INSERT INTO runs VALUES ('run_1', 'finished', 1, NULL, 0, 2, 10, 20, NULL, '[]', 10, 'a.ts', 'agent', 'ann', '/a',
        'e', '{"ok":true}', 0);
    INSERT INTO runs VALUES ('run_2', 'parked', 3, NULL, 0, 1, 11, 21, NULL, '["approval:apr_1"]', 5, 'b.ts', 'agent',
        '', '/a', 'e', NULL, 0);
    INSERT INTO entries VALUES ('run_1', 0, 'start', 10, x'7b7d'), ('run_1', 1, 'end', 20, x'7b7d'),
        ('run_2', 0, 'start', 11, x'7b7d');
    INSERT INTO approvals VALUES ('apr_1', 'run_2', 0, '{}', NULL, 21, NULL);
    INSERT INTO blobs VALUES ('0123', x'00');
    INSERT INTO run_blobs VALUES ('run_1', '0123');
"#;

/// Creates a file as the first format's program left it.
fn create_format_1(folder: &Path, more: &str) {
    create_file(folder, &[FORMAT_1, ROWS, more], 1);
}

fn create_file(folder: &Path, texts: &[&str], format: u32) {
    fs::create_dir(folder).unwrap();
    let database = Connection::open(folder.join("journal.sqlite")).unwrap();
    database.pragma_update(None, "auto_vacuum", "INCREMENTAL").unwrap();
    database.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    for text in texts {
        database.execute_batch(text).unwrap();
    }
    database.pragma_update(None, "application_id", 0x4153_4a52).unwrap();
    database.pragma_update(None, "user_version", format).unwrap();
}

/// Format, and names and texts of tables and indexes.
fn schema(folder: &Path) -> (u32, Vec<(String, Option<String>)>) {
    let database = Connection::open(folder.join("journal.sqlite")).unwrap();
    let format = database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let mut statement = database.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").unwrap();
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    (format, found.map(Result::unwrap).collect())
}

#[test]
fn a_file_of_format_1_is_migrated_with_its_runs() {
    let outer = tempfile::tempdir().unwrap();
    let [old, new] = ["old", "new"].map(|name| outer.path().join(name));
    create_format_1(&old, "");
    assert_eq!(schema(&old).0, 1);
    drop(open(&old));
    drop(open(&new));
    let migrated = schema(&old);
    assert_eq!(migrated.0, 4);
    assert_eq!(migrated, schema(&new), "it is what a new file is");

    let store = open(&old);
    let ids = |filter| wait(store.list(filter)).unwrap().into_iter().map(|run| run.id).collect::<Vec<_>>();
    assert_eq!(ids(Filter::default()), ["run_2", "run_1"]);
    let of_ann = Filter { project: Some("/a".to_owned()), caller: Some("ann".to_owned()), ..Filter::default() };
    assert_eq!(ids(of_ann), ["run_1"], "rows from before are in the new indexes");
    assert_eq!(ids(Filter { space: Some("agent".to_owned()), ..Filter::default() }), ["run_2", "run_1"]);
    let run = wait(store.run("run_1")).unwrap().unwrap();
    assert_eq!((run.status, run.next_seq, run.outcome.as_deref()), (Status::Finished, 2, Some(r#"{"ok":true}"#)));
    assert_eq!(wait(store.read("run_1", 0, 10)).unwrap().len(), 2);
    assert_eq!(wait(store.approvals(ApprovalFilter::default())).unwrap().len(), 1);

    // It goes on.
    wait(store.decide("apr_1", "yes")).unwrap();
    let claim = wait(store.claim("run_2", store.owner(), LEASE)).unwrap();
    assert_eq!((claim.epoch, claim.next_seq), (4, 1));
    store.finish(&claim, 1, vec![], Status::Finished, "{}".to_owned()).wait().unwrap();
    assert_eq!(wait(store.documents(DocumentFilter::of("note"))), Ok(vec![]));
    let new = NewDocument { kind: "note".to_owned(), id: "a".to_owned(), ..NewDocument::default() };
    assert!(matches!(wait(store.put_document(new, Expected::Absent)), Ok(Put::Stored(_))));
}

#[test]
fn a_file_of_format_2_is_migrated_with_its_runs_and_documents() {
    let outer = tempfile::tempdir().unwrap();
    let [old, new] = ["old", "new"].map(|name| outer.path().join(name));
    let more = "INSERT INTO documents VALUES ('note', 'a', 'ann', '{}', 1, 5, 5, NULL);
        INSERT INTO approvals VALUES ('apr_0', 'run_2', 1, '{}', NULL, 22, NULL);";
    create_file(&old, &[FORMAT_1, FORMAT_2, ROWS, more], 2);
    drop(open(&old));
    drop(open(&new));
    assert_eq!(schema(&old), schema(&new), "it is what a new file is");

    let store = open(&old);
    let ids = |filter| wait(store.list(filter)).unwrap().into_iter().map(|run| run.id).collect::<Vec<_>>();
    let text = |text: &str| Some(text.to_owned());
    let of_ann = Filter { project: text("/a"), caller: text("ann"), ..Filter::default() };
    assert_eq!(
        ids(Filter { space: text("agent"), ..of_ann.clone() }),
        ["run_1"],
        "rows from before are in the indexes"
    );
    assert_eq!(ids(Filter { statuses: vec![Status::Finished], ..of_ann.clone() }), ["run_1"]);
    assert_eq!(ids(Filter { statuses: vec![Status::Failed], ..of_ann }), [""; 0]);
    let of_run = ApprovalFilter { run: text("run_2"), ..ApprovalFilter::default() };
    let asked: Vec<String> = wait(store.approvals(of_run)).unwrap().into_iter().map(|row| row.id).collect();
    assert_eq!(asked, ["apr_1", "apr_0"], "oldest first");
    assert_eq!(wait(store.count_documents(DocumentFilter::of("note"))), Ok(1));
}

#[test]
fn a_file_of_format_3_is_migrated_with_its_changes() {
    let outer = tempfile::tempdir().unwrap();
    let [old, new] = ["old", "new"].map(|name| outer.path().join(name));
    let more = "INSERT INTO approvals VALUES ('apr_0', 'run_2', 1, '{}', 'yes', 22, 23);";
    create_file(&old, &[FORMAT_1, FORMAT_2, FORMAT_3, ROWS, more], 3);
    drop(open(&old));
    drop(open(&new));
    assert_eq!(schema(&old), schema(&new), "it is what a new file is");

    let store = open(&old);
    let first = || (0, String::new());
    let changed: Vec<String> = wait(store.changed_runs(first(), 10)).unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(changed, ["run_1", "run_2"], "rows from before are in the indexes");
    let decided = wait(store.decided_approvals(first(), 10)).unwrap();
    assert_eq!(decided.into_iter().map(|row| row.id).collect::<Vec<_>>(), ["apr_0"]);
}

#[test]
fn a_migration_that_fails_changes_nothing() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("journal");
    // In the way of the new table, which comes after new indexes.
    create_format_1(&folder, "CREATE TABLE documents (x)");
    let before = schema(&folder);
    assert!(SqliteStore::open(&folder, Settings::default()).is_err());
    assert_eq!(schema(&folder), before);
    Connection::open(folder.join("journal.sqlite")).unwrap().execute_batch("DROP TABLE documents").unwrap();
    let store = open(&folder);
    assert_eq!(wait(store.list(Filter::default())).unwrap().len(), 2);
    drop(store);
    assert_eq!(schema(&folder).0, 4);
}
