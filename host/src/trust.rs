//! Which files of projects their user has accepted.
//!
//! A project's file can do nothing until its user accepts it: the commands, secret commands and variables that it names
//! stay inert. What is accepted is one file with the contents that it had; changed, it waits again.
//!
//! - `store`: the file in the user's state folder
//! - `private`: that nobody else can write there
//! - [`waiting`], [`waiting_commands`], [`opens`]: what a file would start and open, for the one who decides

mod error;
mod opens;
mod private;
mod store;
mod waiting;

pub use error::TrustError;
pub use opens::opens;
pub(crate) use waiting::command_line;
pub use waiting::{waiting, waiting_commands};

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use store::{Record, Store};

/// The files that the user has accepted.
#[derive(Debug)]
pub struct Trust {
    store: Store,
}

/// What the user has said about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing.
    New,
    /// It was accepted, and has other contents since.
    Changed,
    /// It is accepted as it is.
    Accepted,
}

/// One accepted file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Its path, without links.
    pub path: PathBuf,
    /// The hash of its contents, in hexadecimal digits.
    pub sha256: String,
    /// When it was accepted.
    pub when: SystemTime,
}

/// Nothing is accepted.
impl Default for Trust {
    fn default() -> Trust {
        Trust::in_memory()
    }
}

impl Trust {
    /// Keeps what is accepted in this file, which need not be there yet.
    pub fn in_file(path: impl Into<PathBuf>) -> Trust {
        Trust { store: Store::in_file(path.into()) }
    }

    /// Keeps what is accepted for as long as it lives.
    pub fn in_memory() -> Trust {
        Trust { store: Store::in_memory() }
    }

    /// What the user has said about a file with these contents.
    ///
    /// The contents are those that will be used: a file that is read again later may be another.
    pub fn status(&self, file: &Path, contents: &[u8]) -> Result<Status, TrustError> {
        let path = path_text(&resolved(file)?)?;
        Ok(match self.store.read()?.get(&path) {
            None => Status::New,
            Some(record) if record.sha256 == hash(contents) => Status::Accepted,
            Some(_) => Status::Changed,
        })
    }

    /// Whether a file is accepted with exactly these contents.
    pub fn is_accepted(&self, file: &Path, contents: &[u8]) -> Result<bool, TrustError> {
        Ok(self.status(file, contents)? == Status::Accepted)
    }

    /// Accepts a file with these contents, in place of any others that it had.
    pub fn accept(&self, file: &Path, contents: &[u8]) -> Result<(), TrustError> {
        let path = path_text(&resolved(file)?)?;
        let record = Record { sha256: hash(contents), when: SystemTime::now() };
        self.store.change(|records| {
            records.insert(path, record);
            true
        })?;
        Ok(())
    }

    /// Takes an acceptance back; says whether there was one. The file itself may be gone.
    pub fn revoke(&self, file: &Path) -> Result<bool, TrustError> {
        let path = match resolved(file) {
            Ok(path) => path,
            Err(TrustError::Missing { .. }) => resolved_without_file(file)?,
            Err(error) => return Err(error),
        };
        let path = path_text(&path)?;
        self.store.change(|records| records.remove(&path).is_some())
    }

    /// All that is accepted, by path.
    pub fn list(&self) -> Result<Vec<Accepted>, TrustError> {
        let accepted =
            |(path, record): (String, Record)| Accepted { path: path.into(), sha256: record.sha256, when: record.when };
        Ok(self.store.read()?.into_iter().map(accepted).collect())
    }
}

/// The file itself, whatever links lead to it.
fn resolved(file: &Path) -> Result<PathBuf, TrustError> {
    std::fs::canonicalize(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => TrustError::Missing { path: file.to_owned() },
        _ => TrustError::io("find", file)(error),
    })
}

/// Where a file was that is gone: its folder's links are still followed, if that is there.
fn resolved_without_file(file: &Path) -> Result<PathBuf, TrustError> {
    let absolute = std::path::absolute(file).map_err(TrustError::io("find", file))?;
    let folder = absolute.parent().and_then(|folder| std::fs::canonicalize(folder).ok());
    Ok(match (folder, absolute.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => absolute,
    })
}

fn path_text(path: &Path) -> Result<String, TrustError> {
    path.to_str().map(str::to_owned).ok_or_else(|| TrustError::NotText { path: path.to_owned() })
}

fn hash(contents: &[u8]) -> String {
    Sha256::digest(contents).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
