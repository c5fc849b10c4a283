//! Several processes append to one log, and are killed at it.

#![allow(clippy::expect_used)] // A test, though it has a `main` of its own.

use agent_spaces_audit_log::{AuditLog, verify};
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PROCESSES: usize = 3;
const ROUNDS: u64 = 8;

/// Called with a log and a head folder, it is one of the processes.
fn main() {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    match (std::env::var_os("AUDIT_LOG_PROCESS"), arguments.next(), arguments.next()) {
        (Some(_), Some(log), Some(heads)) => append_until_killed(&log, &heads),
        _ => kill_processes_and_verify(),
    }
}

/// Says a byte for every entry that was written.
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
        let mut children: Vec<Child> = (0..PROCESSES).map(|_| start(&log, &heads)).collect();
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

fn start(log: &Path, heads: &Path) -> Child {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args([log, heads]).env("AUDIT_LOG_PROCESS", "1").stdout(Stdio::piped());
    command.spawn().expect("started")
}
