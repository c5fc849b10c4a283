//! What stands after the last signed line: nothing, but for crashes.

use crate::error::{AuditError, Tampered};
use crate::gap::Gap;
use crate::heads::Heads;
use crate::line::{MAX_LINE, Position};
use crate::reader::{Lines, Piece};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::Path;

/// The type of the entry that tells what a crash left.
pub(crate) const RECOVERED: &str = "recovered";

/// What stands after the last signed line.
pub(crate) struct Tail {
    /// Where the last whole line ends.
    pub(crate) end: Position,
    /// Bytes after that.
    pub(crate) torn: u64,
    pub(crate) crash: Crash,
    /// Entries that could not be written, as those lines say.
    pub(crate) gaps: u64,
}

/// What a crash left, as the entry that tells of it.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "recovered")]
pub(crate) struct Crash {
    /// Entries before this one that are chained but were not signed.
    pub(crate) entries: u64,
    /// Entries that are gone, as far as is known: never brought to the disk, or begun and not ended.
    pub(crate) lost: u64,
}

impl Tail {
    /// Reads what stands after the last signed line of a log of this length.
    ///
    /// A process that ended leaves whole lines and perhaps the beginning of one. A machine that lost power may leave
    /// anything after what was brought to the disk, so what is not ours is then taken for its doing.
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
                        // Up to there it was signed after all.
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
    /// What an entry of the log tells of a crash, if it is such an entry.
    pub(crate) fn told_by(entry: &[u8]) -> Option<Crash> {
        // Most entries are none, and this is what is written first.
        entry.starts_with(br#"{"type":"recovered","#).then(|| serde_json::from_slice(entry).ok()).flatten()
    }

    /// Both together. What an entry tells may be any number: it may be one of those that nobody signed.
    pub(crate) fn and(&self, other: &Crash) -> Crash {
        Crash { entries: self.entries.saturating_add(other.entries), lost: self.lost.saturating_add(other.lost) }
    }

    pub(crate) fn has_happened(&self) -> bool {
        *self != Crash::default()
    }
}

/// The end of this line, and the gap that it tells of, if it is the next one. Nobody signed it, so it may not even be JSON.
fn next(end: &Position, line: &[u8]) -> Result<(Position, u64), String> {
    let mut next = end.clone();
    let entry = next.read(line)?;
    let is_json = std::str::from_utf8(entry).is_ok_and(|entry| serde_json::from_str::<IgnoredAny>(entry).is_ok());
    let gap = Gap::told_by(entry).unwrap_or_default();
    if is_json { Ok((next, gap)) } else { Err("is not JSON".to_owned()) }
}

fn is_beginning(piece: &[u8], of: &[u8]) -> bool {
    piece.len() <= MAX_LINE && (piece.starts_with(of) || of.starts_with(piece))
}
