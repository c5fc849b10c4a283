//! Reading the whole log.

use crate::boot;
use crate::error::{AuditError, Tampered};
use crate::files::{self, Access};
use crate::heads::{HeadFolder, Heads};
use crate::key::Key;
use crate::line::Position;
use crate::reader::{Lines, Piece};
use crate::tail::{Crash, Tail};
use std::fs::File;
use std::path::Path;

/// A log in which nobody changed a line that was signed. If `recovered` or `lost` is not zero, its user should know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// All entries.
    pub entries: u64,
    /// Those of them that a crash left without a signature: who could write to the log could have written them too.
    pub recovered: u64,
    /// Entries that are missing, as far as is known: crashes took them, or somebody cut them off after the machine was
    /// started anew, or from a copy on another machine, which cannot be told apart.
    pub lost: u64,
}

/// Whether a log is what was signed. Nothing is written, and the log may be written to meanwhile; what is added then is
/// not looked at.
///
/// # Errors
/// [`AuditError::Tampered`] where it is not what was signed; anything else is why that cannot be said.
pub fn verify(log_file: &Path, head_folder: &Path) -> Result<Verified, AuditError> {
    check(boot::id().as_deref(), log_file, &HeadFolder::new(head_folder), false)
}

/// As [`verify`], with a copy of the head folder, which others may read but not write to.
pub fn verify_copy(log_file: &Path, head_folder: &Path) -> Result<Verified, AuditError> {
    check(boot::id().as_deref(), log_file, &HeadFolder::new(head_folder), true)
}

pub(crate) fn check(
    boot: Option<&str>,
    path: &Path,
    folder: &HeadFolder,
    is_copy: bool,
) -> Result<Verified, AuditError> {
    if !folder.path.exists() {
        return Err(no_head(path));
    }
    files::check_folder(&folder.path, is_copy)?;
    // Signed lines never change, so the lock is needed only to see which are signed, and what stands after them.
    let lock = files::open(&folder.lock, Access::Read)?;
    if let Some(lock) = &lock {
        files::lock(&folder.lock, lock, true)?;
    }
    let key = match Key::load(&folder.key)? {
        Some(key) => key,
        None if folder.has_head()? => return Err(Tampered::new(format!("the key {:?} is gone", folder.key)).into()),
        None => return Err(no_head(path)),
    };
    let Some(log) = files::open(path, Access::Read)? else {
        return Err(no_log(path, folder.heads(&key, boot)?));
    };
    let length = files::metadata(path, &log)?.len();
    let heads = match folder.heads(&key, boot)? {
        Some(heads) => heads,
        // A log is made before its head.
        None if length == 0 => return Ok(Verified::default()),
        None => return Err(no_head(path)),
    };
    let tail = Tail::read(path, &log, length, &heads);
    drop(lock);
    let crashes = read_signed(path, &log, length, &heads, Position::start(&key))?;
    let tail = tail?;
    let Crash { entries: recovered, lost } = crashes.and(&tail.crash);
    Ok(Verified { entries: tail.end.count, recovered, lost })
}

/// Reads all that is signed. Gives what entries tell of crashes.
fn read_signed(path: &Path, log: &File, length: u64, heads: &Heads, start: Position) -> Result<Crash, AuditError> {
    let failed = |error| AuditError::io("read", path)(error);
    let signed = heads.signed();
    let mut crashes = Crash::default();
    let mut place = start;
    let mut lines = Lines::between(log, 0, signed.bytes).map_err(failed)?;
    while place.bytes < signed.bytes {
        let number = place.next();
        let entry = match lines.next().map_err(failed)? {
            Piece::Line(line) => place.read(line).map_err(|fault| Tampered::at(number, fault))?,
            Piece::Torn(_) | Piece::End if length < signed.bytes => {
                let message = format!("is missing or incomplete: the log ends here, and {} were signed", signed.count);
                return Err(Tampered::at(number, message).into());
            }
            Piece::Torn(_) | Piece::End => {
                return Err(Tampered::at(number, "was changed: it does not end where it was signed to end").into());
            }
        };
        if let Some(crash) = Crash::told_by(entry) {
            crashes = crashes.and(&crash);
        }
        if place.count == heads.durable.count && place != heads.durable {
            break;
        }
    }
    // Lines that fit together are not enough: somebody may have written all of them anew.
    let expected = if place.count == heads.durable.count { &heads.durable } else { signed };
    match place == *expected {
        true => Ok(crashes),
        false => Err(Tampered::at(place.count, "is not the line that was signed").into()),
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
            Tampered::new(format!("the log {path:?} is gone; {} entries were signed", heads.signed().count)).into()
        }
        None => AuditError::NoLog { path: path.to_owned() },
    }
}
