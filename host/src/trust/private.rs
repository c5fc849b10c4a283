//! That nobody but the user can write a file or a folder.

use super::error::TrustError;
use std::fs::Metadata;
use std::path::Path;

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
