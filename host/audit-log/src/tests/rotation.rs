//! Tests of log rotation.

use super::*;
use crate::files::{self, Access};
use crate::key::Key;
use crate::line::Position;
use crate::rotate::{Rotation, archived, begin_file};

/// Small enough for a few entries per file.
const BYTES: u64 = 1000;

impl Place {
    fn rotating(&self, keep: Option<u32>) -> AuditLog {
        self.open().rotate(Rotation { bytes: BYTES, keep })
    }

    /// A rotated log and its number of files.
    fn rotated(keep: Option<u32>) -> (Place, u64) {
        let place = Place::new();
        let log = place.rotating(keep);
        for number in 1..=40 {
            log.append(&[entry(number)]).expect("appended");
        }
        let files = fs::read_dir(files::folder_of(&place.log)).expect("folder").count() as u64;
        (place, files)
    }

    fn archive(&self, number: u64) -> PathBuf {
        archived(&self.log, number)
    }
}

/// Entries of a file without the log's own.
fn entries_of(path: &PathBuf) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("readable");
    let entries = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["entry"].clone());
    entries.filter(|entry| entry["type"] == "call").collect()
}

#[test]
fn rotation_continues_the_chain_in_new_files() {
    let (place, files) = Place::rotated(None);
    assert!(files > 4, "{files}");
    let paths = (1..files).map(|number| place.archive(number)).chain([place.log.clone()]);
    let paths: Vec<PathBuf> = paths.collect();
    assert_eq!(paths.iter().flat_map(entries_of).collect::<Vec<_>>(), (1..=40).map(entry).collect::<Vec<_>>());
    assert!(paths.iter().all(|path| fs::metadata(path).expect("file").len() < 2 * BYTES));
    let found = place.verify().expect("whole");
    assert_eq!(found, Verified { entries: 40 + files - 1, files, ..Verified::default() });
    let first: Value = serde_json::from_str(&place.lines()[0]).expect("JSON");
    let before = fs::read_to_string(place.archive(files - 1)).expect("readable");
    let last: Value = serde_json::from_str(before.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&first["entry"]["type"], &first["entry"]["previous"]["hash"]), (&json!("rotated"), &last["hash"]));
    assert_eq!((&first["prev"], first["seq"].as_u64()), (&last["hash"], last["seq"].as_u64().map(|seq| seq + 1)));
    // Another process goes on with it.
    place.open().append(&[entry(41)]).expect("appended");
    assert_eq!(place.verify().expect("whole").entries, 41 + files - 1);
}

#[test]
fn changes_in_archived_files_are_detected() {
    let (place, files) = Place::rotated(None);
    let second = place.archive(2);
    let whole = fs::read(&second).expect("readable");
    for byte in (0..whole.len()).step_by(7) {
        let mut changed = whole.clone();
        changed[byte] ^= 1;
        fs::write(&second, &changed).expect("writable");
        place.verify().expect_err(&format!("byte {byte}"));
    }
    let cut = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').expect("two lines") + 1;
    fs::write(&second, &whole[..cut]).expect("writable");
    place.verify().expect_err("without its last line");
    fs::remove_file(&second).expect("removed");
    assert!(place.verify().expect_err("gone").message.contains("audit.2.jsonl\" is missing"));
    fs::copy(place.archive(3), &second).expect("copied");
    place.verify().expect_err("another file in its place");
    fs::write(&second, &whole).expect("writable");
    assert_eq!(place.verify().expect("whole again").files, files);
}

#[test]
fn removed_files_are_recorded_with_their_last_hash() {
    let (place, _) = Place::rotated(Some(2));
    assert!(!place.archive(1).exists(), "removed");
    let found = place.verify().expect("whole");
    assert!(found.files == 3 && found.removed > 0 && found.lost == 0, "{found:?}");
    assert!(found.entries > 40, "the numbers go on: {found:?}");
    let first: Value = serde_json::from_str(&place.lines()[0]).expect("JSON");
    let stated = &first["entry"]["removed"][0];
    assert_eq!(stated["name"].as_str().map(|name| place.log.with_file_name(name).exists()), Some(false));
    assert_eq!(first["entry"]["start"]["hash"], stated["hash"]);
    assert_eq!(
        (first["entry"]["start"]["entries"].as_u64(), stated["last"].as_u64()),
        (Some(found.removed), Some(found.removed))
    );
    // Nothing more than that may be missing.
    let oldest = first["entry"]["start"]["file"].as_u64().expect("a number");
    fs::remove_file(place.archive(oldest)).expect("removed");
    place.verify().expect_err("removed without a statement");
}

#[test]
fn an_interrupted_rotation_is_undone() {
    for is_second_rename_done in [false, true] {
        let place = Place::with(4);
        place.open().sync_every(Duration::ZERO).append(&[entry(5)]).expect("appended");
        let key = Key::load(&place.heads.join("key")).expect("readable").expect("a key");
        let log = files::open(&place.log, Access::Append).expect("opens").expect("a log");
        let last: Value = serde_json::from_str(&place.lines()[4]).expect("JSON");
        let bytes = place.read().len() as u64;
        let hash = last["hash"].as_str().expect("text").to_owned();
        let end = Position { file: 1, count: 5, bytes, hash };
        begin_file(&place.log, &log, &key, &end, None).expect("begun");
        if !is_second_rename_done {
            fs::remove_file(&place.log).expect("removed");
        }
        let found = place.verify().expect("whole");
        assert_eq!(found, Verified { entries: 5, ..one_file() });
        place.open().append(&[entry(6)]).expect("appended");
        assert!(!place.archive(1).exists());
        assert_eq!(place.entries(), (1..=6).map(entry).collect::<Vec<_>>());
        assert_eq!(place.verify(), Ok(Verified { entries: 6, ..one_file() }));
    }
}

#[test]
fn a_failed_rotation_does_not_stop_appends() {
    let place = Place::new();
    fs::create_dir_all(place.archive(1)).expect("something in the way");
    let log = place.rotating(None);
    for number in 1..=20 {
        let done = log.append_texts(&[entry(number).to_string()]).expect("appended");
        assert_eq!(done.fault.is_some(), place.read().len() as u64 >= BYTES);
    }
    assert_eq!(place.entries().len(), 20);
}
