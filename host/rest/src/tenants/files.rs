//! Size of the files of a tenant's spaces, as far as it is known.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time for which a size is trusted: programs write meanwhile.
const TRUSTED_FOR: Duration = Duration::from_secs(5);

/// On slow disks, measuring takes at most about a tenth of the time.
const TRUSTED_PER_MEASURING: u32 = 10;

/// Size of a tenant's files.
#[derive(Default)]
pub(crate) struct StoredFiles(Mutex<Option<Measured>>);

struct Measured {
    bytes: u64,
    until: Instant,
}

impl StoredFiles {
    /// Returns the size, if it was measured a moment ago.
    pub(crate) fn known(&self) -> Option<u64> {
        self.measured().as_ref().filter(|measured| Instant::now() < measured.until).map(|measured| measured.bytes)
    }

    /// Takes note of a size, and of the time that it took to measure it.
    pub(crate) fn note(&self, bytes: u64, took: Duration) {
        let until = Instant::now() + TRUSTED_FOR.max(took.saturating_mul(TRUSTED_PER_MEASURING));
        *self.measured() = Some(Measured { bytes, until });
    }

    /// Adds what was written since.
    pub(crate) fn add(&self, bytes: u64) {
        if let Some(measured) = self.measured().as_mut() {
            measured.bytes = measured.bytes.saturating_add(bytes);
        }
    }

    /// Forgets the size: something was deleted.
    pub(crate) fn forget(&self) {
        *self.measured() = None;
    }

    fn measured(&self) -> MutexGuard<'_, Option<Measured>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the bytes of the files in a folder, without following links. Blocks. Policies bound the number of files of a
/// workspace.
pub(crate) fn size(folder: &Path) -> io::Result<u64> {
    let (mut bytes, mut folders): (u64, Vec<PathBuf>) = (0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            // It may have been deleted meanwhile, or never been used.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => bytes = bytes.saturating_add(found.len()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{StoredFiles, size};
    use std::fs;
    use std::time::Duration;

    #[test]
    fn a_folder_has_the_size_of_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("one"), [0_u8; 10]).unwrap();
        fs::write(root.join("a/b/two"), [0_u8; 7]).unwrap();
        assert_eq!((size(root).unwrap(), size(&root.join("missing")).unwrap()), (17, 0));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root, root.join("a/loop")).unwrap();
            assert!(size(root).unwrap() < 1_000, "a link is not followed");
        }
    }

    #[test]
    fn a_size_is_known_for_a_while() {
        let files = StoredFiles::default();
        files.add(5);
        assert_eq!(files.known(), None, "nothing was measured");
        files.note(10, Duration::ZERO);
        files.add(5);
        assert_eq!(files.known(), Some(15));
        files.forget();
        assert_eq!(files.known(), None);
    }
}
