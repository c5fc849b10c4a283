//! Tests of reading entries in pages.

use super::*;
use crate::line::MAX_LINE;
use crate::pages::{AuditReader, ReadEntry, ReadLimits, ReadPage, ReadPosition};
use crate::rotate::{Rotation, archived};
use std::io::Write;

/// More than any page here needs.
const MANY: ReadLimits = ReadLimits { bytes: 1 << 20, entries: 1000 };

impl Place {
    fn reader(&self) -> AuditReader {
        AuditReader::new(&self.log)
    }

    /// A log that rotates after a few entries.
    fn small_files(&self, keep: Option<u32>) -> AuditLog {
        self.open().rotate(Rotation { bytes: 1000, keep })
    }

    fn page(&self, from: ReadPosition, limits: ReadLimits) -> ReadPage {
        self.reader().read(from, limits).expect("readable")
    }

    /// Reads page after page up to the end.
    fn rest(&self, from: ReadPosition, limits: ReadLimits) -> Vec<ReadEntry> {
        let (mut all, mut next) = (Vec::new(), from);
        loop {
            let page = self.page(next, limits);
            assert!(page.entries.len() <= limits.entries && (page.is_end || page.next > next), "{page:?}");
            assert!(page.entries.last().is_none_or(|last| last.after <= page.next), "{page:?}");
            all.extend(page.entries);
            next = page.next;
            if page.is_end {
                return all;
            }
        }
    }
}

/// Entries without the log's own.
fn calls(read: &[ReadEntry]) -> Vec<Value> {
    read.iter().map(|read| read.entry.clone()).filter(|entry| entry["type"] == "call").collect()
}

fn append(log: &AuditLog, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers {
        log.append(&[entry(number)]).expect("appended");
    }
}

fn is_contiguous(read: &[ReadEntry]) -> bool {
    read.windows(2).all(|pair| pair[0].seq + 1 == pair[1].seq && pair[0].after < pair[1].after)
}

#[test]
fn pages_follow_one_another_through_all_files() {
    let place = Place::new();
    append(&place.small_files(None), 1..=40);
    assert!(archived(&place.log, 4).exists(), "some files");
    let small = [(1 << 20, 3), (1, 1000), (700, 1000), (u64::MAX, 1)];
    for (bytes, entries) in small {
        let all = place.rest(ReadPosition::default(), ReadLimits { bytes, entries });
        assert_eq!(calls(&all), (1..=40).map(entry).collect::<Vec<_>>());
        assert!(all[0].seq == 1 && is_contiguous(&all));
        assert!(all[0].time.ends_with('Z'), "{}", all[0].time);
    }
    let page = place.page(ReadPosition::default(), ReadLimits { bytes: 1, entries: 1000 });
    assert_eq!((page.entries.len(), page.is_end), (1, false), "no more than the limit, but one line");
    assert_eq!(page.scanned, page.next.offset);
}

#[test]
fn a_position_stays_valid_when_the_log_is_rotated() {
    let place = Place::new();
    let log = place.small_files(None);
    append(&log, 1..=3);
    let first = place.page(ReadPosition::default(), ReadLimits { entries: 2, ..MANY });
    assert_eq!((first.entries.len(), first.next.file, first.is_end), (2, 1, false));
    append(&log, 4..=30);
    assert!(archived(&place.log, 2).exists(), "rotated");
    let rest = place.rest(first.next, MANY);
    assert_eq!(calls(&rest), (3..=30).map(entry).collect::<Vec<_>>());
    let end = rest.last().expect("an entry").after;
    let page = place.page(end, MANY);
    assert!(page.entries.is_empty() && page.is_end && page.next == end, "{page:?}");
    append(&log, 31..=50);
    assert_eq!(calls(&place.rest(end, MANY)), (31..=50).map(entry).collect::<Vec<_>>(), "goes on at the end");
}

#[test]
fn removed_files_are_skipped() {
    let place = Place::new();
    let log = place.small_files(Some(2));
    append(&log, 1..=3);
    let first = place.page(ReadPosition::default(), ReadLimits { entries: 1, ..MANY });
    append(&log, 4..=40);
    assert!(!archived(&place.log, first.next.file).exists(), "removed");
    for from in [first.next, ReadPosition::default()] {
        let rest = place.rest(from, ReadLimits { entries: 2, ..MANY });
        assert!(rest[0].seq > 2 && rest[0].entry["type"] == "rotated" && is_contiguous(&rest), "{rest:?}");
        let calls = calls(&rest);
        assert!(calls.len() > 3 && calls.last() == Some(&entry(40)), "{calls:?}");
    }
    // One that somebody else removed, too.
    let oldest = place.page(first.next, MANY).entries[0].after.file;
    fs::remove_file(archived(&place.log, oldest)).expect("removed");
    assert_eq!(place.page(first.next, MANY).entries[0].after.file, oldest + 1);
}

#[test]
fn a_torn_line_is_not_read_until_it_is_replaced() {
    let place = Place::with(3);
    let whole = place.read();
    place.write([&whole[..], b"{\"seq\":4,\"ti"].concat());
    let page = place.page(ReadPosition::default(), MANY);
    assert_eq!((page.entries.len(), page.is_end), (3, true));
    assert_eq!(page.next, ReadPosition { file: 1, offset: whole.len() as u64 });
    append(&place.open(), 4..=4);
    let rest = place.rest(page.next, MANY);
    let types: Vec<_> = rest.iter().map(|read| read.entry["type"].clone()).collect();
    assert_eq!(types, ["recovered", "call"]);
    assert!(rest[0].seq == 4 && is_contiguous(&rest));
}

