//! Files of a workspace for callers other than scripts, with the same checks.
//!
//! A file has an ETag, a hash of its bytes, and changes can depend on it. All changes of a workspace hold one lock, so
//! of two writers that expect the same ETag one wins.

use super::delete::remove_file;
use super::failure::{failure, is_a_folder};
use super::path::{WorkspacePath, check_spelling, is_shown};
use super::path_resolution::{LastLink, ResolvedPath};
use super::read::{check_regular, open_regular};
use super::walk::{Next, Unreadable, walk};
use super::{Files, Workspace};
use crate::error::StdError;
use agent_spaces_protected_paths::Access;
use cap_std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::time::SystemTime;

/// Length of an ETag in hexadecimal digits: 128 bits, which no two files share by chance.
const ETAG_DIGITS: usize = 32;

/// Size of the blocks in which a file is hashed.
const BLOCK_BYTES: usize = 64 << 10;

/// File of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Path from the workspace, with `/` between its parts.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change, if the file system has one.
    pub modified: Option<SystemTime>,
}

/// File with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContents {
    /// Bytes.
    pub bytes: Vec<u8>,
    /// ETag of the bytes.
    pub etag: String,
    /// Time of the last change, if the file system has one.
    pub modified: Option<SystemTime>,
}

/// State of a file that a change depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precondition<'a> {
    /// The file exists and has this ETag.
    Match(&'a str),
    /// The file exists.
    Present,
    /// There is no file of this name.
    Absent,
    /// Any.
    Any,
}

/// A change of a file that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// True if there was no file before.
    pub created: bool,
    /// ETag of the written bytes.
    pub etag: String,
}

/// Error of an operation on a file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FileError {
    /// The file is not in the state that the change depends on.
    #[error("The file is not in the expected state")]
    Precondition {
        /// ETag of the file, if there is one.
        etag: Option<String>,
    },
    /// The file has more bytes than the caller takes.
    #[error("The file has more than {0} bytes")]
    TooLarge(u64),
    /// Refused or failed, as for a script.
    #[error(transparent)]
    Refused(#[from] StdError),
}

impl FileError {
    /// True if there is no such file.
    pub fn is_not_found(&self) -> bool {
        matches!(self, FileError::Refused(error) if is_missing(error))
    }
}

/// True for the error of a path that names nothing.
fn is_missing(error: &StdError) -> bool {
    let reason = error.details.as_ref().and_then(|details| details.get("reason")?.as_str());
    // A path through a file names nothing either.
    matches!(reason, Some("notFound" | "notDirectory"))
}

/// ETag of a file with these bytes: the first digits of their BLAKE3 hash.
pub fn etag_of(bytes: &[u8]) -> String {
    etag(&blake3::hash(bytes))
}

fn etag(hash: &blake3::Hash) -> String {
    hash.to_hex().chars().take(ETAG_DIGITS).collect()
}

