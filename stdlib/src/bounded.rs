//! Text that cannot grow without end. A short call can ask for a long answer: a deep list with wide indentation, or
//! many rows of many columns.

use crate::error::StdError;
use std::io::{self, Write};

/// What one call may make. As much as a script's memory has by default, so that no script misses more.
pub(crate) const MAX_MADE_BYTES: usize = 64 << 20;

/// Text of at most [`MAX_MADE_BYTES`]; writing more fails.
#[derive(Default)]
pub(crate) struct BoundedText(Vec<u8>);

impl BoundedText {
    /// What was written.
    pub(crate) fn into_text(self) -> Result<String, StdError> {
        String::from_utf8(self.0).map_err(|_| StdError::failed("The text is not UTF-8"))
    }
}

impl Write for BoundedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_MADE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a script is told when there would be more.
pub(crate) fn too_large() -> StdError {
    StdError::failed(format!("The result would have more than {MAX_MADE_BYTES} bytes")).because("tooLarge")
}
