//! A log that shows when somebody changed it.
//!
//! The log is a file of JSON lines, each with the hash of the one before it. What its last line is, is signed, and the
//! signature is kept with its key in another folder, the head folder. Whoever can write to the log alone cannot change,
//! add, remove or reorder a signed line, or cut the log short, without [`verify`] saying so. Whoever can also write to
//! the head folder can do all of that: keep it where nothing but this program writes. One head folder serves one log.
//!
//! # What a crash leaves
//! - A process that ends between its line and the signature leaves lines that are chained but not signed. They are
//!   kept: the next append adds an entry `{"type":"recovered",…}` after them, and [`verify`] counts them.
//! - A machine that loses power may lose lines that were not yet on the disk. `head.json` is only ever written after
//!   the lines it signs were brought to the disk, so it is never ahead of the log. `live.json` may be: it signs every
//!   append at once, holds for as long as the machine has not been started anew, and is no more than a hint after that.
//!   A disk that is pulled out of a running machine is not told from somebody who cuts the log.
//!
//! # Layout
//! - `log`: [`AuditLog`], which appends. `verify`: [`verify`], which reads the whole log.
//! - `line`: one line, written and checked. `reader`: lines of a file, one at a time.
//! - `head`, `key`: the signature and what it is made with. `heads`: what is signed as of now.
//! - `tail`: what stands after the last signed line.
//! - `boot`: whether the machine was started anew. `files`: files that are their owner's alone.

mod boot;
mod error;
mod files;
mod head;
mod heads;
mod key;
mod line;
mod log;
mod reader;
mod tail;
mod verify;

pub use error::{AuditError, Tampered};
pub use line::MAX_ENTRY;
pub use log::AuditLog;
pub use verify::{Verified, verify, verify_copy};

#[cfg(test)]
mod tests;
