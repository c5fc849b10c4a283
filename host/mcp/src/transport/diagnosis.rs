//! Diagnosis of a server's process: its last stderr output and its exit status.

use super::excerpt::{KEPT, LONGEST, shown};
use super::lines::{Line, Lines};
use crate::trace::one_line;
use crate::{ConnectError, Context};
use agent_spaces_process::StartError;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncRead;

/// Number of last lines that are kept.
const LINES: usize = 10;

/// Total bytes of last lines that are kept.
const BYTES: usize = 2 << 10;

/// Diagnosis of a server's process. Clones share their state.
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
    has_sent_message: bool,
}

impl Diagnosis {
    pub(super) fn new(program: &str) -> Diagnosis {
        Diagnosis { program: program.to_owned(), state: Arc::default() }
    }

    /// Returns the last lines of stderr, without secrets, joined to one line so that none can pass for a line of our log.
    pub fn last_stderr(&self) -> String {
        self.with(|state| state.lines.iter().map(String::as_str).collect::<Vec<_>>().join(" / "))
    }

    /// Returns true if the process has sent a message.
    pub(crate) fn has_sent_message(&self) -> bool {
        self.with(|state| state.has_sent_message)
    }

    pub(super) fn note_message(&self) {
        self.with(|state| state.has_sent_message = true);
    }

    /// Returns the exit status, if the process ended.
    pub fn exit_status(&self) -> Option<String> {
        self.with(|state| state.status.clone())
    }

    /// Returns the error for a process that ended.
    pub fn ended(&self) -> Option<ConnectError> {
        let status = self.exit_status()?;
        let stderr = self.last_stderr();
        Some(if self.with(|state| state.could_not_start) {
            ConnectError::Start(StartError { program: self.program.clone(), message: stderr })
        } else {
            ConnectError::Ended { status, stderr }
        })
    }

    /// Returns the error for a server that did not answer in time.
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
            // A flood of output must not starve other tasks.
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
    async fn the_kept_output_is_bounded() {
        let long = "x".repeat(1 << 20);
        assert!(after(long.as_bytes()).await.last_stderr().len() <= LONGEST + '…'.len_utf8());
        let lines = format!("{}\n", "y".repeat(1000)).repeat(50);
        assert!(after(lines.as_bytes()).await.last_stderr().len() <= BYTES);
        assert_eq!(after(b"\xff bad\n").await.last_stderr(), "\u{fffd} bad");
    }

    #[tokio::test]
    async fn errors_have_the_exit_status_and_stderr() {
        let diagnosis = after(b"boom\n").await;
        assert_eq!(diagnosis.ended(), None);
        let second = Duration::from_secs(1);
        assert_eq!(diagnosis.timeout(second), ConnectError::Timeout { after: second, stderr: "boom".to_owned() });
        diagnosis.note_end("exit status 1".to_owned(), false);
        let ended = ConnectError::Ended { status: "exit status 1".to_owned(), stderr: "boom".to_owned() };
        assert_eq!(diagnosis.ended(), Some(ended));
        diagnosis.note_end("exit status 125".to_owned(), true);
        let start = ConnectError::Start(StartError { program: "server".to_owned(), message: "boom".to_owned() });
        assert_eq!(diagnosis.ended(), Some(start));
    }
}
