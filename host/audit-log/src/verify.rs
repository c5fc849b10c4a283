//! Verification of the whole log.

use crate::error::{AuditError, Tampered};
use crate::files::{self, Access, LOCK_WAIT};
use crate::gap::Gap;
use crate::heads::{HeadFolder, Heads};
use crate::key::Key;
use crate::line::{FIRST_FILE, Position};
use crate::reader::{Lines, Piece};
use crate::rotate::{self, archived, missing};
use crate::shipped::{Comparison, ShippedHeads};
use crate::tail::{Crash, Tail};
use crate::{boot, presence};
use std::fs::File;
use std::path::Path;

/// Most attempts if the log is rotated meanwhile.
const MAX_ATTEMPTS: u32 = 5;

/// Result of verifying an untampered log. If anything but `entries` and `files` is not zero, its user should know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// All entries, including those of removed files.
    pub entries: u64,
    /// Those of them that a crash left unsigned: whoever can write to the log could have written them.
    pub recovered: u64,
    /// Known missing entries: lost in crashes, or truncated after a reboot or from a copy on another machine, which
    /// cannot be distinguished.
    pub lost: u64,
    /// Entries that could not be written, according to gap records.
    pub gaps: u64,
    /// Entries of processes that ended before writing them, without a gap record yet.
    pub unwritten: u64,
    /// Entries queued in running processes.
    pub waiting: u64,
    /// Entries of removed files, according to the log.
    pub removed: u64,
    /// Files that were read.
    pub files: u64,
    /// Comparison with shipped heads, if any.
    pub shipped: Option<ShippedHeads>,
}

/// Settings of a verification.
#[derive(Clone, Copy, Debug)]
pub struct Verification<'a> {
    /// The current file of the log; others are found by their names.
    pub log: &'a Path,
    /// The folder of its head and key.
    pub heads: &'a Path,
    /// True if that is a copy, which others may read but not write.
    pub is_copy: bool,
    /// File of shipped heads.
    pub shipped: Option<&'a Path>,
}

/// Verifies that a log is what was signed. Writes nothing. The log may be appended to meanwhile; new lines are ignored.
///
/// # Errors
/// [`AuditError::Tampered`] if it differs from what was signed; otherwise the reason why it cannot be verified.
pub fn verify(log_file: &Path, head_folder: &Path) -> Result<Verified, AuditError> {
    Verification { log: log_file, heads: head_folder, is_copy: false, shipped: None }.check()
}

impl Verification<'_> {
    /// As [`verify`].
    ///
    /// # Errors
    /// As [`verify`].
    pub fn check(&self) -> Result<Verified, AuditError> {
        self.check_in(boot::id().as_deref())
    }

    pub(crate) fn check_in(&self, boot: Option<&str>) -> Result<Verified, AuditError> {
        let folder = HeadFolder::new(self.heads);
        let mut attempt = 1;
        loop {
            let (checked, read) = self.attempt(boot, &folder);
            // Rotation renames files and removes old ones.
            let is_rotated = || self.file_number(boot, &folder) != read;
            if checked.is_ok() || attempt == MAX_ATTEMPTS || read.is_none() || !is_rotated() {
                return checked;
            }
            attempt += 1;
        }
    }

    /// Returns the number of the current file.
    fn file_number(&self, boot: Option<&str>, folder: &HeadFolder) -> Option<u64> {
        let key = Key::load(&folder.key).ok()??;
        Some(folder.heads(&key, boot).ok()??.signed().file)
    }

    /// Reads the log once. Also returns the number of the file that was current.
    fn attempt(&self, boot: Option<&str>, folder: &HeadFolder) -> (Result<Verified, AuditError>, Option<u64>) {
        let mut number = None;
        (self.read(boot, folder, &mut number), number)
    }

    fn read(&self, boot: Option<&str>, folder: &HeadFolder, number: &mut Option<u64>) -> Result<Verified, AuditError> {
        let path = self.log;
        if !folder.path.exists() {
            return Err(no_head(path));
        }
        files::check_folder(&folder.path, self.is_copy)?;
        let key = match Key::load(&folder.key)? {
            Some(key) => key,
            None if folder.has_head()? => {
                return Err(Tampered::new(format!("the key {:?} is missing", folder.key)).into());
            }
            None => return Err(no_head(path)),
        };
        // Read before the head: shipped heads are never ahead of it.
        let mut shipped = self.shipped.map(|file| Comparison::read(file, &key)).transpose()?;
        // Signed lines never change, so the lock is needed only to read the heads and the unsigned end.
        let lock = files::open(&folder.lock, Access::Read)?;
        if let Some(lock) = &lock {
            files::lock(&folder.lock, lock, true, LOCK_WAIT)?;
        }
        let heads = folder.heads(&key, boot)?;
        let file = match &heads {
            Some(heads) => rotate::current(path, heads.signed())?,
            None => path.to_owned(),
        };
        let Some(log) = files::open(&file, Access::Read)? else {
            return Err(no_log(path, heads));
        };
        let length = files::metadata(&file, &log)?.len();
        let heads = match heads {
            Some(heads) => heads,
            // A log is created before its head.
            None if length == 0 => return Ok(Verified::default()),
            None => return Err(no_head(path)),
        };
        *number = Some(heads.signed().file);
        let tail = Tail::read(&file, &log, length, &heads);
        let mut verified = Verified::default();
        for found in presence::list(&folder.open)? {
            let open = found.counts.open();
            *if found.is_held { &mut verified.waiting } else { &mut verified.unwritten } += open;
        }
        drop(lock);
        let mut reading = Reading { heads: &heads, shipped: shipped.as_mut(), crashes: Crash::default(), gaps: 0 };
        let start = rotate::start(&file, &log, &key, heads.signed())?;
        reading.all(path, &file, &log, length, start.clone())?;
        let tail = tail?;
        let Crash { entries: recovered, lost } = reading.crashes.and(&tail.crash);
        verified.gaps = reading.gaps.saturating_add(tail.gaps);
        let files = heads.signed().file.saturating_sub(start.file).saturating_add(1);
        let shipped = shipped.map(|shipped| shipped.found);
        Ok(Verified { entries: tail.end.count, recovered, lost, removed: start.count, files, shipped, ..verified })
    }
}

