//! Background writing and its failures.

use super::*;
use crate::line::MAX_ENTRY;
use crate::queue::MAX_ENTRIES;
use crate::recorder::{Job, Recorder};
use crate::settings::{MAX_HOST, Settings};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread::sleep;
use std::time::Instant;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

impl Place {
    fn settings(&self) -> Settings {
        Settings {
            log: self.log.clone(),
            heads: self.heads.clone(),
            sync_every: Duration::from_secs(1),
            rotation: None,
            shipping: None,
            host: None,
        }
    }

    fn recorder(&self) -> Recorder {
        warnings::collect();
        Recorder::open_or_retry(self.settings())
    }

    /// Holds the lock as another process would.
    fn hold(&self) -> File {
        let lock = File::options().read(true).append(true).open(self.heads.join("lock")).expect("lock");
        lock.lock().expect("locked");
        lock
    }

    /// Verifies within the current boot.
    fn found(&self) -> Verified {
        self.verification(false).check().expect("nobody changed it")
    }
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONG, "{what}");
        sleep(Duration::from_millis(5));
    }
}

/// Polls whether an entry is written; `None` while that is unknown.
fn written(recorder: &Recorder, number: u64, patience: Duration) -> Option<Result<(), String>> {
    let mut waiting = std::pin::pin!(recorder.written(number, patience));
    match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

#[test]
fn entries_are_written_in_order_and_close_waits_for_them() {
    let place = Place::new();
    let recorder = place.recorder();
    let numbers: Vec<_> = (1..=1000).map(|number| recorder.record(&entry(number))).collect();
    assert_eq!(numbers, (1..=1000).map(Some).collect::<Vec<_>>());
    wait_until("written", || written(&recorder, 1000, LONG) == Some(Ok(())));
    drop(recorder);
    assert_eq!(place.entries(), (1..=1000).map(entry).collect::<Vec<_>>());
    assert_eq!(place.found(), Verified { entries: 1000, ..one_file() });
    assert_eq!(fs::read_dir(place.heads.join("open")).expect("folder").count(), 0, "nobody has it open");
    assert_eq!(place.warnings(), Vec::<String>::new());
}

#[test]
fn entries_name_their_host() {
    let place = Place::new();
    let recorder = Recorder::open(Settings { host: Some("h".repeat(MAX_HOST)), ..place.settings() }).expect("opens");
    // The longest that is written as it is.
    let text = "x".repeat(MAX_ENTRY - json!({ "type": "large", "text": "" }).to_string().len());
    let large = json!({ "type": "large", "text": text });
    for entry in [&json!({ "type": "small" }), &large, &json!("text"), &json!({})] {
        recorder.record(entry).expect("room");
    }
    drop(recorder);
    let entries = place.entries();
    assert_eq!(entries[0], json!({ "type": "small", "host": "h".repeat(MAX_HOST) }));
    assert_eq!((&entries[1]["text"], &entries[1]["host"]), (&large["text"], &entries[0]["host"]));
    assert_eq!(entries[2..], [json!("text"), json!({})]);
    assert_eq!(place.found(), Verified { entries: 4, ..one_file() });
}

#[test]
fn a_long_held_lock_delays_entries_and_loses_none() {
    let place = Place::new();
    let recorder = place.recorder();
    let lock = place.hold();
    recorder.record(&entry(1));
    wait_until("told", || recorder.fault().is_some());
    let number = recorder.record(&entry(2)).expect("room");
    assert_eq!(written(&recorder, number, LONG), None, "it may still be written");
    let why = written(&recorder, number, Duration::ZERO).expect("known").expect_err("not written");
    assert!(why.contains("locked by another process"), "{why}");
    drop(lock);
    wait_until("written", || written(&recorder, number, LONG) == Some(Ok(())));
    assert_eq!(recorder.fault(), None);
    drop(recorder);
    assert_eq!(place.entries(), [entry(1), entry(2)]);
    assert_eq!(place.found(), Verified { entries: 2, ..one_file() });
    let told = place.warnings();
    assert!(told.len() == 2 && told[0].contains("cannot be written") && told[1].contains("written again"), "{told:?}");
}

#[test]
fn entries_over_the_queue_limit_become_a_gap_record() {
    let place = Place::new();
    let recorder = place.recorder();
    let lock = place.hold();
    let taken = (0..MAX_ENTRIES as u64 + 50).filter(|number| recorder.record(&entry(*number)).is_some()).count();
    assert_eq!(taken, MAX_ENTRIES);
    drop(lock);
    wait_until("written", || written(&recorder, MAX_ENTRIES as u64, LONG) == Some(Ok(())));
    assert!(recorder.record(&json!("later")).is_some(), "there is room again");
    drop(recorder);
    let found = place.found();
    assert_eq!((found.entries, found.gaps, found.unwritten), (MAX_ENTRIES as u64 + 2, 50, 0), "{found:?}");
    let entries = place.entries();
    let gap = entries.iter().find(|entry| entry["type"] == "gap").expect("a gap record");
    assert_eq!(gap["entries"], 50);
    for time in ["from", "to"] {
        humantime::parse_rfc3339(gap[time].as_str().expect("text")).expect("a time");
    }
    assert!(!gap["why"].as_str().expect("text").is_empty());
    assert_eq!(entries.last(), Some(&json!("later")));
}

#[test]
fn callers_wait_for_queue_room_but_not_while_writing_fails() {
    let place = Place::new();
    let recorder = place.recorder();
    let has_room = || {
        let mut room = std::pin::pin!(recorder.room());
        room.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
    };
    assert!(has_room());
    let lock = place.hold();
    for number in 0..MAX_ENTRIES as u64 / 2 + 1 {
        recorder.record(&entry(number));
    }
    assert!(!has_room() || recorder.fault().is_some());
    wait_until("told", || recorder.fault().is_some());
    assert!(has_room(), "a log that cannot be written holds nobody up");
    drop(lock);
}

#[test]
fn a_writer_that_fails_to_start_is_retried() {
    let place = Place::new();
    let may_start = Arc::new(AtomicBool::new(false));
    let spawn = {
        let may_start = may_start.clone();
        move |job: Job| match may_start.load(Ordering::SeqCst) {
            true => std::thread::Builder::new().spawn(job).map(drop),
            false => Err(io::Error::from(io::ErrorKind::WouldBlock)),
        }
    };
    let recorder = Recorder::new(place.settings(), Box::new(spawn));
    let first = recorder.record(&entry(1)).expect("room");
    assert!(recorder.fault().expect("told").contains("does not start"));
    assert_eq!(written(&recorder, first, LONG), None);
    may_start.store(true, Ordering::SeqCst);
    wait_until("started", || {
        // The next record retries.
        recorder.record(&json!("again"));
        recorder.fault().is_none()
    });
    drop(recorder);
    assert_eq!(place.entries()[0], entry(1));
    let found = place.found();
    assert_eq!((found.gaps, found.unwritten, found.lost), (0, 0, 0), "{found:?}");
}

#[test]
fn without_a_thread_close_writes() {
    let place = Place::new();
    let spawn = |_: Job| Err(io::Error::from(io::ErrorKind::WouldBlock));
    let recorder = Recorder::new(place.settings(), Box::new(spawn));
    recorder.record(&entry(1));
    recorder.record(&entry(2));
    drop(recorder);
    assert_eq!(place.entries(), [entry(1), entry(2)]);
    assert_eq!(place.found(), Verified { entries: 2, ..one_file() });
}

#[test]
fn open_fails_at_once_if_the_log_cannot_be_opened() {
    let place = Place::new();
    fs::create_dir_all(&place.log).expect("a folder in the log's place");
    let refused = Recorder::open(place.settings());
    assert!(matches!(refused, Err(AuditError::WrongKind { .. })), "{refused:?}");
    fs::remove_dir(&place.log).expect("removed");
    drop(Recorder::open(place.settings()).expect("opens"));
}

#[test]
fn unwritten_entries_are_reported_after_the_process_ends() {
    let place = Place::new();
    let recorder = place.recorder();
    recorder.record(&entry(1));
    wait_until("written", || written(&recorder, 1, LONG) == Some(Ok(())));
    let lock = place.hold();
    recorder.record(&entry(2));
    recorder.record(&entry(3));
    drop(recorder);
    assert!(place.warnings().last().expect("told").starts_with("2 entries were not written"));
    drop(lock);
    let found = place.found();
    assert_eq!((found.entries, found.unwritten, found.gaps), (1, 2, 0), "{found:?}");
    AuditLog::open(&place.log, &place.heads).and_then(|log| log.append(&[entry(4)])).expect("appended");
    let found = place.found();
    assert_eq!((found.entries, found.unwritten, found.gaps), (3, 0, 2), "{found:?}");
    assert_eq!(place.entries()[1]["type"], "gap");
    // It is told once.
    AuditLog::open(&place.log, &place.heads).and_then(|log| log.append(&[entry(5)])).expect("appended");
    assert_eq!(place.found().gaps, 2);
}

#[test]
fn lines_whose_signing_fails_are_not_written_twice() {
    let place = Place::with(2);
    let log = place.open().sync_every(Duration::ZERO);
    let obstacle = place.heads.join("head.json.new");
    fs::create_dir(&obstacle).expect("a folder in the way of the head");
    log.append(&[entry(3)]).expect_err("not signed");
    assert_eq!(place.entries().len(), 2);
    fs::remove_dir(&obstacle).expect("removed");
    log.append(&[entry(3)]).expect("signed");
    assert_eq!(place.entries(), (1..=3).map(entry).collect::<Vec<_>>());
    assert_eq!(place.verify(), Ok(Verified { entries: 3, ..one_file() }));
}
