//! Console limit: size of the console output.

use super::{Limit, Reached};
use crate::code::Code;

pub(super) const CODE: Code = Code::LimitConsole;
pub(super) const ADVICE: &str = "Print less: log a summary instead of every item";

/// About ten thousand lines.
pub(super) const DEFAULT: u64 = 1 << 20;

/// Cost of a message beside its text, so that empty ones are not free.
const MESSAGE_BYTES: u64 = 16;

pub(super) fn message(allowed: u64) -> String {
    format!("The script printed more than {allowed} bytes")
}

/// Console bytes that a run may still print.
#[derive(Debug)]
pub struct ConsoleLimit {
    left: u64,
}

impl ConsoleLimit {
    /// Creates a limit of `allowed` bytes.
    pub fn new(allowed: u64) -> ConsoleLimit {
        ConsoleLimit { left: allowed }
    }

    /// Counts a message, or refuses it if it exceeds the limit.
    pub fn print(&mut self, text: &str) -> Result<(), Reached> {
        let bytes = text.len() as u64 + MESSAGE_BYTES;
        self.left = self.left.checked_sub(bytes).ok_or(Reached(Limit::Console))?;
        Ok(())
    }
}
