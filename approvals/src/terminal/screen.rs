//! What the dialog needs of a terminal.

use capability_gen::shown::Shown;
use std::io;
use std::time::Duration;

/// A terminal, as far as one prompt uses it.
pub(super) trait Screen {
    /// How many columns it has.
    fn width(&self) -> usize;

    /// Shows a text.
    fn show(&mut self, text: &Shown) -> Result<(), Stop>;

    /// Waits for so long, then forgets what was typed until now. Says whether that was a line or more.
    fn discard(&mut self, after: Duration) -> Result<bool, Stop>;

    /// The next line that is typed.
    fn line(&mut self) -> Result<String, Stop>;

    /// Shows the last line of a prompt, as far as that takes no waiting.
    fn close(&mut self, text: &'static str);
}

/// Why a prompt ends without an answer.
#[derive(Debug)]
pub(super) enum Stop {
    /// The run no longer waits.
    Withdrawn,
    /// It is too late.
    Expired,
    /// The terminal gives no more input.
    Ended,
    /// The terminal cannot be used.
    Failed(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Failed(error)
    }
}

impl From<rustix::io::Errno> for Stop {
    fn from(error: rustix::io::Errno) -> Stop {
        Stop::Failed(error.into())
    }
}
