//! Several processes that append to one log, are killed, or run out of disk space.

#![allow(clippy::expect_used)] // A test, though it has a `main` of its own.

use agent_spaces_audit_log::{AuditLog, Recorder, Settings, Verified, verify};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

const PROCESSES: usize = 3;
const ROUNDS: u64 = 8;

/// With a log and a head folder as arguments, it is one of the processes.
fn main() {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    match (std::env::var("AUDIT_LOG_PROCESS").as_deref(), arguments.next(), arguments.next()) {
        (Ok("append"), Some(log), Some(heads)) => append_until_killed(&log, &heads),
        (Ok("record"), Some(log), Some(heads)) => record_until_killed(&log, &heads),
        (Ok("full"), Some(log), Some(heads)) => record_on_a_full_disk(&log, &heads, true),
        (Ok("full to the end"), Some(log), Some(heads)) => record_on_a_full_disk(&log, &heads, false),
        _ => {
            kill_processes_and_verify();
            kill_a_process_with_entries_in_its_queue();
            fill_the_disk_and_make_room();
            fill_the_disk_to_the_end();
        }
    }
}

/// Prints a byte for every written entry.
fn append_until_killed(log: &Path, heads: &Path) {
    let log = AuditLog::open(log, heads).expect("opens");
    let mut out = std::io::stdout();
    for number in 0.. {
        log.append(&[json!({ "process": std::process::id(), "number": number })]).expect("appended");
        out.write_all(b"\n").and_then(|()| out.flush()).expect("heard");
    }
}

fn kill_processes_and_verify() {
    let folder = tempfile::tempdir().expect("folder");
    let (log, heads) = (folder.path().join("log/audit.jsonl"), folder.path().join("heads"));
    let mut said = 0;
    for round in 1..=ROUNDS {
        let mut children: Vec<Child> = (0..PROCESSES).map(|_| start("append", &log, &heads)).collect();
        for child in &mut children {
            // All of them have begun.
            let output = child.stdout.as_mut().expect("output");
            let mut line = String::new();
            BufReader::with_capacity(1, output).read_line(&mut line).expect("read");
            said += line.len() as u64;
        }
        std::thread::sleep(Duration::from_millis(20 + 7 * round));
        for child in &mut children {
            child.kill().expect("killed");
        }
        for mut child in children {
            child.wait().expect("ended");
            let mut rest = Vec::new();
            child.stdout.take().expect("output").read_to_end(&mut rest).expect("read");
            said += rest.len() as u64;
        }
        let verified = verify(&log, &heads).expect("nobody changed it");
        let most = said + round * PROCESSES as u64 * 2;
        assert!((said..=most).contains(&verified.entries), "{said} were written, {verified:?}");
    }
    AuditLog::open(&log, &heads).and_then(|log| log.append(&[json!("the end")])).expect("appended");
    let verified = verify(&log, &heads).expect("nobody changed it");
    println!("{PROCESSES} processes, killed {ROUNDS} times: {verified:?}");
}

fn start(what: &str, log: &Path, heads: &Path) -> Child {
    let program = std::env::current_exe().expect("this program");
    // Exceeding the file size limit must be an error, as on a full disk, not a signal.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]).arg(program).args([log, heads]);
    command.env("AUDIT_LOG_PROCESS", what).stdout(Stdio::piped());
    command.spawn().expect("started")
}

fn recorder(log: &Path, heads: &Path) -> Recorder {
    let (log, heads, sync_every) = (log.to_owned(), heads.to_owned(), Duration::from_secs(1));
    Recorder::open_or_retry(Settings { log, heads, sync_every, rotation: None, shipping: None, host: None })
}

/// Prints a byte for every accepted entry.
fn record_until_killed(log: &Path, heads: &Path) {
    let recorder = recorder(log, heads);
    let mut out = std::io::stdout();
    for number in 0..5 {
        recorder.record(&json!({ "number": number })).expect("taken");
        out.write_all(b"\n").and_then(|()| out.flush()).expect("heard");
    }
    std::thread::sleep(Duration::from_secs(600));
}

