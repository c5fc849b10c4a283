//! Running the command to its end.

pub(crate) use crate::command_output::CommandOutput;

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Timeout of a command.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Running command.
pub(crate) struct RunningCommand {
    child: Child,
    shown: String,
    stdout: thread::JoinHandle<String>,
    stderr: thread::JoinHandle<String>,
}

impl RunningCommand {
    /// Starts a command without stdin.
    pub(crate) fn start(mut command: Command) -> RunningCommand {
        let shown = format!("{command:?}");
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdout, stderr) = (collect(child.stdout.take().unwrap()), collect(child.stderr.take().unwrap()));
        RunningCommand { child, shown, stdout, stderr }
    }

    /// Waits for its end; kills it and panics after the timeout.
    pub(crate) fn finish(mut self) -> CommandOutput {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            if begun.elapsed() > TIMEOUT {
                let _ = self.child.kill();
                panic!("it hangs: {}", self.shown);
            }
            thread::sleep(Duration::from_millis(5));
        };
        CommandOutput { status, stdout: self.stdout.join().unwrap(), stderr: self.stderr.join().unwrap() }
    }
}

fn collect(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
