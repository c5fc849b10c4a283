//! Cache of module outlines on disk, keyed by the hash of the text that defines a module.
//!
//! To resolve a script's imports, a space needs the names of all its modules and the types of a few. The key covers
//! everything that an outline depends on, so an entry is never stale.

use agent_spaces_linker::package::PackageOutline;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write as _;
use std::path::PathBuf;

/// Cache of module outlines in a folder of the user's, or no cache.
#[derive(Clone, Debug, Default)]
pub struct Outlines {
    folder: Option<PathBuf>,
}

impl Outlines {
    /// No cache: every definition is compiled.
    pub fn none() -> Outlines {
        Outlines::default()
    }

    /// Caches outlines in this folder, which is created on the first write.
    pub fn in_folder(folder: PathBuf) -> Outlines {
        Outlines { folder: Some(folder) }
    }

    /// Cache key of these texts and of this program's version.
    pub fn key<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
        let mut hasher = blake3::Hasher::new();
        for text in std::iter::once(env!("CARGO_PKG_VERSION")).chain(texts) {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    pub(super) fn get(&self, key: &str) -> Option<PackageOutline> {
        self.read(key)
    }

    pub(super) fn put(&self, key: &str, outline: &PackageOutline) {
        self.write(key, outline);
    }

    /// Files that a definition imported when it was last compiled. Their contents are part of the outline's key, so a
    /// stale list only causes a cache miss.
    pub(super) fn files(&self, key: &str) -> Vec<String> {
        self.read(&format!("{key}.files")).unwrap_or_default()
    }

    pub(super) fn put_files(&self, key: &str, files: &[String]) {
        self.write(&format!("{key}.files"), files);
    }

    /// Reads an entry as JSON; `None` if it is missing or invalid.
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&self.read_bytes(name)?).ok()
    }

    /// Reads an entry; `None` if it is missing.
    pub fn read_bytes(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.folder.as_ref()?.join(name)).ok()
    }

    /// Writes an entry as JSON. Failures are ignored, as in [`Outlines::write_bytes`].
    pub fn write<T: Serialize + ?Sized>(&self, name: &str, value: &T) {
        if let Ok(bytes) = serde_json::to_vec(value) {
            self.write_bytes(name, &bytes);
        }
    }

    /// Writes an entry atomically. Failures are ignored: the cache only saves time.
    pub fn write_bytes(&self, name: &str, bytes: &[u8]) {
        let write = || -> Option<()> {
            let folder = self.folder.as_ref()?;
            std::fs::create_dir_all(folder).ok()?;
            let mut file = tempfile::NamedTempFile::new_in(folder).ok()?;
            file.write_all(bytes).ok()?;
            file.persist(folder.join(name)).ok()?;
            Some(())
        };
        let _ = write();
    }
}
