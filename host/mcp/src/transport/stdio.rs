//! Stdio transport: a child process with one JSON message per line.

use super::decode::{Decoded, decode_apart, too_large};
use super::describe::describe;
use super::diagnosis::Diagnosis;
use super::excerpt::{beginning, shown};
use super::lines::{Line, Lines};
use super::outbox::Outbox;
use super::pending::Pending;
use crate::{ConnectError, Context, ProcessSpec, ServerSettings};
use agent_spaces_process::{Child, GRACE};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::process::ChildStdout;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

/// Length limit of an excerpt of stray output, in characters.
const SHOWN: usize = 200;

/// Time for which a server that closed its stdin is still read from: it may have answered before.
const READ_AFTER_CLOSE: Duration = Duration::from_secs(1);

/// Timeout for the rest of stderr after the process has ended.
const LAST_STDERR: Duration = Duration::from_millis(250);

/// Connection to a child process. Closing or dropping it ends the process and all its descendants.
pub struct StdioTransport {
    server: String,
    context: Context,
    limit: usize,
    outbox: Outbox,
    lines: Lines<ChildStdout>,
    /// Messages of a batch that are still to be received.
    ready: VecDeque<RxJsonRpcMessage<RoleClient>>,
    pending: Pending,
    /// Line being decoded. Kept here because `receive` may be cancelled and called again.
    reading: Option<BoxFuture<'static, Decoded>>,
    warned: bool,
    /// End of reading from a server that closed its stdin.
    deadline: Option<Instant>,
    stderr: JoinHandle<()>,
    diagnosis: Diagnosis,
    child: Child,
}

impl StdioTransport {
    /// Starts the server's program. Must be called within a tokio runtime.
    pub fn open(
        settings: &ServerSettings,
        endpoint: &ProcessSpec,
        context: &Context,
    ) -> Result<StdioTransport, ConnectError> {
        let mut child = Child::start(endpoint, GRACE)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.take_stdin(), child.take_stdout(), child.take_stderr())
        else {
            return Err(ConnectError::Failed("its process has no pipes".to_owned()));
        };
        let diagnosis = Diagnosis::new(&endpoint.program);
        context.trace.line(&settings.name, || format!("started {}", endpoint.program));
        Ok(StdioTransport {
            server: settings.name.clone(),
            context: context.clone(),
            limit: settings.max_message,
            outbox: Outbox::new(stdin),
            lines: Lines::new(stdout, settings.max_message),
            ready: VecDeque::new(),
            pending: Pending::default(),
            reading: None,
            warned: false,
            deadline: None,
            stderr: tokio::spawn(diagnosis.clone().listen(stderr, context.clone(), settings.name.clone())),
            diagnosis,
            child,
        })
    }

    /// Returns the diagnosis of the process, which outlives the transport.
    pub fn diagnosis(&self) -> Diagnosis {
        self.diagnosis.clone()
    }

    /// Returns the next line, or `None` at the end.
    async fn next_line(&mut self) -> Option<Line> {
        let broken = self.outbox.broken();
        loop {
            let deadline = self.deadline;
            tokio::select! {
                line = self.lines.next() => return line,
                () = broken.cancelled(), if deadline.is_none() => self.deadline = Some(Instant::now() + READ_AFTER_CLOSE),
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => return None,
            }
        }
    }

    /// Queues the messages of a decoded line.
    fn take(&mut self, decoded: Decoded) {
        match decoded {
            Decoded::Messages(messages) => {
                self.diagnosis.note_message();
                self.ready.extend(messages);
            }
            Decoded::Noise(noise) => self.noise("output that is not JSON-RPC", &noise),
        }
    }

    /// Begins to decode a line.
    fn read(&mut self, line: Line) {
        match line {
            Line::Whole(line) => self.reading = Some(decode_apart(line).boxed()),
            Line::TooLong { beginning: start, answers } => {
                if answers.is_empty() {
                    let what = format!("a line of more than {} bytes that answers no request", self.limit);
                    self.noise(&what, &beginning(&start));
                }
                self.ready.extend(answers.into_iter().map(|id| too_large(id, self.limit)));
            }
        }
    }

    /// Warns of the first stray output; the rest goes to the trace.
    fn noise(&mut self, what: &str, text: &str) {
        let text = || format!("it writes {what} to stdout: {}", shown(&self.context.redactor, text, SHOWN));
        if self.warned {
            self.context.trace.line(&self.server, text);
        } else {
            self.context.warn(&self.server, &text());
        }
        self.warned = true;
    }

    /// Waits for the process to end, which follows soon after the end of its output, and records its exit status.
    async fn note_end(&mut self) {
        if let Ok(status) = timeout(GRACE + READ_AFTER_CLOSE, self.child.wait()).await {
            // The end of stderr may still be in the pipe.
            if !self.stderr.is_finished() {
                let _ = timeout(LAST_STDERR, &mut self.stderr).await;
            }
            self.diagnosis.note_end(status, self.child.could_not_start());
        }
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.context.trace.line(&self.server, || format!("→ {}", describe(&self.context.redactor, &message)));
        let sent = serde_json::to_vec(&message).map_err(Into::into).and_then(|mut line| {
            line.push(b'\n');
            self.outbox.put(line)
        });
        if sent.is_ok() {
            self.pending.sent(&message);
        }
        // The message is already queued, so the order in which the futures are awaited does not matter.
        std::future::ready(sent)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            while let Some(message) = self.ready.pop_front() {
                let taken = self.pending.takes(&message);
                let note = if taken { "" } else { "dropped, no pending request: " };
                let text = || format!("← {note}{}", describe(&self.context.redactor, &message));
                self.context.trace.line(&self.server, text);
                if taken {
                    return Some(message);
                }
            }
            if self.reading.is_none() {
                match self.next_line().await {
                    Some(line) => self.read(line),
                    None => {
                        self.note_end().await;
                        return None;
                    }
                }
            }
            if let Some(reading) = &mut self.reading {
                let decoded = reading.await;
                self.reading = None;
                self.take(decoded);
            }
            if self.ready.is_empty() {
                // A flood of output must not starve other tasks.
                tokio::task::yield_now().await;
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.outbox.close().await;
        let lines = &mut self.lines;
        // A server that still writes can only exit if its output is read.
        let drained = async {
            while lines.next().await.is_some() {}
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = self.child.close(GRACE) => {}
            () = drained => {}
        }
        self.note_end().await;
        self.context.trace.line(&self.server, || "closed".to_owned());
        Ok(())
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        self.stderr.abort();
    }
}

#[cfg(test)]
#[cfg(unix)]
#[path = "stdio_tests.rs"]
mod tests;
