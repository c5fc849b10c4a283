//! Code cache on disk: compiled code, in a folder of the user.
//!
//! Compiled code is native code: write access to it means code execution as this user. The folder is
//! the user's alone, and every entry is authenticated with a key that is kept outside it, so that a
//! cache that was copied, restored or written by something else is not run.

use agent_spaces_private_fs::folder;
use agent_spaces_sandbox::engine::{CodeCache, CodeKey};
use blake3::{Hash, Hasher};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const KEY_BYTES: usize = 32;

/// Size limit: some dozens of engine versions, or thousands of import sets. The oldest entries are deleted first.
const MAX_FOLDER_BYTES: u64 = 256 << 20;

/// A folder of compiled code.
#[derive(Clone)]
pub struct Cache(Arc<Folder>);

struct Folder {
    path: PathBuf,
    key: [u8; KEY_BYTES],
}

/// Error of a cache folder that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the cache at {path} cannot be used: {source}")]
pub struct CacheError {
    path: PathBuf,
    source: io::Error,
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Cache").field(&self.0.path).finish()
    }
}

impl Cache {
    /// Opens a folder for compiled code and its key file, creating both if they are missing.
    ///
    /// The key must lie outside the folder.
    pub fn open(folder: &Path, key_file: &Path) -> Result<Cache, CacheError> {
        let fail = |path: &Path| {
            let path = path.to_owned();
            move |source| CacheError { path, source }
        };
        folder::make_or_close(folder).map_err(fail(folder))?;
        if key_file.starts_with(folder) {
            return Err(fail(key_file)(io::Error::other("the key must not be in the cache")));
        }
        if let Some(parent) = key_file.parent() {
            folder::make_or_close(parent).map_err(fail(parent))?;
        }
        let key = read_or_make_key(key_file).map_err(fail(key_file))?;
        Ok(Cache(Arc::new(Folder { path: folder.to_owned(), key })))
    }

    /// Deletes the oldest entries until the rest takes at most `limit` bytes.
    fn prune(&self, limit: u64) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.0.path)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            entries.push((metadata.modified()?, metadata.len(), entry.path()));
        }
        entries.sort();
        let mut total: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, path) in entries {
            if total <= limit {
                break;
            }
            fs::remove_file(path)?;
            total -= bytes;
        }
        Ok(())
    }

    fn entry(&self, key: &CodeKey) -> PathBuf {
        self.0.path.join(format!("{}.bin", Hash::from_bytes(*key).to_hex()))
    }

    /// Authentication tag. It covers the key, so that one entry cannot replace another.
    fn tag(&self, key: &CodeKey, code: &[u8]) -> Hash {
        Hasher::new_keyed(&self.0.key).update(key).update(code).finalize()
    }
}

impl CodeCache for Cache {
    /// Loads an entry if its tag is valid.
    fn load(&self, key: &CodeKey) -> Option<Vec<u8>> {
        let mut entry = fs::read(self.entry(key)).ok()?;
        let code = entry.split_off(KEY_BYTES.min(entry.len()));
        let tag: [u8; KEY_BYTES] = entry.try_into().ok()?;
        // `Hash` compares in constant time.
        (Hash::from_bytes(tag) == self.tag(key, &code)).then_some(code)
    }

    /// Stores compiled code. A cache that cannot be written to costs time, nothing else.
    fn store(&self, key: &CodeKey, code: &[u8]) {
        let write = || -> io::Result<()> {
            // A reader sees the whole entry or none.
            let mut file = tempfile::NamedTempFile::new_in(&self.0.path)?;
            file.write_all(self.tag(key, code).as_bytes())?;
            file.write_all(code)?;
            file.persist(self.entry(key))?;
            self.prune(MAX_FOLDER_BYTES)
        };
        let _ = write();
    }
}

fn read_or_make_key(path: &Path) -> io::Result<[u8; KEY_BYTES]> {
    match File::open(path) {
        Ok(mut file) => read_key(&mut file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_key(path),
        Err(error) => Err(error),
    }
}

fn read_key(file: &mut File) -> io::Result<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    file.read_exact(&mut key)?;
    Ok(key)
}

fn make_key(path: &Path) -> io::Result<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&key)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(key),
        // Another process was first: use its key.
        Err(_) => read_key(&mut OpenOptions::new().read(true).open(path)?),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Cache, CodeCache, Hasher};

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("cache"), &folder.path().join("state/key")).unwrap();
        (folder, cache)
    }

    #[test]
    fn an_entry_is_loaded_as_it_was_stored() {
        let (_folder, cache) = cache();
        let key = *Hasher::new().update(b"a").finalize().as_bytes();
        cache.store(&key, b"code");
        assert_eq!(cache.load(&key).as_deref(), Some(&b"code"[..]));
    }

    #[test]
    fn an_entry_that_was_changed_or_moved_is_not_loaded() {
        let (_folder, cache) = cache();
        let (key, other) =
            (*Hasher::new().update(b"a").finalize().as_bytes(), *Hasher::new().update(b"b").finalize().as_bytes());
        cache.store(&key, b"code");
        std::fs::copy(cache.entry(&key), cache.entry(&other)).unwrap();
        assert_eq!(cache.load(&other), None, "an entry under another name");
        let mut bytes = std::fs::read(cache.entry(&key)).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(cache.entry(&key), bytes).unwrap();
        assert_eq!(cache.load(&key), None, "a changed entry");
        std::fs::write(cache.entry(&key), b"short").unwrap();
        assert_eq!(cache.load(&key), None, "a cut entry");
    }

    #[test]
    fn the_oldest_entries_make_room() {
        let (_folder, cache) = cache();
        let keys = [b"a", b"b", b"c"].map(|name| *Hasher::new().update(name).finalize().as_bytes());
        for (age, key) in keys.iter().enumerate() {
            cache.store(key, &[0; 1000]);
            let time = std::time::SystemTime::now() - std::time::Duration::from_secs(100 - age as u64);
            std::fs::File::options().write(true).open(cache.entry(key)).unwrap().set_modified(time).unwrap();
        }
        cache.prune(2 * 1032).unwrap();
        assert_eq!(keys.map(|key| cache.load(&key).is_some()), [false, true, true]);
    }

    #[test]
    fn another_key_opens_nothing() {
        let (folder, cache) = cache();
        let key = *Hasher::new().update(b"a").finalize().as_bytes();
        cache.store(&key, b"code");
        let other = Cache::open(&folder.path().join("cache"), &folder.path().join("elsewhere/key")).unwrap();
        assert_eq!(other.load(&key), None);
    }

    #[test]
    fn the_key_may_not_lie_in_the_cache() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Cache::open(folder.path(), &folder.path().join("key")).is_err());
    }
}
