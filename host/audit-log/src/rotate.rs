//! Log rotation: a large log continues in a new file.
//!
//! The current file always has the log's own name; `log.jsonl` becomes `log.1.jsonl`, the next one `log.2.jsonl`. Line
//! numbers and hashes continue across files. Every file but the first begins with a record of the previous file's last
//! hash, the oldest file that is kept, and removed files: so a removal is recorded in the chain, with the last hash of
//! the removed file.
//!
//! A process that ends during rotation leaves the old file under its new name while the head still refers to it.
//! Readers find it there ([`current`]), and the next writer moves it back ([`undo`]).

use crate::error::{AuditError, Tampered};
use crate::files::{self, Access};
use crate::key::Key;
use crate::line::{FIRST_FILE, Position};
use crate::reader::{Lines, Piece};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Type of the first entry of every file but the first.
pub(crate) const ROTATED: &str = "rotated";

/// Most files that one rotation removes: their records must fit one entry.
const MAX_REMOVED: u64 = 100;

/// Rotation settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// Size at which the log is rotated.
    pub bytes: u64,
    /// Number of old files to keep; all if `None`.
    pub keep: Option<u32>,
}

/// First entry of a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename = "rotated")]
pub(crate) struct Rotated {
    /// Number of this file.
    pub(crate) file: u64,
    /// Previous file.
    previous: Ended,
    /// Start of the oldest kept file.
    start: Start,
    /// Files removed by this rotation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    removed: Vec<Ended>,
}

/// Archived file.
#[derive(Debug, Serialize, Deserialize)]
struct Ended {
    name: String,
    /// Numbers of its first and last line.
    first: u64,
    last: u64,
    /// Hash of its last line.
    hash: String,
}

/// Start of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Start {
    file: u64,
    /// Lines before it.
    entries: u64,
    /// Hash of the last of them.
    hash: String,
}

impl Start {
    fn of(position: &Position) -> Start {
        Start { file: position.file, entries: position.count, hash: position.hash.clone() }
    }

    fn position(&self) -> Position {
        Position { file: self.file, count: self.entries, bytes: 0, hash: self.hash.clone() }
    }
}

/// Returns the path of an archived file.
pub(crate) fn archived(path: &Path, number: u64) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}.{number}{ending}"))
}

/// Returns the file with the signed lines: the log, or its archive after an interrupted rotation.
pub(crate) fn current(path: &Path, signed: &Position) -> Result<PathBuf, AuditError> {
    let archive = archived(path, signed.file);
    // Anything but a regular file is not part of this log.
    if !matches!(files::open(&archive, Access::Read), Ok(Some(_))) {
        return Ok(path.to_owned());
    }
    let Some(log) = files::open(path, Access::Read)? else { return Ok(archive) };
    // The new file of an interrupted rotation has one unsigned line.
    let expected = signed.begin().into_bytes();
    let mut found = Vec::new();
    let limit = expected.len() as u64;
    log.take(limit).read_to_end(&mut found).map_err(AuditError::io("read", path))?;
    Ok(if found == expected { archive } else { path.to_owned() })
}

/// Undoes an interrupted rotation. Call under the lock.
pub(crate) fn undo(path: &Path, signed: &Position) -> Result<(), AuditError> {
    match current(path, signed)? {
        current if current == path => Ok(()),
        archive => files::rename(&archive, path).and_then(|()| files::sync_folder(files::folder_of(path))),
    }
}

/// Reads the start of the oldest kept file from the first line of the current one. Not trustworthy before the chain up
/// to the head is verified.
pub(crate) fn start(path: &Path, log: &File, key: &Key, signed: &Position) -> Result<Position, AuditError> {
    if signed.file == FIRST_FILE {
        return Ok(Position::start(key));
    }
    let start = first_record(path, log)?.1.start;
    let is_sound = (FIRST_FILE..=signed.file).contains(&start.file)
        && (start.file > FIRST_FILE || start.position() == Position::start(key));
    match is_sound {
        true => Ok(start.position()),
        false => Err(no_record(path).into()),
    }
}