#[test]
fn a_torn_line_of_an_old_file_does_not_hide_the_next_file() {
    let place = Place::new();
    append(&place.small_files(None), 1..=20);
    let mut first = fs::File::options().append(true).open(archived(&place.log, 1)).expect("opens");
    first.write_all(b"{\"seq\":9").expect("written");
    assert_eq!(calls(&place.rest(ReadPosition::default(), MANY)), (1..=20).map(entry).collect::<Vec<_>>());
}

#[test]
fn lines_that_are_no_entries_are_skipped() {
    let place = Place::with(2);
    let lines = place.lines();
    let long = "x".repeat(3 * MAX_LINE);
    place.write(format!("{}\nnot JSON\n{{\"seq\":-1}}\n{long}\n\n{}\n", lines[0], lines[1]));
    for bytes in [1, 1 << 20] {
        let all = place.rest(ReadPosition::default(), ReadLimits { bytes, ..MANY });
        assert_eq!(calls(&all), [entry(1), entry(2)]);
    }
}

#[test]
fn wrong_positions_are_moved_to_a_line_or_to_the_end() {
    let place = Place::with(3);
    let second = place.page(ReadPosition::default(), MANY).entries[0].after.offset;
    let read = |file, offset| {
        let page = place.page(ReadPosition { file, offset }, MANY);
        assert!(page.is_end);
        page.entries.iter().map(|read| read.seq).collect::<Vec<_>>()
    };
    assert_eq!((read(1, 5), read(0, 0)), (vec![1, 2, 3], vec![1, 2, 3]));
    assert_eq!((read(1, second), read(1, second + 5), read(1, second - 1)), (vec![2, 3], vec![2, 3], vec![1, 2, 3]));
    assert_eq!((read(1, u64::MAX), read(2, 0), read(u64::MAX, u64::MAX)), (vec![], vec![], vec![]));
    fs::remove_file(&place.log).expect("removed");
    assert_eq!(read(1, 0), Vec::<u64>::new(), "no log");
}

#[test]
fn a_log_is_read_while_it_is_written_and_rotated() {
    const COUNT: u64 = 300;
    let place = Place::new();
    let log = place.small_files(None);
    let mut seen = Vec::new();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| append(&log, 1..=COUNT));
        let mut next = ReadPosition::default();
        loop {
            // Before the page is read: then nothing is written after it.
            let is_written = writing.is_finished();
            let page = place.page(next, ReadLimits { entries: 7, ..MANY });
            next = page.next;
            seen.extend(page.entries);
            if is_written && page.is_end {
                break;
            }
        }
    });
    assert_eq!(calls(&seen), (1..=COUNT).map(entry).collect::<Vec<_>>());
    assert!(is_contiguous(&seen));
}

/// Reads page after page from the end back.
fn back(place: &Place, before: Option<ReadPosition>, limits: ReadLimits) -> Vec<ReadEntry> {
    let (mut all, mut next) = (Vec::new(), before);
    loop {
        let page = place.reader().read_newest(next, limits).expect("readable");
        assert!(page.entries.len() <= limits.entries, "{page:?}");
        assert!(page.is_end || next.is_none_or(|next| page.next < next), "{page:?}");
        all.extend(page.entries);
        next = Some(page.next);
        if page.is_end {
            return all;
        }
    }
}

#[test]
fn entries_are_the_same_from_the_end_back() {
    let place = Place::new();
    append(&place.small_files(None), 1..=40);
    assert!(archived(&place.log, 4).exists(), "some files");
    let mut forward = place.rest(ReadPosition::default(), MANY);
    forward.reverse();
    for (bytes, entries) in [(1 << 20, 1000), (1 << 20, 3), (1, 1000), (700, 1000), (u64::MAX, 1)] {
        assert_eq!(back(&place, None, ReadLimits { bytes, entries }), forward, "{bytes} bytes, {entries} entries");
    }
    let middle = forward[20].before;
    assert_eq!(back(&place, Some(middle), MANY), forward[21..], "goes on before a position");
    let newest = place.reader().read_newest(None, ReadLimits { entries: 1, ..MANY }).expect("readable");
    assert_eq!((&newest.entries[..], newest.is_end), (&forward[..1], false));
    assert_eq!(calls(&forward)[0], entry(40), "the newest call is first");
}

#[test]
fn what_is_no_entry_is_skipped_from_the_end_back_too() {
    let place = Place::with(2);
    let lines = place.lines();
    let long = "x".repeat(5 * MAX_LINE);
    place.write(format!("{}\nnot JSON\n{long}\n\n{}\n{{\"seq\":3,\"ti", lines[0], lines[1]));
    for bytes in [1, 1 << 20] {
        assert_eq!(calls(&back(&place, None, ReadLimits { bytes, ..MANY })), [entry(2), entry(1)]);
    }
    let inside = ReadPosition { file: 1, offset: 5 };
    assert_eq!(calls(&back(&place, Some(inside), MANY)), Vec::<Value>::new(), "before the first line");
    assert_eq!(calls(&back(&place, Some(ReadPosition { file: 9, offset: 0 }), MANY)).len(), 2, "after the last file");
    fs::remove_file(&place.log).expect("removed");
    assert_eq!(calls(&back(&place, None, MANY)), Vec::<Value>::new(), "no log");
}

#[test]
fn removed_files_are_skipped_from_the_end_back_too() {
    let place = Place::new();
    append(&place.small_files(Some(2)), 1..=40);
    let all = back(&place, None, ReadLimits { entries: 2, ..MANY });
    assert!(all.len() > 3 && calls(&all)[0] == entry(40), "{all:?}");
    assert_eq!(all.last().expect("an entry").entry["type"], "rotated", "the oldest file that is left");
}
