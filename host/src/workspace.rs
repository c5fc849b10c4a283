//! The folder whose files a script may import.

use crate::plain_file;
use agent_spaces_std::fs::is_protected;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::io::{self, Read};
use std::path::Path;

/// A folder, opened once; nothing outside it can be reached through it, symlinks included.
#[derive(Debug)]
pub struct Workspace(Dir);

impl Workspace {
    /// Opens a folder.
    pub fn open(folder: &Path) -> io::Result<Workspace> {
        Dir::open_ambient_dir(folder, ambient_authority()).map(Workspace)
    }

    /// The text of a file of at most `limit` bytes; none where there is no such file.
    pub(crate) fn read(&self, path: &str, limit: usize) -> io::Result<Option<String>> {
        // What a link leads to counts, not what it is called.
        if self.0.canonicalize(path).is_ok_and(|real| real.iter().any(|part| is_protected(&part.to_string_lossy()))) {
            return Err(io::Error::other("it is not for scripts"));
        }
        let file = match plain_file::open(&self.0, Path::new(path)) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut text = String::new();
        file.take(limit as u64 + 1).read_to_string(&mut text)?;
        if text.len() > limit {
            return Err(io::Error::other(format!("the file is longer than {limit} bytes")));
        }
        Ok(Some(text))
    }
}
