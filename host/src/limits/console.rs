//! Size of the console output.

use super::{Limit, Reached};

pub(super) const CODE: &str = "limit.console";
pub(super) const ADVICE: &str = "Print less: log a summary instead of every item";

/// Some ten thousand lines.
pub(super) const DEFAULT: u64 = 1 << 20;

/// What a message costs beside its text, so that empty ones are not free.
const MESSAGE_BYTES: u64 = 16;

pub(super) fn message(allowed: u64) -> String {
    format!("The script printed more than {allowed} bytes")
}

/// How much a run may still print.
#[derive(Debug)]
pub(crate) struct ConsoleLimit {
    left: u64,
}

impl ConsoleLimit {
    pub(crate) fn new(allowed: u64) -> ConsoleLimit {
        ConsoleLimit { left: allowed }
    }

    /// Takes note of a message, unless it is too much.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Reached> {
        let bytes = text.len() as u64 + MESSAGE_BYTES;
        self.left = self.left.checked_sub(bytes).ok_or(Reached(Limit::Console))?;
        Ok(())
    }
}
