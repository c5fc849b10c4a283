//! Names of modules by the text that defines them.
//!
//! To resolve a script's imports, a space needs the names of all its modules and the types of a few. An outline is
//! found by the hash of everything that it depends on, so it is never out of date.

use crate::package::PackageOutline;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write as _;
use std::path::PathBuf;

/// Outlines that are kept in a folder of the user's, or nowhere.
#[derive(Clone, Debug, Default)]
pub struct Outlines {
    folder: Option<PathBuf>,
}

impl Outlines {
    /// Keeps nothing: every definition is compiled.
    pub fn none() -> Outlines {
        Outlines::default()
    }

    /// Keeps outlines in this folder, which is made when it is first written to.
    pub fn in_folder(folder: PathBuf) -> Outlines {
        Outlines { folder: Some(folder) }
    }

    /// What stands for these texts: a change of any, or of this program, is another key.
    pub(crate) fn key<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
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

    /// The files that a definition's text asked for the last time. What they have is part of the outline's key, and the
    /// same texts ask for the same files, so a list that is out of date only means that nothing is found by it.
    pub(super) fn files(&self, key: &str) -> Vec<String> {
        self.read(&format!("{key}.files")).unwrap_or_default()
    }

    pub(super) fn put_files(&self, key: &str, files: &[String]) {
        self.write(&format!("{key}.files"), files);
    }

    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&self.read_bytes(name)?).ok()
    }

    pub(crate) fn read_bytes(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.folder.as_ref()?.join(name)).ok()
    }

    pub(crate) fn write<T: Serialize + ?Sized>(&self, name: &str, value: &T) {
        if let Ok(bytes) = serde_json::to_vec(value) {
            self.write_bytes(name, &bytes);
        }
    }

    /// A cache that cannot be written is only slower.
    pub(crate) fn write_bytes(&self, name: &str, bytes: &[u8]) {
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
