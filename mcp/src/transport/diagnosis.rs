//! What is known of a server's process when something went wrong: its last words and its end.

use super::excerpt::{KEPT, LONGEST, shown};
use super::lines::{Line, Lines};
use crate::trace::one_line;
use crate::{ConnectError, Context};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncRead;

/// How many of the last lines are kept.
const LINES: usize = 10;

/// How many bytes of the last lines are kept.
const BYTES: usize = 2 << 10;

/// What is known of a server's process. Clones see the same.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    program: String,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<String>,
    bytes: usize,
    status: Option<String>,
    could_not_start: bool,
    has_spoken: bool,
}

impl Diagnosis {
    pub(super) fn new(program: &str) -> Diagnosis {
        Diagnosis { program: program.to_owned(), state: Arc::default() }
    }

    /// The last lines that it wrote to stderr, without secrets, as one line: it must not look like one of ours.
    pub fn last_stderr(&self) -> String {
        self.with(|state| state.lines.iter().map(String::as_str).collect::<Vec<_>>().join(" / "))
    }

    /// Whether it has sent a message.
    pub(crate) fn has_spoken(&self) -> bool {
        self.with(|state| state.has_spoken)
    }

    pub(super) fn note_spoken(&self) {
        self.with(|state| state.has_spoken = true);
    }

    /// How it ended, if it did.
    pub fn exit_status(&self) -> Option<String> {
        self.with(|state| state.status.clone())
    }

    /// The error of a server whose process ended, if it did.
    pub fn ended(&self) -> Option<ConnectError> {
        let status = self.exit_status()?;
        let stderr = self.last_stderr();
        Some(if self.with(|state| state.could_not_start) {
            ConnectError::Start { program: self.program.clone(), message: stderr }
        } else {
            ConnectError::Ended { status, stderr }
        })
    }

    /// The error of a server that did not answer in time.
    pub fn timeout(&self, after: Duration) -> ConnectError {
        ConnectError::Timeout { after, stderr: self.last_stderr() }
    }

    pub(super) fn note_end(&self, status: String, could_not_start: bool) {
        self.with(|state| {
            state.status = Some(status);
            state.could_not_start = could_not_start;
        });
    }

    /// Reads stderr to its end.
    pub(super) async fn listen(self, stderr: impl AsyncRead + Unpin, context: Context, server: String) {
        let mut lines = Lines::new(stderr, KEPT);
        while let Some(Line::Whole(line) | Line::TooLong { beginning: line, .. }) = lines.next().await {
            let text = String::from_utf8_lossy(&line);
            let text = one_line(&shown(&context.redactor, text.trim_end(), LONGEST));
            context.trace.line(&server, || format!("stderr: {text}"));
            self.note_line(text);
            // Whoever floods us does not keep others from their turn.
            tokio::task::yield_now().await;
        }
    }

    fn note_line(&self, line: String) {
        if line.is_empty() {
            return;
        }
        self.with(|state| {
            state.bytes = state.bytes.saturating_add(line.len());
            state.lines.push_back(line);
            while state.lines.len() > LINES || (state.bytes > BYTES && state.lines.len() > 1) {
                let gone = state.lines.pop_front().map_or(0, |line| line.len());
                state.bytes = state.bytes.saturating_sub(gone);
            }
        });
    }

    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn after(stderr: &[u8]) -> Diagnosis {
        let diagnosis = Diagnosis::new("server");
        diagnosis.clone().listen(stderr, Context::default(), "s".to_owned()).await;
        diagnosis
    }

    #[tokio::test]
    async fn the_last_lines_are_kept() {
        let many: String = (0..100).map(|line| format!("line {line}\n\n")).collect();
        let kept = after(many.as_bytes()).await.last_stderr();
        assert_eq!(kept.split(" / ").count(), LINES);
        assert!(kept.starts_with("line 90 / ") && kept.ends_with(" / line 99"), "{kept}");
    }

    #[tokio::test]
    async fn however_much_is_written_little_is_kept() {
        let long = "x".repeat(1 << 20);
        assert!(after(long.as_bytes()).await.last_stderr().len() <= LONGEST + '…'.len_utf8());
        let lines = format!("{}\n", "y".repeat(1000)).repeat(50);
        assert!(after(lines.as_bytes()).await.last_stderr().len() <= BYTES);
        assert_eq!(after(b"\xff bad\n").await.last_stderr(), "\u{fffd} bad");
    }

    #[tokio::test]
    async fn errors_hold_what_is_known() {
        let diagnosis = after(b"boom\n").await;
        assert_eq!(diagnosis.ended(), None);
        let second = Duration::from_secs(1);
        assert_eq!(diagnosis.timeout(second), ConnectError::Timeout { after: second, stderr: "boom".to_owned() });
        diagnosis.note_end("exit status 1".to_owned(), false);
        let ended = ConnectError::Ended { status: "exit status 1".to_owned(), stderr: "boom".to_owned() };
        assert_eq!(diagnosis.ended(), Some(ended));
        diagnosis.note_end("exit status 125".to_owned(), true);
        let start = ConnectError::Start { program: "server".to_owned(), message: "boom".to_owned() };
        assert_eq!(diagnosis.ended(), Some(start));
    }
}
