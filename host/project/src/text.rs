//! Size-limited reading and atomic writing of text files. The limit is needed because a configuration may name any
//! file.

use super::ProjectError;
use std::fs::File;
use std::io::{Error, Read, Write as _};
use std::path::Path;

/// Reads a file of at most `most` bytes.
pub(super) fn read(file: &Path, most: usize) -> Result<String, ProjectError> {
    let read = || {
        let mut text = String::new();
        File::open(file)?.take(most as u64 + 1).read_to_string(&mut text)?;
        if text.len() > most {
            return Err(Error::other(format!("it is larger than the limit of {most} bytes")));
        }
        Ok(text)
    };
    read().map_err(|error| ProjectError::file(file, error))
}

/// Replaces a file atomically: a reader sees the new text or the old one. Other users may read it.
pub(super) fn write(file: &Path, text: &str) -> Result<(), ProjectError> {
    let write = || {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // Temporary files have mode 0600; this one is committed and shared.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        let mut kept = builder.tempfile_in(parent)?;
        kept.write_all(text.as_bytes())?;
        kept.persist(file).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| ProjectError::file(file, error))
}
