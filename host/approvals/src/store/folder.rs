//! Private folder of small files.
//!
//! Files are opened relative to the folder's descriptor and never through symlinks; they are written atomically.

use super::error::StoreError;
use data_encoding::HEXLOWER;
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, linkat, mkdirat, open, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use std::fs::{DirBuilder, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Prefix of temporary files.
const UNFINISHED: &str = ".new-";
/// Age at which a temporary file counts as abandoned: writing one takes a moment.
const ABANDONED: Duration = Duration::from_secs(60);
/// Most directory entries that are read, so that a flooded folder cannot stall us.
const MAX_NAMES: usize = 10_000;

/// Permissions that group and others must not have.
#[derive(Clone, Copy)]
pub(super) enum Rights {
    /// No access for others.
    Private,
    /// No write access for others.
    Unshared,
}

/// An opened folder.
pub(super) struct Folder {
    folder: OwnedFd,
    path: PathBuf,
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Folder {
    /// Opens a folder, creating it if missing.
    pub(super) fn open(path: &Path, rights: Rights) -> Result<Folder, StoreError> {
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| StoreError::Io {
            action: "create",
            path: path.to_owned(),
            error,
        })?;
        let folder = open(path, FOLDER, Mode::empty()).map_err(StoreError::io("open", path.to_owned()))?;
        Folder { folder, path: path.to_owned() }.checked(rights)
    }

    /// Opens a subfolder, creating it if missing.
    pub(super) fn inner(&self, name: &str) -> Result<Folder, StoreError> {
        let path = self.path.join(name);
        match mkdirat(&self.folder, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(StoreError::io("create", path)(error)),
        }
        let opened = openat(&self.folder, name, FOLDER, Mode::empty());
        let folder = opened.map_err(StoreError::io("open", path.clone()))?;
        Folder { folder, path }.checked(Rights::Private)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Reads a file, or returns `None` if there is none.
    pub(super) fn read(&self, name: &str, limit: usize) -> Result<Option<Vec<u8>>, StoreError> {
        // Non-blocking: opening a FIFO would block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.folder, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NXIO) => return Err(StoreError::NotFile { path: self.path(name) }),
            Err(error) => return Err(StoreError::io("open", self.path(name))(error)),
        };
        let known = fstat(&file).map_err(StoreError::io("read", self.path(name)))?;
        if FileType::from_raw_mode(known.st_mode) != FileType::RegularFile {
            return Err(StoreError::NotFile { path: self.path(name) });
        }
        check(&self.path(name), &known, Rights::Unshared)?;
        let mut bytes = Vec::new();
        let read = File::from(file).take(limit as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| StoreError::Io { action: "read", path: self.path(name), error })?;
        match bytes.len() > limit {
            true => Err(StoreError::TooLarge { path: self.path(name), limit }),
            false => Ok(Some(bytes)),
        }
    }

    /// True if an entry of this name exists.
    pub(super) fn has(&self, name: &str) -> Result<bool, StoreError> {
        match statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(StoreError::io("look for", self.path(name))(error)),
        }
    }

    /// Creates a file; returns false if the name is taken.
    pub(super) fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        let unfinished = self.write(bytes)?;
        // Unlike a rename, a hard link never replaces an existing file.
        let linked = linkat(&self.folder, &unfinished, &self.folder, name, AtFlags::empty());
        self.remove(&unfinished)?;
        match linked {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(StoreError::io("create", self.path(name))(error)),
        }
    }

    /// Creates or replaces a file.
    pub(super) fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let unfinished = self.write(bytes)?;
        renameat(&self.folder, &unfinished, &self.folder, name).map_err(|error| {
            let _ = self.remove(&unfinished);
            StoreError::io("replace", self.path(name))(error)
        })
    }

    /// Removes a file; returns whether there was one.
    pub(super) fn remove(&self, name: &str) -> Result<bool, StoreError> {
        match unlinkat(&self.folder, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(StoreError::io("remove", self.path(name))(error)),
        }
    }

    /// Lists file names. Abandoned temporary files are removed.
    pub(super) fn names(&self) -> Result<Vec<String>, StoreError> {
        let failed = || StoreError::io("list", self.path.clone());
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.folder).map_err(failed())?.take(MAX_NAMES) {
            let entry = entry.map_err(failed())?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            match name {
                "." | ".." => {}
                name if name.starts_with(UNFINISHED) => self.sweep(name)?,
                name => names.push(name.to_owned()),
            }
        }
        Ok(names)
    }

    fn sweep(&self, unfinished: &str) -> Result<(), StoreError> {
        let Ok(known) = statat(&self.folder, unfinished, AtFlags::SYMLINK_NOFOLLOW) else { return Ok(()) };
        let written = UNIX_EPOCH + Duration::from_secs(u64::try_from(known.st_mtime).unwrap_or_default());
        if SystemTime::now().duration_since(written).is_ok_and(|age| age > ABANDONED) {
            self.remove(unfinished)?;
        }
        Ok(())
    }

    /// Writes a temporary file and returns its name.
    fn write(&self, bytes: &[u8]) -> Result<String, StoreError> {
        let mut random = [0; 12];
        getrandom::fill(&mut random).map_err(|error| StoreError::NoRandomness(error.to_string()))?;
        let name = format!("{UNFINISHED}{}", HEXLOWER.encode(&random));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(&self.folder, &name, flags, Mode::RUSR | Mode::WUSR);
        let mut file = File::from(opened.map_err(StoreError::io("create", self.path(&name)))?);
        file.write_all(bytes).map_err(|error| {
            let _ = self.remove(&name);
            StoreError::Io { action: "write", path: self.path(&name), error }
        })?;
        Ok(name)
    }

    fn checked(self, rights: Rights) -> Result<Folder, StoreError> {
        let known = fstat(&self.folder).map_err(StoreError::io("open", self.path.clone()))?;
        check(&self.path, &known, rights)?;
        Ok(self)
    }
}

/// Refuses a folder of another user, or with permissions for others.
fn check(path: &Path, known: &Stat, rights: Rights) -> Result<(), StoreError> {
    let refuse = |fix| Err(StoreError::NotPrivate { path: path.to_owned(), fix });
    if known.st_uid != rustix::process::geteuid().as_raw() {
        return refuse("it belongs to another user; remove it, or choose another folder");
    }
    let (refused, fix) = match rights {
        Rights::Private => (Mode::RWXG | Mode::RWXO, "remove all permissions of group and others (`chmod go=`)"),
        Rights::Unshared => (Mode::WGRP | Mode::WOTH, "remove write permission of group and others (`chmod go-w`)"),
    };
    match Mode::from_raw_mode(known.st_mode).intersects(refused) {
        true => refuse(fix),
        false => Ok(()),
    }
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
