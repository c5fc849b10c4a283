//! Shipped heads, and the comparison of a log with them.
//!
//! Whoever can write to the log and to its head folder can forge a whole log and sign it, but cannot change heads that
//! were shipped before.

use crate::error::{AuditError, Tampered};
use crate::files::{self, Access};
use crate::gap::time_text;
use crate::key::Key;
use crate::line::Position;
use crate::reader::{Lines, Piece};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::Path;
use std::time::SystemTime;

/// Shipped head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShippedHead {
    /// Time of shipping, as RFC 3339.
    time: String,
    /// Public key, in hex.
    key: String,
    file: u64,
    count: u64,
    bytes: u64,
    hash: String,
    signature: String,
}

impl ShippedHead {
    pub(crate) fn sign(key: &Key, at: &Position, time: SystemTime) -> ShippedHead {
        let Position { file, count, bytes, hash } = at.clone();
        let (time, public) = (time_text(time), key.public());
        let unsigned = ShippedHead { time, key: public, file, count, bytes, hash, signature: String::new() };
        ShippedHead { signature: HEXLOWER.encode(&key.sign(&unsigned.message())), ..unsigned }
    }

    /// Returns the JSON line, without its newline.
    pub(crate) fn line(&self) -> String {
        // Serializing strings and numbers cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    fn is_signed(&self, key: &Key) -> bool {
        let signature = HEXLOWER.decode(self.signature.as_bytes());
        self.key == key.public() && signature.is_ok_and(|signature| key.is_signed(&self.message(), &signature))
    }

    fn message(&self) -> Vec<u8> {
        let ShippedHead { time, file, count, bytes, hash, .. } = self;
        format!("agent-spaces audit shipped\n{time}\n{file}\n{count}\n{bytes}\n{hash}\n").into_bytes()
    }
}

/// Result of comparing a log with shipped heads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShippedHeads {
    /// Heads that match the log.
    pub agree: u64,
    /// Heads of removed files, which cannot be compared.
    pub removed: u64,
    /// Number of entries covered by the last head.
    pub entries: u64,
}

/// Remaining heads to compare, in the order of the log.
pub(crate) struct Comparison {
    heads: std::iter::Peekable<std::vec::IntoIter<ShippedHead>>,
    pub(crate) found: ShippedHeads,
}

impl Comparison {
    /// Reads a file of heads. A head of another key may mean a replaced key, so it counts as tampering.
    pub(crate) fn read(path: &Path, key: &Key) -> Result<Comparison, AuditError> {
        let file =
            files::open(path, Access::Read)?.ok_or_else(|| AuditError::io("open", path)(ErrorKind::NotFound.into()))?;
        let length = files::metadata(path, &file)?.len();
        let failed = |error| AuditError::io("read", path)(error);
        let mut lines = Lines::between(&file, 0, length).map_err(failed)?;
        let mut heads = Vec::new();
        for number in 1_u64.. {
            match lines.next().map_err(failed)? {
                Piece::Line([]) => {}
                Piece::Line(line) => match serde_json::from_slice::<ShippedHead>(line) {
                    Ok(head) if head.is_signed(key) => heads.push(head),
                    _ => {
                        let message = format!("line {number} of {path:?} is not a head that this log's key signed");
                        return Err(Tampered::new(message).into());
                    }
                },
                // A torn line of a killed process.
                Piece::Torn(_) | Piece::End => break,
            }
        }
        heads.sort_by_key(|head| head.count);
        let found = ShippedHeads { entries: heads.last().map_or(0, |head| head.count), ..ShippedHeads::default() };
        Ok(Comparison { heads: heads.into_iter().peekable(), found })
    }

    /// Skips heads of removed files.
    pub(crate) fn begin(&mut self, start: &Position) -> Result<(), Tampered> {
        while self.heads.next_if(|head| head.count < start.count).is_some() {
            self.found.removed += 1;
        }
        self.pass(start)
    }

    /// Compares the heads at this position.
    pub(crate) fn pass(&mut self, place: &Position) -> Result<(), Tampered> {
        while let Some(head) = self.heads.next_if(|head| head.count == place.count) {
            if head.hash != place.hash {
                let message = format!("is not the last line of the head shipped at {}", head.time);
                return Err(Tampered::at(place.count, message));
            }
            self.found.agree += 1;
        }
        Ok(())
    }

    /// Called at the end of the signed lines.
    pub(crate) fn end(&mut self, end: &Position) -> Result<(), Tampered> {
        self.heads.next().map_or(Ok(()), |head| {
            let (count, time) = (head.count, head.time);
            let message = format!("is missing: {count} entries were signed when the head was shipped at {time}");
            Err(Tampered::at(end.next(), message))
        })
    }
}
