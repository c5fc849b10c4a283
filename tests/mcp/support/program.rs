//! Running the command to its end.

pub(crate) use crate::done::Done;

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// No command of a test takes longer, unless it hangs.
const LONGEST: Duration = Duration::from_secs(100);

/// Runs a command with nothing to read, and does not wait for ever.
pub(crate) fn finish(mut command: Command) -> Done {
    let shown = format!("{command:?}");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (stdout, stderr) = (collect(child.stdout.take().unwrap()), collect(child.stderr.take().unwrap()));
    let status = end_of(&mut child, &shown);
    Done { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

fn end_of(child: &mut Child, shown: &str) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if begun.elapsed() > LONGEST {
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
