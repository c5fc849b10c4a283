//! Processes that die at every step of the writer, or at any moment, or whose disk is full, and what is left of their runs.

#![allow(clippy::expect_used)] // A test, though it has a `main` of its own.

use agent_spaces_journal::sqlite::FaultPoint;
use agent_spaces_journal::{Content, Entry, NewRun, Settings, SqliteStore, Status, Store, StoreError, Summary, Wake};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(3600);

/// Writes of the process that aborts.
const APPENDS: u64 = 3;

/// Name of the process whose disk is full for a while.
const FULL: &str = "full";

/// More than its writer has steps.
const MOST_STEPS: u64 = 100;

/// With a folder as argument, it is one of the processes.
fn main() {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    match (std::env::var("JOURNAL_PROCESS"), arguments.next()) {
        (Ok(what), Some(folder)) => match what.parse() {
            Ok(step) => append_and_abort(&folder, step),
            Err(_) if what == FULL => append_on_a_full_disk(&folder),
            Err(_) => append_until_killed(&folder, &what),
        },
        _ => {
            abort_at_every_step();
            kill_processes_that_share_a_store();
            fill_the_disk_and_make_room();
        }
    }
}

fn new(id: &str) -> NewRun {
    NewRun { id: id.to_owned(), summary: Summary::default(), lease: LEASE, content: vec![] }
}

/// Content of the run of the process that aborts.
fn program() -> Content {
    Content::new(vec![7_u8; 20_000])
}

fn entry(number: u64) -> Entry {
    Entry::new("number", 0, number.to_string())
}

/// Prints a line for what is flushed.
fn say() {
    let mut out = std::io::stdout();
    out.write_all(b"\n").and_then(|()| out.flush()).expect("heard");
}

fn append_and_abort(folder: &Path, step: u64) {
    let faults = move |point: FaultPoint| {
        if point.index == step {
            std::process::abort();
        }
    };
    let settings = Settings { faults: Some(Arc::new(faults)), ..Settings::default() };
    let store = SqliteStore::open(folder, settings).expect("opens");
    let run = NewRun { content: vec![program()], ..new("run_1") };
    let (claim, created) = store.create(run, store.owner(), vec![]);
    created.wait().expect("created");
    say();
    for number in 0..APPENDS {
        // Two entries: both or none.
        let entries = vec![entry(2 * number), entry(2 * number + 1)];
        store.append(&claim, 2 * number, entries).wait().expect("appended");
        say();
    }
    let wake = Wake { at_ms: Some(0), keys: vec![] };
    store.park(&claim, 2 * APPENDS, vec![entry(2 * APPENDS)], wake).wait().expect("parked");
    say();
}

fn abort_at_every_step() {
    let mut steps = 0;
    for step in 0..MOST_STEPS {
        let outer = tempfile::tempdir().expect("folder");
        let folder = outer.path().join("journal");
        let mut child = start(&step.to_string(), &folder);
        let said = BufReader::new(child.stdout.take().expect("output")).lines().count() as u64;
        let is_whole = child.wait().expect("ended").success();
        check_what_is_left(&folder, step, said);
        if is_whole {
            assert_eq!(said, APPENDS + 2);
            break;
        }
        steps += 1;
    }
    // Before and after each write and each commit.
    assert_eq!(steps, 4 * (APPENDS + 2));
    println!("aborted at each of {steps} steps: all that was flushed is there");
}

fn check_what_is_left(folder: &Path, step: u64, said: u64) {
    let store = SqliteStore::open(folder, Settings::default()).expect("opens");
    let run = wait(store.run("run_1")).expect("read");
    let has_content = wait(store.has_blob(program().hash())).expect("read");
    assert_eq!(has_content, run.is_some(), "step {step}: a run and its content are stored together");
    let Some(run) = run else {
        assert_eq!(said, 0, "step {step}: a run is lost");
        return;
    };
    let entries = wait(store.read("run_1", 0, 100)).expect("read");
    let written = entries.len() as u64;
    // Creation, two entries an append, one at parking.
    let flushed = match said {
        0 => 0,
        said if said == APPENDS + 2 => 2 * APPENDS + 1,
        said => 2 * (said - 1),
    };
    let most = if said == APPENDS + 1 { flushed + 1 } else { flushed + 2 };
    assert!((flushed..=most).contains(&written), "step {step}: {said} flushed, {written} entries");
    assert!(written.is_multiple_of(2) || written == 2 * APPENDS + 1, "step {step}: half a write: {written}");
    assert_eq!(run.next_seq, written);
    for (entry, number) in entries.iter().zip(0_u64..) {
        assert_eq!((entry.seq, entry.body.as_slice()), (number, number.to_string().as_bytes()));
    }
    let expected = if written == 2 * APPENDS + 1 { Status::Parked } else { Status::Running };
    assert_eq!(run.status, expected, "step {step}");
    // The lease is long, but its owner is dead.
    let claim = wait(store.claim("run_1", store.owner(), LEASE)).expect("claimed");
    assert_eq!((claim.epoch, claim.next_seq), (2, written));
    store.append(&claim, written, vec![entry(written)]).wait().expect("appended");
}