/// State of reading the signed lines.
struct Reading<'a> {
    heads: &'a Heads,
    shipped: Option<&'a mut Comparison>,
    /// Totals of recovery and gap records.
    crashes: Crash,
    gaps: u64,
}

impl Reading<'_> {
    /// Reads all files; the last one is open and has this length.
    fn all(&mut self, path: &Path, last: &Path, log: &File, length: u64, start: Position) -> Result<(), AuditError> {
        let signed = self.heads.signed().clone();
        let mut place = start;
        if let Some(shipped) = &mut self.shipped {
            shipped.begin(&place)?;
        }
        while place.file < signed.file {
            let archive = archived(path, place.file);
            let file = files::open(&archive, Access::Read)?.ok_or_else(|| missing(&archive))?;
            let length = files::metadata(&archive, &file)?.len();
            let name = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let read = self.file(&archive, &file, length, length, &mut place);
            read.map_err(|error| match error {
                AuditError::Tampered(Tampered { line, message }) => {
                    Tampered { line, message: format!("{message} (in {name})") }.into()
                }
                error => error,
            })?;
            place = place.next_file();
        }
        self.file(last, log, signed.bytes, length, &mut place)?;
        // A consistent chain is not enough: all of it may have been rewritten.
        let durable = &self.heads.durable;
        let expected = if place.count == durable.count { durable } else { &signed };
        if place != *expected {
            return Err(Tampered::at(place.count, "is not the line that was signed").into());
        }
        self.shipped.as_mut().map_or(Ok(()), |shipped| shipped.end(&place)).map_err(AuditError::from)
    }

    /// Reads one file of this length up to an offset.
    fn file(&mut self, path: &Path, file: &File, to: u64, length: u64, place: &mut Position) -> Result<(), AuditError> {
        let failed = |error| AuditError::io("read", path)(error);
        let (signed, durable) = (self.heads.signed(), &self.heads.durable);
        let mut is_first = place.file > FIRST_FILE;
        let mut lines = Lines::between(file, 0, to).map_err(failed)?;
        while place.bytes < to {
            let number = place.next();
            let entry = match lines.next().map_err(failed)? {
                Piece::Line(line) => place.read(line).map_err(|fault| Tampered::at(number, fault))?,
                Piece::Torn(_) | Piece::End if length < to => {
                    let message =
                        format!("is missing or incomplete: the log ends here, and {} were signed", signed.count);
                    return Err(Tampered::at(number, message).into());
                }
                Piece::Torn(_) | Piece::End => {
                    return Err(Tampered::at(number, "was changed: it does not end where it was signed to end").into());
                }
            };
            if std::mem::take(&mut is_first) {
                rotate::check_first(path, entry, place.file)?;
            }
            if let Some(crash) = Crash::parse(entry) {
                self.crashes = self.crashes.and(&crash);
            }
            self.gaps = self.gaps.saturating_add(Gap::parse(entry).unwrap_or_default());
            if let Some(shipped) = &mut self.shipped {
                shipped.pass(place)?;
            }
            if place.count == durable.count && *place != *durable {
                break;
            }
        }
        Ok(())
    }
}

fn no_head(path: &Path) -> AuditError {
    match path.exists() {
        true => {
            Tampered::new(format!("the log {path:?} has no head: it was removed, or it is in another folder")).into()
        }
        false => AuditError::NoLog { path: path.to_owned() },
    }
}

fn no_log(path: &Path, heads: Option<Heads>) -> AuditError {
    match heads {
        Some(heads) => {
            Tampered::new(format!("the log {path:?} is missing; {} entries were signed", heads.signed().count)).into()
        }
        None => AuditError::NoLog { path: path.to_owned() },
    }
}
