//! The command, run to its end.

use serde_json::Value;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// No command of a test takes longer, unless it hangs.
const LONGEST: Duration = Duration::from_secs(60);

/// What a command said, and how it ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    /// The JSON of its last line.
    pub(crate) fn json(&self) -> Value {
        let last = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The value of a run, which must have one.
    pub(crate) fn value(&self) -> Value {
        let report = self.json();
        assert_eq!(report["ok"], true, "{report}\n{}", self.stderr);
        report["value"].clone()
    }

    /// The code and the message of the error that it ended with.
    pub(crate) fn error(&self) -> (String, String) {
        let error = &self.json()["error"];
        let text = |name: &str| error[name].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned();
        (text("code"), text("message"))
    }

    /// Every line as JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A command that has begun.
pub(crate) struct Begun {
    child: Child,
    shown: String,
    stdout: thread::JoinHandle<String>,
    stderr: thread::JoinHandle<String>,
}

impl Begun {
    /// Starts a command with nothing to read.
    pub(crate) fn start(mut command: Command) -> Begun {
        let shown = format!("{command:?}");
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdout, stderr) = (collect(child.stdout.take().unwrap()), collect(child.stderr.take().unwrap()));
        Begun { child, shown, stdout, stderr }
    }

    /// Waits for its end, and not for ever.
    pub(crate) fn finish(mut self) -> Done {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            if begun.elapsed() > LONGEST {
                let _ = self.child.kill();
                panic!("it hangs: {}", self.shown);
            }
            thread::sleep(Duration::from_millis(5));
        };
        Done { status, stdout: self.stdout.join().unwrap(), stderr: self.stderr.join().unwrap() }
    }
}

fn collect(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
