//! Opening of regular files: no devices, pipes or folders.

use cap_fs_ext::OpenOptionsSyncExt;
use cap_std::fs::{Dir, File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a regular file; `None` for anything else. The type is checked before opening, because opening a device can
/// have effects, and again afterwards, because the file may have been swapped in between; a pipe that was swapped in
/// does not block.
pub fn open(folder: &Dir, path: &Path) -> io::Result<Option<File>> {
    if !folder.metadata(path)?.is_file() {
        return Ok(None);
    }
    let file = folder.open_with(path, OpenOptions::new().read(true).nonblock(true))?;
    Ok(file.metadata()?.is_file().then_some(file))
}