/// Checks the first entry of a file after the first.
pub(crate) fn check_first(path: &Path, entry: &[u8], number: u64) -> Result<(), Tampered> {
    let is_ours = entry.starts_with(br#"{"type":"rotated","#);
    let record = is_ours.then(|| serde_json::from_slice::<Rotated>(entry).ok()).flatten();
    if record.is_some_and(|record| record.file == number) { Ok(()) } else { Err(no_record(path)) }
}

/// Starts a new file. The log up to `end` is synced and signed. Returns the end of the new file, which is synced but
/// not signed yet.
pub(crate) fn begin_file(
    path: &Path,
    log: &File,
    key: &Key,
    end: &Position,
    keep: Option<u32>,
) -> Result<Position, AuditError> {
    let archive = archived(path, end.file);
    if archive.symlink_metadata().is_ok() {
        return Err(Tampered::new(format!("unexpected {archive:?}: the log was not rotated that often")).into());
    }
    let old = start(path, log, key, end)?;
    // If old files cannot be read, none is removed.
    let (start, removed) = retain(path, key, end, &old, keep).unwrap_or_else(|_| (Start::of(&old), Vec::new()));
    let mut position = end.next_file();
    let previous = match end.file {
        FIRST_FILE => Position::start(key),
        _ => first_record(path, log)?.0,
    };
    let record = Rotated { file: position.file, previous: ended(path, &previous, end), start, removed };
    let entry = serde_json::to_string(&record).map_err(|error| AuditError::io("write to", path)(error.into()))?;
    let mut text = String::new();
    position.write(&crate::gap::time_text(SystemTime::now()), &entry, &mut text);

    let new = files::beside(path, ".new");
    files::remove(&new)?;
    let mut file = files::create(&new)?;
    let permissions = files::metadata(path, log)?.permissions();
    let written = file.set_permissions(permissions).and_then(|()| file.write_all(text.as_bytes()));
    written.and_then(|()| file.sync_all()).map_err(AuditError::io("write", &new))?;
    files::rename(path, &archive)?;
    files::rename(&new, path)?;
    files::sync_folder(files::folder_of(path))?;
    Ok(position)
}

/// Removes files that are no longer kept according to the current one.
pub(crate) fn remove_old(path: &Path) -> Result<(), AuditError> {
    let Some(log) = files::open(path, Access::Read)? else { return Ok(()) };
    let record = first_record(path, &log)?.1;
    // Retry removals that failed last time.
    let from = record.start.file.saturating_sub(2 * MAX_REMOVED).max(FIRST_FILE);
    for number in from..record.start.file {
        files::remove(&archived(path, number))?;
    }
    Ok(())
}

/// Returns the number of a current file, and that of the oldest kept one.
pub(crate) fn numbers(path: &Path, log: &File) -> Result<(u64, u64), AuditError> {
    match first_record(path, log) {
        Ok((begin, record)) => Ok((begin.file, record.start.file)),
        // The first file begins with any entry, or is empty.
        Err(AuditError::Tampered(_)) => Ok((FIRST_FILE, FIRST_FILE)),
        Err(error) => Err(error),
    }
}

/// Returns the oldest file after a rotation, and those to remove.
fn retain(
    path: &Path,
    key: &Key,
    end: &Position,
    old: &Position,
    keep: Option<u32>,
) -> Result<(Start, Vec<Ended>), AuditError> {
    let Some(keep) = keep else { return Ok((Start::of(old), Vec::new())) };
    let wanted = end.next_file().file.saturating_sub(u64::from(keep));
    let oldest = wanted.clamp(old.file, old.file.saturating_add(MAX_REMOVED));
    let mut begin = old.clone();
    let mut removed = Vec::new();
    while begin.file < oldest {
        let next = begin_of(path, key, end, begin.file.saturating_add(1))?;
        removed.push(ended(path, &begin, &next));
        begin = next;
    }
    Ok((Start::of(&begin), removed))
}

/// Returns the start of a file.
fn begin_of(path: &Path, key: &Key, end: &Position, number: u64) -> Result<Position, AuditError> {
    if number == FIRST_FILE {
        return Ok(Position::start(key));
    }
    if number > end.file {
        return Ok(end.next_file());
    }
    let path = if number == end.file { path.to_owned() } else { archived(path, number) };
    let file = files::open(&path, Access::Read)?.ok_or_else(|| missing(&path))?;
    let (begin, record) = first_record(&path, &file)?;
    if record.file == number { Ok(begin) } else { Err(no_record(&path).into()) }
}

/// Describes an archived file from its start to its end.
fn ended(path: &Path, begin: &Position, end: &Position) -> Ended {
    let name = archived(path, begin.file).file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ended { name, first: begin.next(), last: end.count, hash: end.hash.clone() }
}

/// Reads the position before the first line of a file, and its record.
fn first_record(path: &Path, file: &File) -> Result<(Position, Rotated), AuditError> {
    #[derive(Deserialize)]
    struct First {
        seq: u64,
        prev: String,
        entry: Rotated,
    }
    let failed = |error| AuditError::io("read", path)(error);
    let length = files::metadata(path, file)?.len();
    let mut lines = Lines::between(file, 0, length).map_err(failed)?;
    let first = match lines.next().map_err(failed)? {
        Piece::Line(line) => serde_json::from_slice::<First>(line).ok(),
        Piece::Torn(_) | Piece::End => None,
    };
    let First { seq, prev, entry } = first.ok_or_else(|| no_record(path))?;
    Ok((Position { file: entry.file, count: seq.saturating_sub(1), bytes: 0, hash: prev }, entry))
}

pub(crate) fn missing(path: &Path) -> Tampered {
    Tampered::new(format!("{path:?} is missing"))
}

fn no_record(path: &Path) -> Tampered {
    Tampered::new(format!("{path:?} does not begin with the record of the file before it"))
}
