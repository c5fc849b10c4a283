//! Text on the standard streams.

use crate::wasi::{
    cli0_2_0::{stderr::get_stderr, stdout::get_stdout},
    io::streams::{OutputStream, StreamError},
};

/// The most that a stream takes at once; it traps on more.
const MAX_WRITE_BYTES: usize = 4096;

/// Writes data to stdout.
pub fn print(text: &str) -> Result<(), StreamError> {
    write(&get_stdout(), text)
}

/// Writes talk to stderr. That nobody listens is no reason to stop.
pub fn say(text: &str) {
    let _ = write(&get_stderr(), text);
}

fn write(stream: &OutputStream, text: &str) -> Result<(), StreamError> {
    text.as_bytes().chunks(MAX_WRITE_BYTES).try_for_each(|part| stream.blocking_write_and_flush(part))
}
