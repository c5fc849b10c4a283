//! Reading files.

use super::Workspace;
use super::failure::{failure, is_a_folder};
use super::path::WorkspacePath;
use super::path_resolution::{LastLink, ResolvedPath};
use crate::error::StdError;
use agent_spaces_protected_paths::Access;
use cap_fs_ext::{FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use std::ffi::OsStr;
use std::io::Read;

impl Workspace {
    pub(super) fn read_text(&self, path: &str) -> Result<String, StdError> {
        String::from_utf8(self.read_bytes(path)?)
            .map_err(|_| StdError::failed(format!("\"{path}\" is not UTF-8 text; use readBytes")).because("notText"))
    }

    pub(super) fn read_bytes(&self, path: &str) -> Result<Vec<u8>, StdError> {
        Ok(self.read_at_most(path, u64::MAX)?.0)
    }

    /// Reads a file and its metadata. Of a file with more than `max` bytes, one byte more than that is read.
    pub(super) fn read_at_most(&self, path: &str, max: u64) -> Result<(Vec<u8>, Metadata), StdError> {
        let path = WorkspacePath::parse(path, Access::Read)?;
        let place = ResolvedPath::find(&self.root, &path, LastLink::Follow)?;
        let name = place.name.ok_or_else(|| is_a_folder(&path.shown))?;
        let (file, metadata) = open_regular(&place.folder, &name, OpenOptions::new().read(true), &path.shown)?;
        self.check_size(&path.shown, metadata.len())?;
        let mut bytes = Vec::new();
        // It may have grown meanwhile; then one extra byte shows it.
        let most = self.policy.max_file_bytes.min(max).saturating_add(1);
        file.take(most).read_to_end(&mut bytes).map_err(|error| failure(&path.shown, &error))?;
        self.check_size(&path.shown, bytes.len() as u64)?;
        Ok((bytes, metadata))
    }

    /// Refuses a file over the size limit.
    pub(super) fn check_size(&self, path: &str, bytes: u64) -> Result<(), StdError> {
        let most = self.policy.max_file_bytes;
        if bytes <= most {
            return Ok(());
        }
        Err(StdError::denied(format!("\"{path}\" has more than the {most} bytes that a file may have in this space"))
            .because("fileTooLarge"))
    }
}

/// Opens a regular file with one hard link. It is checked before opening, because opening a device can have effects,
/// and again once open, because it may have been swapped; a FIFO swapped in does not block.
pub(super) fn open_regular(
    folder: &Dir,
    name: &OsStr,
    options: &mut OpenOptions,
    shown: &str,
) -> Result<(File, Metadata), StdError> {
    let failed = |error| failure(shown, &error);
    check_regular(&folder.symlink_metadata(name).map_err(failed)?, shown)?;
    let file = folder.open_with(name, options.follow(FollowSymlinks::No).nonblock(true)).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    check_regular(&metadata, shown)?;
    Ok((file, metadata))
}

/// Refuses anything but a regular file with one hard link.
pub(super) fn check_regular(metadata: &Metadata, shown: &str) -> Result<(), StdError> {
    if metadata.is_dir() {
        return Err(is_a_folder(shown));
    }
    if !metadata.is_file() {
        return Err(StdError::denied(format!("\"{shown}\" is not a regular file")).because("notFile"));
    }
    if metadata.nlink() > 1 {
        return Err(StdError::denied(format!(
            "\"{shown}\" is not allowed: the file has several names (hard links), and one may be outside the workspace"
        ))
        .because("hardLink"));
    }
    Ok(())
}
