//! Trust: the files of projects that their user has accepted.
//!
//! A project's file has no effect until its user accepts it: its commands, secret commands and variables stay inert. An
//! acceptance holds for one path with one content; a changed file must be accepted again.
//!
//! # Layout
//! - `store`: the list of accepted files, in the user's state folder.
//! - `permissions`: check that other users cannot write the list.
//! - `acceptance`: [`Acceptance`], a file with its trust status.
//! - `error`: [`TrustError`].

mod acceptance;
mod error;
mod permissions;
mod store;

pub use acceptance::Acceptance;
pub use agent_spaces_types::command_line::command_line;
pub use error::TrustError;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use store::{Record, Store};

/// List of accepted files.
#[derive(Debug)]
pub struct Trust {
    store: Store,
}

/// Trust status of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Never accepted.
    New,
    /// Accepted, and changed since.
    Changed,
    /// Accepted with its current contents.
    Accepted,
}

/// Accepted file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Path with symlinks resolved.
    pub path: PathBuf,
    /// SHA-256 of its contents, in hexadecimal.
    pub sha256: String,
    /// Time of acceptance.
    pub when: SystemTime,
}

/// A list in memory, without accepted files.
impl Default for Trust {
    fn default() -> Trust {
        Trust::in_memory()
    }
}

impl Trust {
    /// List in this file, which need not exist yet.
    pub fn in_file(path: impl Into<PathBuf>) -> Trust {
        Trust { store: Store::in_file(path.into()) }
    }

    /// List in memory.
    pub fn in_memory() -> Trust {
        Trust { store: Store::in_memory() }
    }

    /// Trust status of a file with these contents.
    ///
    /// Pass the contents that will be used: the file may change before it is read again.
    pub fn status(&self, file: &Path, contents: &[u8]) -> Result<Status, TrustError> {
        let path = path_text(&resolved(file)?)?;
        Ok(match self.store.read()?.get(&path) {
            None => Status::New,
            Some(record) if record.sha256 == hash(contents) => Status::Accepted,
            Some(_) => Status::Changed,
        })
    }

    /// Returns true if a file is accepted with exactly these contents.
    pub fn is_accepted(&self, file: &Path, contents: &[u8]) -> Result<bool, TrustError> {
        Ok(self.status(file, contents)? == Status::Accepted)
    }

    /// Accepts a file with these contents, which replace those accepted before.
    pub fn accept(&self, file: &Path, contents: &[u8]) -> Result<(), TrustError> {
        let path = path_text(&resolved(file)?)?;
        let record = Record { sha256: hash(contents), when: SystemTime::now() };
        self.store.change(|records| {
            records.insert(path, record);
            true
        })?;
        Ok(())
    }

    /// Revokes an acceptance. Returns true if there was one. The file itself may be deleted.
    pub fn revoke(&self, file: &Path) -> Result<bool, TrustError> {
        let path = match resolved(file) {
            Ok(path) => path,
            Err(TrustError::Missing { .. }) => resolved_without_file(file)?,
            Err(error) => return Err(error),
        };
        let path = path_text(&path)?;
        self.store.change(|records| records.remove(&path).is_some())
    }

    /// All accepted files, sorted by path.
    pub fn list(&self) -> Result<Vec<Accepted>, TrustError> {
        let accepted =
            |(path, record): (String, Record)| Accepted { path: path.into(), sha256: record.sha256, when: record.when };
        Ok(self.store.read()?.into_iter().map(accepted).collect())
    }
}

/// Resolves symlinks of a path.
fn resolved(file: &Path) -> Result<PathBuf, TrustError> {
    std::fs::canonicalize(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => TrustError::Missing { path: file.to_owned() },
        _ => TrustError::io("find", file)(error),
    })
}

/// Resolves the path of a deleted file: symlinks of its folder are resolved if that exists.
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
    HEXLOWER.encode(&Sha256::digest(contents))
}

#[cfg(test)]
mod tests;
