//! Unsigned lines after the last signed one, left by crashes.

use crate::error::{AuditError, Tampered};
use crate::gap::Gap;
use crate::heads::Heads;
use crate::line::{MAX_LINE, Position};
use crate::reader::{Lines, Piece};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::Path;

/// Type of recovery entries.
pub(crate) const RECOVERED: &str = "recovered";

/// Unsigned end of the log.
pub(crate) struct Tail {
    /// End of the last complete line.
    pub(crate) end: Position,
    /// Bytes of a torn line after that.
    pub(crate) torn: u64,
    pub(crate) crash: Crash,
    /// Missing entries according to gap records in those lines.
    pub(crate) gaps: u64,
}

/// Recovery entry: what a crash left.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "recovered")]
pub(crate) struct Crash {
    /// Entries before this one that are chained but not signed.
    pub(crate) entries: u64,
    /// Known lost entries: never synced, or torn.
    pub(crate) lost: u64,
}

impl Tail {
    /// Reads the unsigned end of a log of this length.
    ///
    /// A killed process leaves complete lines and possibly a torn one. A power loss may leave anything after the synced
    /// part, so foreign bytes are then attributed to it.
    pub(crate) fn read(path: &Path, log: &File, length: u64, heads: &Heads) -> Result<Tail, AuditError> {
        let mut end = heads.signed().clone();
        let (mut crash, mut gaps) = (Crash::default(), 0_u64);
        let mut lines = Lines::between(log, end.bytes, length).map_err(AuditError::io("read", path))?;
        loop {
            let fault = match lines.next().map_err(AuditError::io("read", path))? {
                Piece::End => break,
                Piece::Line(line) => match next(&end, line) {
                    Ok((next, gap)) => {
                        end = next;
                        gaps = gaps.saturating_add(gap);
                        // Signed up to here after all.
                        crash.entries = if heads.hint.as_ref() == Some(&end) { 0 } else { crash.entries + 1 };
                        continue;
                    }
                    Err(fault) => fault,
                },
                Piece::Torn(piece) if is_beginning(piece, end.begin().as_bytes()) => break,
                Piece::Torn(_) => "is not a line of this log".to_owned(),
            };
            match heads.is_same_boot {
                true => return Err(Tampered::at(end.next(), fault).into()),
                false => break,
            }
        }
        let torn = length.saturating_sub(end.bytes);
        let missing = heads.hint.as_ref().map_or(0, |hint| hint.count.saturating_sub(end.count));
        crash.lost = missing.max(u64::from(torn > 0));
        Ok(Tail { end, torn, crash, gaps })
    }
}

impl Crash {
    /// Parses a recovery entry.
    pub(crate) fn parse(entry: &[u8]) -> Option<Crash> {
        // Cheap check first: most entries are no recovery entries.
        entry.starts_with(br#"{"type":"recovered","#).then(|| serde_json::from_slice(entry).ok()).flatten()
    }

    /// Adds both up, saturating: an unsigned entry may contain any number.
    pub(crate) fn and(&self, other: &Crash) -> Crash {
        Crash { entries: self.entries.saturating_add(other.entries), lost: self.lost.saturating_add(other.lost) }
    }

    pub(crate) fn has_happened(&self) -> bool {
        *self != Crash::default()
    }
}

/// Parses the next unsigned line: its end, and the gap it records. It may not even be JSON.
fn next(end: &Position, line: &[u8]) -> Result<(Position, u64), String> {
    let mut next = end.clone();
    let entry = next.read(line)?;
    let is_json = std::str::from_utf8(entry).is_ok_and(|entry| serde_json::from_str::<IgnoredAny>(entry).is_ok());
    let gap = Gap::parse(entry).unwrap_or_default();
    if is_json { Ok((next, gap)) } else { Err("is not JSON".to_owned()) }
}

fn is_beginning(piece: &[u8], of: &[u8]) -> bool {
    piece.len() <= MAX_LINE && (piece.starts_with(of) || of.starts_with(piece))
}
