//! Permission check: only the user can write a file or a folder.

use super::error::TrustError;
use std::fs::Metadata;
use std::path::Path;

/// Refuses a file or folder that another user owns or may write.
#[cfg(unix)]
pub(super) fn check(path: &Path, metadata: &Metadata) -> Result<(), TrustError> {
    use std::os::unix::fs::MetadataExt;
    let refuse = |fix| Err(TrustError::NotPrivate { path: path.to_owned(), fix });
    let owner = metadata.uid();
    if owner != rustix::process::geteuid().as_raw() && owner != 0 {
        return refuse("it belongs to another user: remove it, or choose another folder");
    }
    if metadata.mode() & 0o022 != 0 {
        return refuse("remove the write permission of group and others (`chmod go-w`)");
    }
    Ok(())
}

/// Without Unix permissions nothing is checked: the user's folders are private by default.
#[cfg(not(unix))]
pub(super) fn check(_path: &Path, _metadata: &Metadata) -> Result<(), TrustError> {
    Ok(())
}
