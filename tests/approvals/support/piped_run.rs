//! Run whose events are piped to another program, which may decide.

use super::home::{collect, wait_with_timeout};
use super::{Home, RunOutput, TIMEOUT};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

/// Run with `--events`, killed on drop.
pub(crate) struct PipedRun {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    /// Lines that were read already.
    read: Vec<String>,
    /// Number of events returned by [`PipedRun::next`].
    seen: usize,
    _home: Home,
}

impl PipedRun {
    /// Starts a script of the project.
    pub(crate) fn starts(home: &Home, source: &str, options: &[&str]) -> PipedRun {
        home.write("script.ts", source);
        PipedRun::starts_file(home, "script.ts", options)
    }

    /// Starts a file of the project.
    pub(crate) fn starts_file(home: &Home, file: &str, options: &[&str]) -> PipedRun {
        PipedRun::spawn(home, &["run", file, "--approvals", "pipe"], options)
    }

    /// Starts a script whose calls wait in the store.
    pub(crate) fn stored(home: &Home, source: &str, options: &[&str]) -> PipedRun {
        home.write("script.ts", source);
        PipedRun::spawn(home, &["run", "script.ts", "--approvals", "store", "--events"], options)
    }

    fn spawn(home: &Home, arguments: &[&str], options: &[&str]) -> PipedRun {
        let mut command = home.command(arguments);
        command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (tell, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        let stderr = Some(collect(child.stderr.take().unwrap()));
        let stdin = child.stdin.take();
        PipedRun { stdin, child, lines, stderr, read: Vec::new(), seen: 0, _home: home.clone() }
    }

    /// Returns the next event of this type.
    pub(crate) fn next(&mut self, kind: &str) -> Value {
        loop {
            while let Some(line) = self.read.get(self.seen) {
                self.seen += 1;
                let event: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if event["type"] == kind {
                    return event;
                }
            }
            match self.lines.recv_timeout(TIMEOUT) {
                Ok(line) => self.read.push(line),
                Err(error) => panic!("no {kind}: {error}, but {:#?}", self.read),
            }
        }
    }

    /// Waits until the script prints this, which it may have done before the events that were returned last.
    pub(crate) fn prints(&mut self, text: &str) {
        let is_it = |line: &String| {
            serde_json::from_str::<Value>(line)
                .is_ok_and(|event| (&event["type"], &event["text"]) == (&"console".into(), &text.into()))
        };
        while !self.read.iter().any(is_it) {
            match self.lines.recv_timeout(TIMEOUT) {
                Ok(line) => self.read.push(line),
                Err(error) => panic!("`{text}` is not printed: {error}, but {:#?}", self.read),
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
        // Ignore a run that has ended.
        let _ = writeln!(self.stdin.as_mut().unwrap(), "{line}");
    }

    /// Decides about a request.
    pub(crate) fn decides(&mut self, id: &str, decision: &str) {
        self.writes(&json!({ "id": id, "decision": decision, "by": "ada" }).to_string());
    }

    /// Approves a request with a scope.
    pub(crate) fn approves_for(&mut self, id: &str, lasts: &str) {
        self.writes(&json!({ "id": id, "decision": "approve", "for": lasts }).to_string());
    }

    /// Closes the stream of decisions.
    pub(crate) fn closes(&mut self) {
        self.stdin = None;
    }

    /// Sends the process a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Answers every request in the same way until the run ends, those that were read before first.
    pub(crate) fn answers_all(mut self, decision: &Value) -> RunOutput {
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
            match self.lines.recv_timeout(TIMEOUT) {
                Ok(line) => self.read.push(line),
                Err(_) => return self.ends(),
            }
        }
    }

    /// Waits for the end. Pending requests stay undecided.
    pub(crate) fn ends(mut self) -> RunOutput {
        self.stdin = None;
        while let Ok(line) = self.lines.recv_timeout(TIMEOUT) {
            self.read.push(line);
        }
        let status = wait_with_timeout(&mut self.child);
        let stderr = self.stderr.take().unwrap().join().unwrap();
        RunOutput { status, stdout: self.read.join("\n"), stderr }
    }
}

impl Drop for PipedRun {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
