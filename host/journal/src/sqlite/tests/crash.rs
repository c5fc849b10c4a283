//! Loss of the end of the write-ahead log: a transaction is there whole, or not at all.

use super::{create, entry, open, wait};
use crate::store::Store;
use rusqlite::Connection;
use std::fs;
use std::path::Path;

/// Bytes of a frame's header and page.
const HEADER: usize = 24;
const PAGE: usize = 4096;

/// Entries by the run's row and by the table.
fn counts(folder: &Path) -> (u64, u64, String) {
    let database = Connection::open(folder.join("journal.sqlite")).unwrap();
    // Closing moves the log into the file; nothing here has to survive.
    database.pragma_update(None, "synchronous", "OFF").unwrap();
    let sql = "SELECT next_seq, (SELECT count(*) FROM entries), (SELECT integrity_check FROM pragma_integrity_check) \
               FROM runs";
    database.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
}

fn put(folder: &Path, database: &[u8], log: &[u8]) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("journal.sqlite"), database).unwrap();
    fs::write(folder.join("journal.sqlite-wal"), log).unwrap();
    let _ = fs::remove_file(folder.join("journal.sqlite-shm"));
}

/// Every byte of the frames' headers, and some of their pages.
fn places(start: usize, end: usize) -> impl Iterator<Item = usize> {
    (start..end).filter(move |place| {
        let inside = (place - start) % (HEADER + PAGE);
        inside <= HEADER || inside.is_multiple_of(512) || inside + 2 > HEADER + PAGE
    })
}

#[test]
fn a_torn_log_loses_the_last_transaction_whole_and_no_other() {
    let outer = tempfile::tempdir().unwrap();
    let (folder, torn) = (outer.path().join("journal"), outer.path().join("torn"));
    let log = || fs::read(folder.join("journal.sqlite-wal")).unwrap();
    let store = open(&folder);
    let claim = create(&store, "run_1");
    for seq in 0..3 {
        store.append(&claim, seq, vec![entry(100)]).wait().unwrap();
    }
    let start = log().len();
    // Several pages: a part of them must not count.
    store.append(&claim, 3, (0..5).map(|_| entry(2000)).collect()).wait().unwrap();
    let (database, log) = (fs::read(folder.join("journal.sqlite")).unwrap(), log());
    assert!(log.len() > start + 3 * PAGE, "the transaction is in the log");

    for length in places(start, log.len()) {
        put(&torn, &database, &log[..length]);
        assert_eq!(counts(&torn), (3, 3, "ok".to_owned()), "truncated at {length} of {start}..{}", log.len());
        let mut flipped = log.clone();
        flipped[length] ^= 0x10;
        put(&torn, &database, &flipped);
        assert_eq!(counts(&torn), (3, 3, "ok".to_owned()), "changed at {length} of {start}..{}", log.len());
    }
    put(&torn, &database, &log);
    assert_eq!(counts(&torn), (8, 8, "ok".to_owned()));

    // The store itself goes on from there; the lost owner is dead.
    put(&torn, &database, &log[..log.len() - 1]);
    let store = open(&torn);
    let claim = wait(store.claim("run_1", store.owner(), crate::suite::LEASE)).unwrap();
    assert_eq!((claim.epoch, claim.next_seq), (2, 3));
    store.append(&claim, 3, vec![entry(1)]).wait().unwrap();
    assert_eq!(wait(store.read("run_1", 0, 10)).unwrap().len(), 4);
}
