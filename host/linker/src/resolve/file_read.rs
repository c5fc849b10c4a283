//! Record of a workspace file that a script's imports were resolved with.

use crate::workspace::Workspace;
use agent_spaces_script::MAX_SOURCE_BYTES;
use std::io;

/// A file that was looked for, and what was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRead {
    path: String,
    /// Hash of its text; `None` if it could not be read.
    text: Option<[u8; 32]>,
}

impl FileRead {
    pub(super) fn of(path: &str, read: &io::Result<Option<String>>) -> FileRead {
        let text = read.as_ref().ok().and_then(Option::as_ref);
        FileRead { path: path.to_owned(), text: text.map(|text| *blake3::hash(text.as_bytes()).as_bytes()) }
    }

    /// Returns true if the file is still what it was, or still not there.
    pub fn is_current(&self, workspace: &Workspace) -> bool {
        *self == FileRead::of(&self.path, &workspace.read(&self.path, MAX_SOURCE_BYTES))
    }
}
