//! A file that is being written: it has a hidden name until it is whole, and vanishes if it never is.

use crate::protected::TEMPORARY_START;
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
    /// Makes one in the folder that it will stay in: only there can it take another's place in one step.
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

    /// Gives it its name, in place of what had it.
    pub(super) fn rename(mut self, name: &OsStr) -> io::Result<()> {
        self.folder.rename(&self.name, self.folder, name)?;
        self.is_kept = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            // Nothing can be done if this fails too; its name keeps it out of sight.
            let _ = self.folder.remove_file(&self.name);
        }
    }
}
