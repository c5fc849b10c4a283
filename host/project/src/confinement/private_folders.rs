//! Folders that no default rule may expose: the user's home and the folders of this program.

use std::path::{Path, PathBuf};

/// The user's home and the folders of this program.
pub(super) struct PrivateFolders(Vec<PathBuf>);

impl PrivateFolders {
    /// The user's home and the folders in `kept`.
    pub(super) fn new<'a>(kept: impl IntoIterator<Item = &'a Path>) -> PrivateFolders {
        let all = std::env::home_dir().into_iter().chain(kept.into_iter().map(Path::to_owned));
        PrivateFolders(all.map(|path| path.canonicalize().unwrap_or(path)).collect())
    }

    /// Returns true if access to a folder includes access to one of these.
    pub(super) fn is_exposed_by(&self, folder: &Path) -> bool {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        self.0.iter().any(|private| private.starts_with(&folder))
    }

    /// Keeps the paths that expose none of these.
    pub(super) fn not_exposing(&self, paths: Vec<PathBuf>) -> impl Iterator<Item = PathBuf> {
        paths.into_iter().filter(move |path| !self.is_exposed_by(path))
    }
}

#[cfg(test)]
mod tests {
    use crate::confinement::private_folders::PrivateFolders;
    use std::path::Path;

    #[test]
    fn a_private_folder_is_exposed_by_every_folder_above_it() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, beside) = (folder.path().join("a/kept"), folder.path().join("a/beside"));
        std::fs::create_dir_all(&kept).unwrap();
        std::fs::create_dir_all(&beside).unwrap();
        let private = PrivateFolders::new([kept.as_path()]);
        for path in [kept.as_path(), folder.path(), &beside.join(".."), Path::new("/")] {
            assert!(private.is_exposed_by(path), "{}", path.display());
        }
        assert!(!private.is_exposed_by(&beside));
    }
}
