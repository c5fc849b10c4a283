//! Files: modes, symlinks, formats, settings of the database.

use super::{create, entry, open, wait};
use crate::error::StoreError;
use crate::run::Status;
use crate::sqlite::{Settings, SqliteStore};
use crate::store::Store;
use rusqlite::Connection;
use std::fs;
use std::path::Path;

fn refusal(folder: &Path) -> StoreError {
    SqliteStore::open(folder, Settings::default()).unwrap_err()
}

#[cfg(unix)]
#[test]
fn nobody_else_reads_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("a/journal");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.join("journal.sqlite"), "").unwrap();
    fs::set_permissions(folder.join("journal.sqlite"), fs::Permissions::from_mode(0o644)).unwrap();
    let store = open(&folder);
    create(&store, "run_1");
    assert_eq!(mode(&folder), 0o700);
    let mut files = 0;
    for file in fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()) {
        let expected = if file.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&file), expected, "{}", file.display());
        files += 1;
    }
    assert_eq!(files, 6, "database, log, shared memory, locks of opening and of turns, owners");
    let owner = folder.join(format!("owners/{}.lock", store.owner()));
    assert_eq!(mode(&owner), 0o600);
}

#[cfg(unix)]
#[test]
fn symlinks_are_refused() {
    use std::os::unix::fs::symlink;
    let outer = tempfile::tempdir().unwrap();
    let [real, link, folder] = ["real", "link", "folder"].map(|name| outer.path().join(name));
    drop(open(&real));
    symlink(&real, &link).unwrap();
    assert!(refusal(&link).to_string().contains("symlink"));
    fs::create_dir(&folder).unwrap();
    symlink(real.join("journal.sqlite"), folder.join("journal.sqlite")).unwrap();
    assert!(refusal(&folder).to_string().contains("symlink"));
    // Parents may be symlinks: some systems have them in the paths of all users.
    drop(open(&link.join("inner")));
    assert!(real.join("inner/journal.sqlite").exists());
}

#[test]
fn a_newer_format_is_refused_and_not_changed() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("journal");
    drop(open(&folder));
    let file = folder.join("journal.sqlite");
    Connection::open(&file).unwrap().pragma_update(None, "user_version", 7).unwrap();
    let before = fs::read(&file).unwrap();
    assert_eq!(refusal(&folder), StoreError::Newer { found: 7, known: 4 });
    assert!(refusal(&folder).to_string().contains("format 7, but this program knows formats up to 4"));
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn files_of_others_are_refused() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("journal");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("journal.sqlite");
    fs::write(&file, "not a database, but longer than a header of one: ".repeat(100)).unwrap();
    assert!(matches!(refusal(&folder), StoreError::Corrupt(_)));
    fs::remove_file(&file).unwrap();
    Connection::open(&file).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    assert!(matches!(refusal(&folder), StoreError::Corrupt(_)));
}

#[test]
fn the_database_is_set_to_be_durable_and_to_shrink() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("journal");
    let settings = Settings::default();
    drop(open(&folder));
    let writer = super::super::schema::open_writer(&folder, &settings).unwrap();
    let number = |name| writer.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!((number("synchronous"), number("auto_vacuum"), number("foreign_keys")), (2, 2, 1));
    let mode: String = writer.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    let version = rusqlite::version_number();
    assert!(version >= 3_051_003, "{version} can corrupt a WAL");
    let reader = super::super::schema::open_reader(&folder, &settings).unwrap();
    assert!(reader.execute("DELETE FROM runs", []).is_err());
    assert_eq!(number("user_version"), 4);
}

#[test]
fn a_closed_store_is_one_file_that_has_everything() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("journal");
    let store = open(&folder);
    let claim = create(&store, "run_1");
    for seq in 0..100 {
        drop(store.append(&claim, seq, vec![entry(10)]));
    }
    drop(store.finish(&claim, 100, vec![], Status::Finished, "{}".to_owned()));
    let owner = store.owner().to_string();
    drop(store);
    assert!(!folder.join("journal.sqlite-wal").exists());
    let store = open(&folder);
    assert_eq!(wait(store.run("run_1")).unwrap().unwrap().next_seq, 100, "what was queued is written");
    assert_ne!(store.owner().to_string(), owner);
    assert!(!folder.join(format!("owners/{owner}.lock")).exists(), "files of dead owners are removed");
}

#[test]
fn a_removed_run_returns_its_space_to_the_disk() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("journal");
    let store = open(&folder);
    let claim = create(&store, "run_1");
    store.finish(&claim, 0, vec![entry(3 << 20)], Status::Finished, "{}".to_owned()).wait().unwrap();
    let policy = crate::run::Prune { older_than: None, max_bytes: Some(0), now_ms: 0 };
    let pruned = wait(store.prune(policy)).unwrap();
    assert!(pruned.runs == 1 && pruned.bytes > 3 << 20, "{pruned:?}");
    let length = fs::metadata(folder.join("journal.sqlite")).unwrap().len();
    assert!(length < 500_000, "{length}");
}
