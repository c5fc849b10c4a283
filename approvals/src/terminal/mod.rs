//! A prompt on the terminal of this process.
//!
//! The terminal is opened by its own name, so that it is a person's even if a script is piped in. One prompt stands
//! at a time, in the order of the requests, on a thread of its own that ends with it.

mod arguments;
mod dialog;
mod screen;
mod sheet;
mod style;
mod tty;

pub use arguments::pretty;

use crate::channel::{Answer, Channel, ChannelError};
use crate::decision::Decision;
use crate::request::Request;
use screen::{Screen, Stop};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use style::Style;
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};
use tty::Tty;

/// The terminal that a process belongs to, wherever its input and output go.
const DEVICE: &str = "/dev/tty";
/// How long a prompt stands before keys count. Nobody has read it sooner, and a script that knows when its user
/// types must not catch a key that was meant for something else.
const SETTLE: Duration = Duration::from_millis(500);

/// Asks on a terminal. One for a whole process: two would write into each other's prompts.
pub struct TerminalChannel {
    device: PathBuf,
    style: Style,
    settle: Duration,
    /// Given to requests in their order; held by the thread of the prompt that stands.
    turn: Arc<Mutex<()>>,
    /// How many requests wait, with the one that is shown.
    waiting: Arc<AtomicUsize>,
    while_asking: Option<Arc<dyn Fn(bool) + Send + Sync>>,
}

impl TerminalChannel {
    /// The terminal of this process, if it has one.
    pub fn open() -> Result<TerminalChannel, ChannelError> {
        TerminalChannel::at(Path::new(DEVICE))
    }

    /// Another terminal, by its device.
    pub fn at(device: &Path) -> Result<TerminalChannel, ChannelError> {
        let _ = tty::open_device(device).map_err(|error| no_terminal(device, &error))?;
        let style = Style::wanted(std::env::var_os("NO_COLOR").as_deref(), std::env::var_os("TERM").as_deref());
        Ok(TerminalChannel {
            device: device.to_owned(),
            style,
            settle: SETTLE,
            turn: Arc::default(),
            waiting: Arc::default(),
            while_asking: None,
        })
    }

    /// Calls `tell` with true before a prompt is shown and with false when it has gone. Whoever else writes to the
    /// terminal holds that back meanwhile: a script's output must not stand below a prompt, as if it were part of it.
    pub fn while_asking(self, tell: impl Fn(bool) + Send + Sync + 'static) -> TerminalChannel {
        TerminalChannel { while_asking: Some(Arc::new(tell)), ..self }
    }

    async fn prompt(&self, request: Arc<Request>) -> Result<Decision, ChannelError> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let failed = |error| no_terminal(&self.device, &error);
        let (withdrawn, asking) = std::io::pipe().map_err(failed)?;
        let prompt = Prompt {
            tty: Tty::new(tty::open_device(&self.device).map_err(failed)?, withdrawn, request.expires),
            request,
            style: self.style,
            settle: self.settle,
            waiting: Arc::clone(&self.waiting),
            while_asking: self.while_asking.clone(),
            _turn: turn,
        };
        let (tell, told) = oneshot::channel();
        let thread = std::thread::Builder::new().name("approval".to_owned());
        thread.spawn(move || prompt.hold(tell)).map_err(failed)?;
        let ending = told.await;
        // Until here: when the future is dropped the pipe is closed, and the prompt goes.
        drop(asking);
        match ending {
            Ok(Ok(decision)) => Ok(decision),
            Ok(Err(Stop::Expired)) => Err(ChannelError::Expired),
            Ok(Err(Stop::Failed(error))) => Err(no_terminal(&self.device, &error)),
            Ok(Err(Stop::Ended | Stop::Withdrawn)) | Err(_) => {
                Err(ChannelError::Nobody("the terminal was closed before anybody answered".to_owned()))
            }
        }
    }
}

impl Channel for TerminalChannel {
    fn ask(&self, request: Arc<Request>) -> Answer<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(Arc::clone(&self.waiting));
        Box::pin(async move {
            let _waiting = waiting;
            self.prompt(request).await
        })
    }

    fn too_late(&self, _request: &Request) {
        if let Ok(mut file) = tty::open_device(&self.device) {
            // The thread that read the answer has said that it was allowed.
            let _ = std::io::Write::write(&mut file, b"That was too late: the call was not made.\n");
        }
    }
}

/// One prompt, as its thread has it.
struct Prompt {
    tty: Tty,
    request: Arc<Request>,
    style: Style,
    settle: Duration,
    waiting: Arc<AtomicUsize>,
    while_asking: Option<Arc<dyn Fn(bool) + Send + Sync>>,
    /// The next prompt begins when this thread has done with the terminal.
    _turn: OwnedMutexGuard<()>,
}

impl Prompt {
    fn hold(mut self, tell: oneshot::Sender<Result<Decision, Stop>>) {
        let announce = |is_asking| {
            if let Some(tell) = &self.while_asking {
                tell(is_asking);
            }
        };
        announce(true);
        let others = self.waiting.load(Ordering::Relaxed).saturating_sub(1);
        let sheet = sheet::sheet(&self.request, self.tty.width(), others, self.style);
        let ending = dialog::hold(&mut self.tty, &sheet, self.settle);
        let words = dialog::last_words(&ending);
        // Only an answer that somebody still waits for is confirmed.
        let words = match tell.send(ending) {
            Err(Ok(_)) => dialog::last_words(&Err(Stop::Withdrawn)),
            Ok(()) | Err(Err(_)) => words,
        };
        self.tty.close(words);
        announce(false);
    }
}

/// A request that is counted while it waits.
struct Waiting(Arc<AtomicUsize>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn no_terminal(device: &Path, error: &std::io::Error) -> ChannelError {
    ChannelError::Nobody(format!("nobody can be asked on the terminal {}: {error}", device.display()))
}

#[cfg(test)]
#[path = "pty_tests.rs"]
mod tests;
