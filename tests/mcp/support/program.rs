//! Running the command to its end.

pub(crate) use crate::command_output::CommandOutput;

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Timeout of a command.
const TIMEOUT: Duration = Duration::from_secs(100);

/// Runs a command without stdin; kills it and panics after the timeout.
pub(crate) fn finish(mut command: Command) -> CommandOutput {
    let shown = format!("{command:?}");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (stdout, stderr) = (collect(child.stdout.take().unwrap()), collect(child.stderr.take().unwrap()));
    let status = wait_with_timeout(&mut child, &shown);
    CommandOutput { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

fn wait_with_timeout(child: &mut Child, shown: &str) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if begun.elapsed() > TIMEOUT {
            let _ = child.kill();
            panic!("it hangs: {shown}");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn collect(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
