//! That nobody but the user can write a file or a folder.

use super::error::TrustError;
use std::fs::{DirBuilder, Metadata};
use std::path::Path;

/// Makes a folder, and those above it, for the user alone.
pub(super) fn create_folder(folder: &Path) -> Result<(), TrustError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(TrustError::io("create", folder))
}

/// Refuses what belongs to someone else, or what others may write to.
#[cfg(unix)]
pub(super) fn check(path: &Path, metadata: &Metadata) -> Result<(), TrustError> {
    use std::os::unix::fs::MetadataExt;
    let refuse = |fix| Err(TrustError::NotPrivate { path: path.to_owned(), fix });
    let owner = metadata.uid();
    if owner != rustix::process::geteuid().as_raw() && owner != 0 {
        return refuse("it belongs to another user: remove it, or choose another folder");
    }
    if metadata.mode() & 0o022 != 0 {
        return refuse("take the right to write from group and others (`chmod go-w`)");
    }
    Ok(())
}

/// The user's folders are theirs alone where there are no such rights.
#[cfg(not(unix))]
pub(super) fn check(_path: &Path, _metadata: &Metadata) -> Result<(), TrustError> {
    Ok(())
}
