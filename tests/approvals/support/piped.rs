//! Run whose events are piped to another program, which may decide.

use super::home::{collect, end_of};
use super::{Ended, Home, PATIENCE};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

/// A run with `--events`. Whatever happens to the test, it is over when this is dropped.
pub(crate) struct Piped {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    /// Lines that were read already.
    read: Vec<String>,
    /// Number of events returned by [`Piped::next`].
    seen: usize,
    _home: Home,
}

impl Piped {
    /// Starts a script of the project.
    pub(crate) fn starts(home: &Home, source: &str, options: &[&str]) -> Piped {
        home.write("script.ts", source);
        Piped::starts_file(home, "script.ts", options)
    }

    /// Starts a file of the project.
    pub(crate) fn starts_file(home: &Home, file: &str, options: &[&str]) -> Piped {
        Piped::spawn(home, &["run", file, "--approvals", "pipe"], options)
    }

    /// Starts a script whose calls wait in the store, where this decides nothing.
    pub(crate) fn stored(home: &Home, source: &str, options: &[&str]) -> Piped {
        home.write("script.ts", source);
        Piped::spawn(home, &["run", "script.ts", "--approvals", "store", "--events"], options)
    }

    fn spawn(home: &Home, arguments: &[&str], options: &[&str]) -> Piped {
        let mut command = home.command(arguments);
        command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (tell, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        let stderr = Some(collect(child.stderr.take().unwrap()));
        let stdin = child.stdin.take();
        Piped { stdin, child, lines, stderr, read: Vec::new(), seen: 0, _home: home.clone() }
    }

    /// The next event of this type, after those that were given before.
    pub(crate) fn next(&mut self, kind: &str) -> Value {
        loop {
            while let Some(line) = self.read.get(self.seen) {
                self.seen += 1;
                let event: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if event["type"] == kind {
                    return event;
                }
            }
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => self.read.push(line),
                Err(error) => panic!("no {kind}: {error}, but {:#?}", self.read),
            }
        }
    }

    /// The next request, and its id.
    pub(crate) fn asks(&mut self) -> (String, Value) {
        let event = self.next("approvalRequired");
        (event["approvalId"].as_str().unwrap().to_owned(), event)
    }

    /// Writes a line.
    pub(crate) fn writes(&mut self, line: &str) {
        // A run that has ended reads nothing any more.
        let _ = writeln!(self.stdin.as_mut().unwrap(), "{line}");
    }

    /// Decides about a request.
    pub(crate) fn decides(&mut self, id: &str, decision: &str) {
        self.writes(&json!({ "id": id, "decision": decision, "by": "ada" }).to_string());
    }

    /// Approves a request for longer than a call.
    pub(crate) fn approves_for(&mut self, id: &str, lasts: &str) {
        self.writes(&json!({ "id": id, "decision": "approve", "for": lasts }).to_string());
    }

    /// Decides nothing any more.
    pub(crate) fn closes(&mut self) {
        self.stdin = None;
    }

    /// Stops the process, or lets it go on.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Answers every request in the same way until the run ends, those that were read before first.
    pub(crate) fn answers_all(mut self, decision: &Value) -> Ended {
        let mut answered = 0;
        loop {
            while let Some(line) = self.read.get(answered) {
                answered += 1;
                let event: Value = serde_json::from_str(line).unwrap();
                if event["type"] == "approvalRequired" {
                    let mut decision = decision.clone();
                    decision["id"] = event["approvalId"].clone();
                    self.writes(&decision.to_string());
                }
            }
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => self.read.push(line),
                Err(_) => return self.ends(),
            }
        }
    }

    /// Waits for the end. Pending requests stay undecided.
    pub(crate) fn ends(mut self) -> Ended {
        self.stdin = None;
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            self.read.push(line);
        }
        let status = end_of(&mut self.child);
        let stderr = self.stderr.take().unwrap().join().unwrap();
        Ended { status, stdout: self.read.join("\n"), stderr }
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
