//! Files of a folder, and nothing else that may lie there under a file's name.

use cap_fs_ext::OpenOptionsSyncExt;
use cap_std::fs::{Dir, File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a regular file; none where there is something else. It is looked at before it is opened, because opening a
/// device can already do something, and once more when it is open, because it may have been swapped in between; a pipe
/// that was swapped in does not block.
pub(crate) fn open(folder: &Dir, path: &Path) -> io::Result<Option<File>> {
    if !folder.metadata(path)?.is_file() {
        return Ok(None);
    }
    let file = folder.open_with(path, OpenOptions::new().read(true).nonblock(true))?;
    Ok(file.metadata()?.is_file().then_some(file))
}
