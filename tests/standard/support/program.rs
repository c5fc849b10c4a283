//! Running the command to its end.

pub(crate) use crate::done::Done;

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// No command of a test takes longer, unless it hangs.
const LONGEST: Duration = Duration::from_secs(60);

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
