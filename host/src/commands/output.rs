//! Data for whoever reads stdout.

use super::failure::Failure;
use std::io::{ErrorKind, Write};

/// Prints text, and gives the exit status: what could not be written is a failure, a reader that went away is not.
pub(super) fn print(text: &str) -> u8 {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => 0,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => 0,
        Err(error) => Failure::new("host.output", format!("stdout cannot be written: {error}"), None).show(),
    }
}

/// The same, with an end of line.
pub(super) fn print_line(text: &impl std::fmt::Display) -> u8 {
    print(&format!("{text}\n"))
}