/// Keeps several writes queued, and prints a line for each that is flushed.
fn append_until_killed(folder: &Path, id: &str) {
    let store = SqliteStore::open(folder, Settings::default()).expect("opens");
    let (claim, created) = store.create(new(id), store.owner(), vec![]);
    created.wait().expect("created");
    let mut queued = std::collections::VecDeque::new();
    for number in 0.. {
        queued.push_back(store.append(&claim, number, vec![entry(number)]));
        if queued.len() > 8 {
            queued.pop_front().expect("some").wait().expect("appended");
            say();
        }
    }
}

fn kill_processes_that_share_a_store() {
    const IDS: [&str; 3] = ["run_a", "run_b", "run_c"];
    let outer = tempfile::tempdir().expect("folder");
    let folder = outer.path().join("journal");
    let mut children = IDS.map(|id| start(id, &folder));
    let mut outputs = Vec::new();
    for child in &mut children {
        // All of them have begun.
        let mut lines = BufReader::new(child.stdout.take().expect("output")).lines();
        lines.next().expect("a line").expect("read");
        outputs.push(lines);
    }
    std::thread::sleep(Duration::from_millis(150));
    for child in &mut children {
        child.kill().expect("killed");
        child.wait().expect("ended");
    }
    let store = SqliteStore::open(&folder, Settings::default()).expect("opens");
    let mut due = wait(store.due(0, 10)).expect("read");
    due.sort();
    assert_eq!(due, IDS, "their owners are dead");
    for (id, lines) in IDS.into_iter().zip(outputs) {
        let flushed = 1 + lines.count();
        let entries = wait(store.read(id, 0, usize::MAX)).expect("read");
        assert!(entries.len() >= flushed, "{id}: {flushed} flushed, {} there", entries.len());
        let is_in_order = |(index, seq): (usize, u64)| index as u64 == seq;
        assert!(entries.iter().map(|entry| entry.seq).enumerate().all(is_in_order), "{id}");
        println!("{id}: killed after {flushed} flushed appends, {} are there", entries.len());
    }
}

/// Writes fail in the middle of a transaction or at its commit, for all runs of the batch; later ones succeed.
fn append_on_a_full_disk(folder: &Path) {
    const IDS: [&str; 2] = ["run_a", "run_b"];
    let store = SqliteStore::open(folder, Settings::default()).expect("opens");
    let mut claims = IDS.map(|id| {
        let (claim, created) = store.create(new(id), store.owner(), vec![entry(0)]);
        created.wait().expect("created");
        claim
    });
    let limit = getrlimit(Resource::Fsize);
    for room in [0, 5_000, 30_000] {
        let log = std::fs::metadata(folder.join("journal.sqlite-wal")).expect("a log").len();
        setrlimit(Resource::Fsize, Rlimit { current: Some(log + room), ..limit }).expect("limited");
        let large = Entry::new("large", 0, vec![b'x'; 100_000]);
        let tickets = claims.each_ref().map(|claim| store.append(claim, 1, vec![large.clone()]));
        for ticket in tickets {
            let error = ticket.wait().expect_err("there is no room");
            assert!(matches!(error, StoreError::Full(_) | StoreError::Io(_)), "{error:?}");
        }
        assert_eq!(wait(store.read("run_a", 0, 10)).expect("read").len(), 1);
        setrlimit(Resource::Fsize, limit).expect("unlimited");
        assert!(store.append(&claims[0], 1, vec![entry(1)]).wait().is_err(), "the claim is void");
        claims = claims.map(|claim| {
            store.release(&claim).wait().expect("released");
            let next = wait(store.claim(&claim.run, store.owner(), LEASE)).expect("claimed");
            assert_eq!((next.epoch, next.next_seq), (claim.epoch + 1, 1), "nothing of what failed was written");
            next
        });
    }
    for claim in &claims {
        store.append(claim, 1, vec![entry(1)]).wait().expect("appended");
    }
}

fn fill_the_disk_and_make_room() {
    let outer = tempfile::tempdir().expect("folder");
    let folder = outer.path().join("journal");
    let output = start(FULL, &folder).wait_with_output().expect("ended");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let store = SqliteStore::open(&folder, Settings::default()).expect("opens");
    for id in ["run_a", "run_b"] {
        let entries = wait(store.read(id, 0, 10)).expect("read");
        assert_eq!(entries.iter().map(|entry| entry.body.as_slice()).collect::<Vec<_>>(), [b"0", b"1"]);
    }
    println!("the disk was full for a while: both runs go on");
}

fn start(what: &str, folder: &Path) -> Child {
    let program = std::env::current_exe().expect("this program");
    // Exceeding the file size limit must be an error, as on a full disk, not a signal.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]).arg(program).arg(folder);
    command.env("JOURNAL_PROCESS", what).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("started")
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("runtime").block_on(future)
}
