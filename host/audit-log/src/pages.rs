//! Entries of a log, read in pages while others write it.
//!
//! Nothing is verified here, so no lock is needed: files are only appended to, renamed and removed. [`verify`] detects
//! tampering.
//!
//! [`verify`]: crate::verify
//!
//! `newest`: entries from the end back.

mod newest;

use crate::error::AuditError;
use crate::files::{self, Access};
use crate::line::{FIRST_FILE, MAX_LINE};
use crate::reader::{Lines, Piece};
use crate::rotate::{self, archived};
use serde::Deserialize;
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Most files that one page looks for: each costs some system calls, even one that was removed.
const MAX_FILES: u32 = 256;

/// Position between two lines. It stays valid when the log is rotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadPosition {
    /// Number of the file, from one. Old files keep theirs.
    pub file: u64,
    /// Bytes before it, in this file.
    pub offset: u64,
}

impl Default for ReadPosition {
    /// Start of the log.
    fn default() -> ReadPosition {
        ReadPosition { file: FIRST_FILE, offset: 0 }
    }
}

/// Limits of a page. It reads one line at least, so that pages always advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Bytes after which no further line is read.
    pub bytes: u64,
    /// Most entries.
    pub entries: usize,
}

/// Entries that follow one another.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadPage {
    /// Entries, in the order in which they were read.
    pub entries: Vec<ReadEntry>,
    /// Position of the next page.
    pub next: ReadPosition,
    /// True if the log had no further line in this direction.
    pub is_end: bool,
    /// Bytes that were read, with those of lines that were skipped.
    pub scanned: u64,
}

/// Entry of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadEntry {
    /// Number of its line, from one, in all files.
    pub seq: u64,
    /// Time at which it was written, as RFC 3339.
    pub time: String,
    /// Entry, as it was recorded, or one of the log's own: `recovered`, `gap`, `rotated`, `omitted`.
    pub entry: Value,
    /// Position before it.
    pub before: ReadPosition,
    /// Position after it.
    pub after: ReadPosition,
}

/// Reader of a log and its old files.
#[derive(Clone, Debug)]
pub struct AuditReader {
    log: PathBuf,
}

/// File of the log.
struct Found {
    file: File,
    path: PathBuf,
    number: u64,
    /// True if lines are appended to it.
    is_current: bool,
}

#[derive(Deserialize)]
struct Line {
    seq: u64,
    time: String,
    entry: Value,
}

impl AuditReader {
    /// Creates a reader. `log_file` is the current file; others are found by their names.
    pub fn new(log_file: &Path) -> AuditReader {
        AuditReader { log: log_file.to_owned() }
    }

    /// Reads entries from a position on. Blocks.
    ///
    /// Files that were removed and lines that are not entries are skipped. A position inside a line is moved to its
    /// start: lines that could not be signed are taken back, and others take their place.
    ///
    /// # Errors
    /// If a file cannot be read. A log that does not exist is empty.
    pub fn read(&self, from: ReadPosition, limits: ReadLimits) -> Result<ReadPage, AuditError> {
        let mut page = ReadPage { entries: Vec::new(), next: from, is_end: false, scanned: 0 };
        let mut number = from.file;
        for _ in 0..MAX_FILES {
            // The position is moved only to a file that exists: an interrupted rotation is undone.
            let Some(found) = self.find(number)? else {
                page.is_end = true;
                break;
            };
            if found.number != page.next.file {
                page.next = ReadPosition { file: found.number, offset: 0 };
            }
            if !found.read(limits, &mut page)? {
                break;
            }
            if found.is_current {
                page.is_end = true;
                break;
            }
            number = found.number.saturating_add(1);
        }
        Ok(page)
    }

    /// Opens the file with this number, or the next that exists; `None` after the last one.
    fn find(&self, number: u64) -> Result<Option<Found>, AuditError> {
        let mut number = number.max(FIRST_FILE);
        for _ in 0..MAX_FILES {
            if let Some(found) = self.archive(number)? {
                return Ok(Some(found));
            }
            let current = files::open(&self.log, Access::Read)?;
            let Some(file) = current else {
                // Rotation renames the file before the next one takes its name.
                return self.archive(number);
            };
            let (current, oldest) = rotate::numbers(&self.log, &file)?;
            if current == number {
                return Ok(Some(Found { file, path: self.log.clone(), number, is_current: true }));
            }
            if current < number {
                return Ok(None);
            }
            // It may have been rotated away after the first look.
            if let Some(found) = self.archive(number)? {
                return Ok(Some(found));
            }
            number = number.saturating_add(1).max(oldest);
        }
        // Rotation removes only the oldest files, so that these were removed by others.
        Ok(None)
    }

    /// Opens an old file; `None` if there is none.
    fn archive(&self, number: u64) -> Result<Option<Found>, AuditError> {
        let path = archived(&self.log, number);
        match files::open(&path, Access::Read) {
            Ok(file) => Ok(file.map(|file| Found { file, path, number, is_current: false })),
            // Anything but a regular file is not part of this log.
            Err(AuditError::WrongKind { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Found {
    /// Reads lines from the position of a page. Returns true at the end of the file, false at a limit.
    fn read(&self, limits: ReadLimits, page: &mut ReadPage) -> Result<bool, AuditError> {
        let length = files::metadata(&self.path, &self.file)?.len();
        page.next.offset = self.line_start(page.next.offset, length)?;
        let failed = |error| AuditError::io("read", &self.path)(error);
        let mut lines = Lines::between(&self.file, page.next.offset, length).map_err(failed)?;
        loop {
            if page.entries.len() >= limits.entries || (page.scanned > 0 && page.scanned >= limits.bytes) {
                return Ok(false);
            }
            let (line, bytes) = match lines.next().map_err(failed)? {
                Piece::End => return Ok(true),
                Piece::Line(line) => (Some(line), line.len() as u64 + 1),
                Piece::Torn(piece) => (None, piece.len() as u64),
            };
            let end = page.next.offset.saturating_add(bytes);
            if line.is_none() && end >= length {
                // It is being written, or a crash left it: the next append completes or removes it.
                return Ok(true);
            }
            page.scanned = page.scanned.saturating_add(bytes);
            let before = page.next;
            page.next.offset = end;
            if let Some(Line { seq, time, entry }) = line.and_then(|line| serde_json::from_slice(line).ok()) {
                page.entries.push(ReadEntry { seq, time, entry, before, after: page.next });
            }
        }
    }

    /// Returns the start of the line that an offset is in.
    fn line_start(&self, offset: u64, length: u64) -> Result<u64, AuditError> {
        let offset = offset.min(length);
        let from = offset.saturating_sub(MAX_LINE as u64 + 1);
        let mut before = vec![0; usize::try_from(offset.saturating_sub(from)).unwrap_or_default()];
        // Another length now means that lines were taken back: those before the offset are read as far as they go.
        let read = self.file.read_at(&mut before, from).map_err(AuditError::io("read", &self.path))?;
        before.truncate(read);
        Ok(match before.iter().rposition(|byte| *byte == b'\n') {
            Some(place) => from.saturating_add(place as u64 + 1),
            None if from == 0 => 0,
            // Inside an overlong line, which is no entry: going back would read it for ever.
            None => offset,
        })
    }
}