/// Another process holds the lock, so nothing is written when the process is killed.
fn kill_a_process_with_entries_in_its_queue() {
    let folder = tempfile::tempdir().expect("folder");
    let (log, heads) = (folder.path().join("log/audit.jsonl"), folder.path().join("heads"));
    let first = AuditLog::open(&log, &heads).expect("opens");
    first.append(&[json!("first")]).expect("appended");
    first.flush().expect("flushed");
    let lock = std::fs::File::open(heads.join("lock")).expect("lock");
    // As verification does: nobody can write meanwhile.
    lock.lock_shared().expect("locked");
    let mut child = start("record", &log, &heads);
    let mut lines = BufReader::new(child.stdout.take().expect("output")).lines();
    for _ in 0..5 {
        lines.next().expect("a line").expect("read");
    }
    assert_eq!(verify(&log, &heads).expect("nobody changed it").waiting, 5, "they wait in a process that lives");
    child.kill().expect("killed");
    child.wait().expect("ended");
    let found = verify(&log, &heads).expect("nobody changed it");
    assert_eq!((found.entries, found.unwritten, found.gaps), (1, 5, 0), "{found:?}");
    drop(lock);
    AuditLog::open(&log, &heads).and_then(|log| log.append(&[json!("next")])).expect("appended");
    let found = verify(&log, &heads).expect("nobody changed it");
    assert_eq!((found.entries, found.unwritten, found.gaps), (3, 0, 5), "{found:?}");
    println!("killed with 5 entries in its queue: {found:?}");
}

const BEFORE: u64 = 3;
const WHILE_FULL: u64 = 20;

/// Records while no file may grow, and again when they may.
fn record_on_a_full_disk(log: &Path, heads: &Path, is_room_made: bool) {
    let recorder = recorder(log, heads);
    for number in 1..=BEFORE {
        recorder.record(&json!({ "number": number })).expect("taken");
    }
    wait_until(|| is_written(&recorder, BEFORE));
    let limit = getrlimit(Resource::Fsize);
    let length = std::fs::metadata(log).expect("a log").len();
    let full = Rlimit { current: Some(length + 100), ..limit };
    // Heads are larger than this log, but are overwritten in place: the limit concerns growth only.
    let full = Rlimit { current: full.current.map(|current| current.max(1024)), ..full };
    setrlimit(Resource::Fsize, full).expect("limited");
    for number in BEFORE + 1..=BEFORE + WHILE_FULL {
        recorder.record(&json!({ "number": number, "text": "x".repeat(200) })).expect("taken");
    }
    wait_until(|| recorder.fault().is_some_and(|why| why.contains("File too large")));
    if is_room_made {
        setrlimit(Resource::Fsize, limit).expect("unlimited");
        wait_until(|| is_written(&recorder, BEFORE + WHILE_FULL));
        assert_eq!(recorder.fault(), None);
    }
}

fn fill_the_disk(what: &str) -> (tempfile::TempDir, PathBuf, PathBuf, Verified) {
    let folder = tempfile::tempdir().expect("folder");
    let (log, heads) = (folder.path().join("log/audit.jsonl"), folder.path().join("heads"));
    assert!(start(what, &log, &heads).wait().expect("ended").success());
    let found = verify(&log, &heads).expect("nobody changed it");
    (folder, log, heads, found)
}

fn fill_the_disk_and_make_room() {
    let (_folder, _, _, found) = fill_the_disk("full");
    assert_eq!(found, Verified { entries: BEFORE + WHILE_FULL, files: 1, ..Verified::default() });
    println!("the disk was full for a while: {found:?}");
}

fn fill_the_disk_to_the_end() {
    let (_folder, log, heads, found) = fill_the_disk("full to the end");
    assert!(found.unwritten > 0 && found.entries + found.unwritten == BEFORE + WHILE_FULL, "{found:?}");
    AuditLog::open(&log, &heads).and_then(|log| log.append(&[json!("next")])).expect("appended");
    let later = verify(&log, &heads).expect("nobody changed it");
    assert_eq!((later.unwritten, later.gaps), (0, found.unwritten), "{later:?}");
    println!("the disk was full to the end: {later:?}");
}

fn is_written(recorder: &Recorder, number: u64) -> bool {
    let mut written = std::pin::pin!(recorder.written(number, Duration::from_secs(600)));
    matches!(written.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(())))
}

fn wait_until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it took too long");
        std::thread::sleep(Duration::from_millis(5));
    }
}
