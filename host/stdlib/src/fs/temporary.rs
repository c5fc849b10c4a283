//! Temporary file for atomic writes: hidden until it is complete, and deleted otherwise.

use agent_spaces_protected_paths::TEMPORARY_START;
use cap_std::fs::{Dir, File, OpenOptions, Permissions};
use std::ffi::OsStr;
use std::io::{self, Write};

pub(super) struct Temporary<'a> {
    folder: &'a Dir,
    name: String,
    file: File,
    is_kept: bool,
}

impl<'a> Temporary<'a> {
    /// Creates one in the target's folder, so that it can be renamed atomically.
    pub(super) fn create(folder: &'a Dir) -> io::Result<Temporary<'a>> {
        let number = getrandom::u64()?;
        let name = format!("{TEMPORARY_START}{number:016x}");
        let file = folder.open_with(&name, OpenOptions::new().write(true).create_new(true))?;
        Ok(Temporary { folder, name, file, is_kept: false })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    pub(super) fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        self.file.set_permissions(permissions)
    }

    /// Renames it to its final name, replacing what has it.
    pub(super) fn rename(mut self, name: &OsStr) -> io::Result<()> {
        self.folder.rename(&self.name, self.folder, name)?;
        self.is_kept = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            // Best effort; its name hides it from scripts.
            let _ = self.folder.remove_file(&self.name);
        }
    }
}
