//! Approval prompt on the terminal of this process.
//!
//! The terminal is opened by its device name, so that it is a person's even if the script is piped in. One prompt is
//! shown at a time, in the order of the requests, each on a thread of its own.

mod arguments;
mod dialog;
mod prompt_text;
mod screen;
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

/// Controlling terminal of the process, wherever its input and output go.
const DEVICE: &str = "/dev/tty";
/// Delay before the keys of a prompt count. Nobody reads faster, and a script that knows when its user types must
/// not catch a key that was meant for something else.
const SETTLE: Duration = Duration::from_millis(500);

/// Channel that asks on a terminal. Use one per process: two would write into each other's prompts.
pub struct TerminalChannel {
    device: PathBuf,
    style: Style,
    settle: Duration,
    /// Fair lock: taken in order of the requests, held by the thread of the current prompt.
    turn: Arc<Mutex<()>>,
    /// Number of waiting requests, including the one that is shown.
    waiting: Arc<AtomicUsize>,
    while_asking: Option<Arc<dyn Fn(bool) + Send + Sync>>,
}

impl TerminalChannel {
    /// Opens the terminal of this process, if it has one.
    pub fn open() -> Result<TerminalChannel, ChannelError> {
        TerminalChannel::at(Path::new(DEVICE))
    }

    /// Opens another terminal by its device.
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

    /// Calls `tell` with true before a prompt is shown and with false when it is gone. Other writers to the terminal
    /// must pause meanwhile: a script's output below a prompt could pass for part of it.
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
        // Kept alive until here: dropping the future closes the pipe, which removes the prompt.
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
            // The prompt's thread already printed that the call was allowed.
            let _ = std::io::Write::write(&mut file, b"That was too late: the call was not made.\n");
        }
    }
}

/// State of one prompt's thread.
struct Prompt {
    tty: Tty,
    request: Arc<Request>,
    style: Style,
    settle: Duration,
    waiting: Arc<AtomicUsize>,
    while_asking: Option<Arc<dyn Fn(bool) + Send + Sync>>,
    /// The next prompt starts when this thread has released the terminal.
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
        let text = prompt_text::prompt_text(&self.request, self.tty.width(), others, self.style);
        let ending = dialog::ask(&mut self.tty, &text, self.settle);
        let words = dialog::closing_line(&ending);
        // Confirm the answer only if the run still waits.
        let words = match tell.send(ending) {
            Err(Ok(_)) => dialog::closing_line(&Err(Stop::Withdrawn)),
            Ok(()) | Err(Err(_)) => words,
        };
        self.tty.close(words);
        announce(false);
    }
}

/// Counts a waiting request until dropped.
struct Waiting(Arc<AtomicUsize>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn no_terminal(device: &Path, error: &std::io::Error) -> ChannelError {
    ChannelError::Nobody(format!("cannot ask on the terminal {}: {error}", device.display()))
}

#[cfg(test)]
#[path = "pty_tests.rs"]
mod tests;
