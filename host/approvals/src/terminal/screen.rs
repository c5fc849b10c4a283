//! Terminal interface of the dialog.

use agent_spaces_types::shown::Shown;
use std::io;
use std::time::Duration;

/// Terminal operations of one prompt.
pub(super) trait Screen {
    /// Returns the number of columns.
    fn width(&self) -> usize;

    /// Shows a text.
    fn show(&mut self, text: &Shown) -> Result<(), Stop>;

    /// Waits, then discards what was typed. Returns true if that included a whole line.
    fn discard(&mut self, after: Duration) -> Result<bool, Stop>;

    /// Reads the next line.
    fn line(&mut self) -> Result<String, Stop>;

    /// Shows the closing line without blocking.
    fn close(&mut self, text: &'static str);
}

/// Reason why a prompt ends without an answer.
#[derive(Debug)]
pub(super) enum Stop {
    /// The run no longer waits.
    Withdrawn,
    /// The request expired.
    Expired,
    /// End of input.
    Ended,
    /// I/O error.
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
