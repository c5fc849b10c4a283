//! Tamper-evident audit log: a hash chain with signed heads.
//!
//! The log is a JSON Lines file; each line holds the hash of the one before it. The position and hash of the last line
//! (the head) are signed, and the signature is kept with its key in another folder, the head folder. Whoever can write
//! only to the log cannot change, add, remove or reorder a signed line, or truncate the log, without [`verify`]
//! detecting it. Whoever can also write to the head folder can do all of that: keep it where only this program writes.
//! One head folder serves one log.
//!
//! # Crash recovery
//! - A process that ends between writing a line and signing it leaves lines that are chained but not signed. They are
//!   kept: the next append adds an entry `{"type":"recovered",…}` after them, and [`verify`] counts them.
//! - A power loss may lose lines that were not yet synced. `head.json` is written only after the lines it signs are
//!   synced, so it is never ahead of the log. `live.json` may be: it signs every append at once, is valid until the
//!   next reboot, and only a hint after that. A disk pulled out of a running machine cannot be distinguished from a
//!   truncated log.
//!
//! # Gap records
//! [`Recorder`] writes in the background through a bounded queue. Entries that it accepted but could not write are
//! reported by an entry `{"type":"gap",…}`: how many, from when to when, and why. A process that ends before that
//! leaves a presence file with its counts, which the next append turns into a gap record. [`verify`] counts both.
//!
//! # Rotation and shipping
//! A large log continues in a new file ([`Rotation`]), in the same chain. Removed files are recorded in that chain.
//! Heads can be shipped elsewhere ([`Shipping`]) and compared later.
//!
//! # Layout
//! - `log`: [`AuditLog`], which appends. `verify`: [`verify`], which reads the whole log.
//! - `recorder`, `writer`: background writing, with `settings`, `queue` and the state that both have, `shared`.
//! - `gap`, `presence`: entries that were not written.
//! - `rotate`: rotation. `ship`, `shipped`: shipping heads elsewhere, and comparing them.
//! - `line`: format and check of one line. `reader`: line reader. `pages`: [`AuditReader`], entries in pages.
//! - `report`: [`Report`], the verdict of a verification.
//! - `head`, `key`: a signed head and its key. `heads`: the current heads.
//! - `tail`: lines after the last signed one.
//! - `boot`: boot id of the machine. `files`: private files. `operator`: warnings, as `tracing` events.

mod boot;
mod error;
mod files;
mod gap;
mod head;
mod heads;
mod key;
mod line;
mod log;
mod operator;
mod pages;
mod presence;
mod queue;
mod reader;
mod recorder;
mod report;
mod rotate;
mod settings;
mod shared;
mod ship;
mod shipped;
mod tail;
mod verify;
mod writer;

pub use error::{AuditError, Tampered};
pub use line::MAX_ENTRY;
pub use log::AuditLog;
pub use operator::OPERATOR_TARGET;
pub use pages::{AuditReader, ReadEntry, ReadLimits, ReadPage, ReadPosition};
pub use recorder::{Entry, Recorder};
pub use report::{Report, Verdict};
pub use rotate::Rotation;
pub use settings::{MAX_HOST, Settings};
pub use ship::Shipping;
pub use shipped::ShippedHeads;
pub use verify::{Verification, Verified, verify};

#[cfg(test)]
mod tests;