/// These functions block: call them on a thread where that is allowed.
impl Files {
    /// Lists files whose path begins with `prefix` and comes after `after`, in the byte order of their paths. Symlinks
    /// are neither followed nor listed, nor are files that scripts cannot see.
    pub fn list_page(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<FileEntry>, FileError> {
        self.0.may_read()?;
        if !prefix.is_empty() {
            check_spelling("prefix", prefix)?;
        }
        Ok(self.0.list_page(prefix, after, limit)?)
    }

    /// Reads a file of at most `max` bytes; `None` if there is none.
    pub fn read_bytes(&self, path: &str, max: u64) -> Result<Option<FileContents>, FileError> {
        self.0.may_read()?;
        match self.0.contents(path, max) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Computes the ETag of a file without keeping its bytes; `None` if there is none.
    pub fn etag(&self, path: &str) -> Result<Option<String>, FileError> {
        self.0.may_read()?;
        let path = WorkspacePath::parse(path, Access::Read)?;
        Ok(self.0.current_etag(&path)?)
    }

    /// Creates or replaces a file atomically, with the folders that its path needs.
    pub fn write_bytes(&self, path: &str, bytes: &[u8], expected: Precondition<'_>) -> Result<Written, FileError> {
        self.0.may_write()?;
        self.0.write_if(path, bytes, expected)
    }

    /// Deletes a file. Returns false if there is none. A folder is refused.
    pub fn delete_file(&self, path: &str, expected: Precondition<'_>) -> Result<bool, FileError> {
        self.0.may_write()?;
        self.0.delete_if(path, expected)
    }
}

impl Workspace {
    fn list_page(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<FileEntry>, StdError> {
        let mut listed = Vec::new();
        let whole = walk(&self.root, ".", Unreadable::Skip, &mut |entry| {
            let Some(name) = entry.name.to_str().filter(|name| is_shown(name)) else { return Ok(Next::Pass) };
            let mut path = String::new();
            for above in entry.above {
                // Folders with other names were not entered.
                path.push_str(above.to_str().unwrap_or_default());
                path.push('/');
            }
            path.push_str(name);
            if entry.kind.is_dir() {
                path.push('/');
                let is_wanted = path.starts_with(prefix) || prefix.starts_with(&path);
                // All paths below it come before `after` unless it is a prefix of `after`.
                let is_passed = after.is_some_and(|after| path.as_str() <= after && !after.starts_with(&path));
                return Ok(if is_wanted && !is_passed { Next::Enter } else { Next::Pass });
            }
            if !entry.kind.is_file() || !path.starts_with(prefix) || after.is_some_and(|after| path.as_str() <= after) {
                return Ok(Next::Pass);
            }
            match entry.folder.symlink_metadata(entry.name) {
                Ok(metadata) if check_regular(&metadata, &path).is_ok() => {
                    let modified = metadata.modified().ok().map(|time| time.into_std());
                    listed.push(FileEntry { path, size: metadata.len(), modified });
                }
                // Not readable by scripts, such as one with several names.
                Ok(_) => {}
                // Deleted meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(failure(".", &error)),
            }
            Ok(Next::Pass)
        })?;
        whole.ok_or_else(|| {
            StdError::failed("The workspace has too many files to list; delete some of them").because("tooMany")
        })?;
        // The walk visits `a/b` before `a.b`; in byte order `.` comes before `/`.
        listed.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        listed.truncate(limit);
        Ok(listed)
    }

    fn contents(&self, path: &str, max: u64) -> Result<FileContents, FileError> {
        let (bytes, metadata) = self.read_at_most(path, max)?;
        if bytes.len() as u64 > max {
            return Err(FileError::TooLarge(max));
        }
        let modified = metadata.modified().ok().map(|time| time.into_std());
        Ok(FileContents { etag: etag_of(&bytes), bytes, modified })
    }

    /// ETag of the file at a path, whatever its size; `None` if there is no file.
    fn current_etag(&self, path: &WorkspacePath) -> Result<Option<String>, StdError> {
        let hash = || -> Result<String, StdError> {
            let place = ResolvedPath::find(&self.root, path, LastLink::Follow)?;
            let name = place.name.ok_or_else(|| is_a_folder(&path.shown))?;
            let (mut file, _) = open_regular(&place.folder, &name, OpenOptions::new().read(true), &path.shown)?;
            let (mut hasher, mut block) = (blake3::Hasher::new(), vec![0_u8; BLOCK_BYTES]);
            loop {
                let count = file.read(&mut block).map_err(|error| failure(&path.shown, &error))?;
                if count == 0 {
                    return Ok(etag(&hasher.finalize()));
                }
                hasher.update(block.get(..count).unwrap_or_default());
            }
        };
        match hash() {
            Ok(etag) => Ok(Some(etag)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Refuses a change if the file is not in the expected state. Returns true if there is a file. The caller holds the
    /// lock on changes.
    fn check(&self, path: &WorkspacePath, expected: Precondition<'_>) -> Result<bool, FileError> {
        let etag = self.current_etag(path)?;
        let is_met = match expected {
            Precondition::Match(wanted) => etag.as_deref() == Some(wanted),
            Precondition::Present => etag.is_some(),
            Precondition::Absent => etag.is_none(),
            Precondition::Any => true,
        };
        if is_met { Ok(etag.is_some()) } else { Err(FileError::Precondition { etag }) }
    }

    fn write_if(&self, path: &str, bytes: &[u8], expected: Precondition<'_>) -> Result<Written, FileError> {
        let parsed = WorkspacePath::parse(path, Access::Write)?;
        self.check_size(&parsed.shown, bytes.len() as u64)?;
        let mut held = self.usage.lock()?;
        let is_present = self.check(&parsed, expected)?;
        let above = parsed.parts.len().saturating_sub(1);
        let folder = WorkspacePath {
            shown: parsed.shown.clone(),
            parts: parsed.parts.iter().take(above).cloned().collect(),
            access: parsed.access,
        };
        self.mkdir_held(&mut held, &folder)?;
        self.write_held(&mut held, &parsed, bytes)?;
        Ok(Written { created: !is_present, etag: etag_of(bytes) })
    }

    fn delete_if(&self, path: &str, expected: Precondition<'_>) -> Result<bool, FileError> {
        let parsed = WorkspacePath::parse(path, Access::Write)?;
        let mut held = self.usage.lock()?;
        if !self.check(&parsed, expected)? {
            return Ok(false);
        }
        let place = ResolvedPath::find(&self.root, &parsed, LastLink::Keep)?;
        let name = place.name.ok_or_else(|| is_a_folder(&parsed.shown))?;
        remove_file(&mut held, &place.folder, &name, &parsed.shown)?;
        Ok(true)
    }
}
