//! Output size limit. A short call can request a long result: a deep list with wide indentation, or many rows of many
//! columns.

use crate::error::StdError;
use agent_spaces_types::json_memory::{Account, Meter};
use std::io::{self, Write};

/// Largest output of one call. As much as a script's memory has by default, so that no script misses more.
pub(crate) const MAX_MADE_BYTES: usize = 64 << 20;

/// Initial capacity of a text.
const FIRST_ROOM: usize = 4 << 10;

/// Text of at most [`MAX_MADE_BYTES`], within its memory account; writing more fails.
pub(crate) struct BoundedText<'a> {
    text: Vec<u8>,
    meter: Meter<'a>,
}

impl<'a> BoundedText<'a> {
    pub(crate) fn new(account: &'a mut dyn Account) -> BoundedText<'a> {
        BoundedText { text: Vec::new(), meter: Meter::new(account) }
    }

    /// Returns the written text.
    pub(crate) fn into_text(self) -> Result<String, StdError> {
        String::from_utf8(self.text).map_err(|_| StdError::failed("The text is not UTF-8"))
    }
}

impl Write for BoundedText<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (room, needed) = (self.text.capacity(), self.text.len() + bytes.len());
        if needed > MAX_MADE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut counted = self.meter.work(bytes.len() as u64);
        if needed > room {
            let more = needed.max(room.saturating_mul(2)).max(FIRST_ROOM);
            counted = counted.and_then(|()| self.meter.replace(room as u64, more as u64));
            if counted.is_ok() {
                self.text.reserve_exact(more - self.text.len());
            }
        }
        counted.map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Error for output over the limit.
pub(crate) fn too_large() -> StdError {
    StdError::failed(format!("The result would have more than {MAX_MADE_BYTES} bytes")).because("tooLarge")
}

/// Error for a call over the host's memory, or one that nobody waits for.
pub(crate) fn no_memory() -> StdError {
    StdError::failed("Out of memory for this call: pass less at once").because("tooLarge")
}
