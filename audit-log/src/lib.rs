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
//! # What is not written
//! [`Recorder`] writes in the background, through a bounded queue. Entries that it took and could not write are told by an
//! entry `{"type":"gap",…}`: how many, from when to when, and why. A process that ends before that leaves a presence file
//! with its counts, of which the next append makes a gap record. [`verify`] counts both.
//!
//! # Several files
//! A log that has grown large goes on in a new file ([`Rotation`]), in the same chain. Files that are removed are stated in
//! that chain. Heads can be brought elsewhere ([`Shipping`]) and compared later.
//!
//! # Layout
//! - `log`: [`AuditLog`], which appends. `verify`: [`verify`], which reads the whole log.
//! - `recorder`, `queue`, `writer`: entries on their way to the log. `gap`, `presence`: those that did not get there.
//! - `rotate`: several files. `ship`, `shipped`: heads that are kept elsewhere, brought there and compared.
//! - `line`: one line, written and checked. `reader`: lines of a file, one at a time.
//! - `head`, `key`: the signature and what it is made with. `heads`: what is signed as of now.
//! - `tail`: what stands after the last signed line.
//! - `boot`: whether the machine was started anew. `files`: files that are their owner's alone.

mod boot;
mod error;
mod files;
mod gap;
mod head;
mod heads;
mod key;
mod line;
mod log;
mod presence;
mod queue;
mod reader;
mod recorder;
mod rotate;
mod ship;
mod shipped;
mod tail;
mod verify;
mod writer;

pub use error::{AuditError, Tampered};
pub use line::MAX_ENTRY;
pub use log::AuditLog;
pub use recorder::{Entry, Recorder, Settings};
pub use rotate::Rotation;
pub use ship::Shipping;
pub use shipped::ShippedHeads;
pub use verify::{Verification, Verified, verify};

#[cfg(test)]
mod tests;
