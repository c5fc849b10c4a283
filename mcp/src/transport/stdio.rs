//! A server that is a child process: one message to a line, on its standard input and output.

use super::decode::{Decoded, decode_apart, too_large};
use super::describe::describe;
use super::diagnosis::Diagnosis;
use super::excerpt::{beginning, shown};
use super::lines::{Line, Lines};
use super::outbox::Outbox;
use super::pending::Pending;
use crate::process::{Child, GRACE};
use crate::{ConnectError, Context, ServerSettings, StdioEndpoint};
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

/// How many characters of something that is no message are shown.
const SHOWN: usize = 200;

/// A server that closed its input is read from for this much longer: it may have answered before.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long the rest of stderr is waited for when the process has ended.
const LAST_STDERR: Duration = Duration::from_millis(250);

/// A connection to a child process. Closing or dropping it ends the process and all that it started.
pub struct StdioTransport {
    server: String,
    context: Context,
    limit: usize,
    outbox: Outbox,
    lines: Lines<ChildStdout>,
    /// Messages of a batch that are still to be received.
    ready: VecDeque<RxJsonRpcMessage<RoleClient>>,
    pending: Pending,
    /// A line that is being read: receiving may be given up and begun anew at any time.
    reading: Option<BoxFuture<'static, Decoded>>,
    warned: bool,
    /// Until when a server that closed its input is read from.
    deadline: Option<Instant>,
    stderr: JoinHandle<()>,
    diagnosis: Diagnosis,
    child: Child,
}

impl StdioTransport {
    /// Starts the server's program. Must be called within a tokio runtime.
    pub fn open(
        settings: &ServerSettings,
        endpoint: &StdioEndpoint,
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

    /// What is known of the process; it stays of use when the transport is gone.
    pub fn diagnosis(&self) -> Diagnosis {
        self.diagnosis.clone()
    }

    /// The next line, or none when there will be none.
    async fn next_line(&mut self) -> Option<Line> {
        let broken = self.outbox.broken();
        loop {
            let deadline = self.deadline;
            tokio::select! {
                line = self.lines.next() => return line,
                () = broken.cancelled(), if deadline.is_none() => self.deadline = Some(Instant::now() + LAST_WORDS),
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => return None,
            }
        }
    }

    /// Takes what a line came to.
    fn take(&mut self, decoded: Decoded) {
        match decoded {
            Decoded::Messages(messages) => {
                self.diagnosis.note_spoken();
                self.ready.extend(messages);
            }
            Decoded::Noise(noise) => self.noise("what is not a message", &noise),
        }
    }

    /// Begins to make messages of a line.
    fn read(&mut self, line: Line) {
        match line {
            Line::Whole(line) => self.reading = Some(decode_apart(line).boxed()),
            Line::TooLong { beginning: start, answers } => {
                if answers.is_empty() {
                    let what = format!("a line of more than {} bytes that answers nothing", self.limit);
                    self.noise(&what, &beginning(&start));
                }
                self.ready.extend(answers.into_iter().map(|id| too_large(id, self.limit)));
            }
        }
    }

    /// The operator is told once; whoever wants to see more of it reads the trace.
    fn noise(&mut self, what: &str, text: &str) {
        let text =
            || format!("it writes {what} to its standard output: {}", shown(&self.context.redactor, text, SHOWN));
        if self.warned {
            self.context.trace.line(&self.server, text);
        } else {
            self.context.warn(&self.server, &text());
        }
        self.warned = true;
    }

    /// Notes how the process ended, which it does soon when its output has.
    async fn note_end(&mut self) {
        if let Ok(status) = timeout(GRACE + LAST_WORDS, self.child.wait()).await {
            // Its last words may still be on their way.
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
        // It is in line already, so that what is sent first arrives first whenever this is awaited.
        std::future::ready(sent)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            while let Some(message) = self.ready.pop_front() {
                let taken = self.pending.takes(&message);
                let note = if taken { "" } else { "dropped, nobody waits for it: " };
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
                // Whoever floods us does not keep others from their turn.
                tokio::task::yield_now().await;
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.outbox.close().await;
        let lines = &mut self.lines;
        // A server that still writes can only end when it is read from.
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
