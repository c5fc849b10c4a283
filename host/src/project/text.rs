//! Files of a project as text, of a bounded size: a configuration may name any.

use super::ProjectError;
use std::fs::File;
use std::io::{Error, Read};
use std::path::Path;

/// Reads a file of at most so many bytes.
pub(super) fn read(file: &Path, most: usize) -> Result<String, ProjectError> {
    let read = || {
        let mut text = String::new();
        File::open(file)?.take(most as u64 + 1).read_to_string(&mut text)?;
        if text.len() > most {
            return Err(Error::other(format!("it is larger than {most} bytes, which is the most that is read")));
        }
        Ok(text)
    };
    read().map_err(|error| ProjectError::file(file, error))
}
