//! Folders that no default opens: those that hold the user's home, or what this program keeps.

use std::path::{Path, PathBuf};

/// The user's home and our own folders.
pub(crate) struct Closed(Vec<PathBuf>);

impl Closed {
    /// The user's home, and these.
    pub(crate) fn new<'a>(kept: impl IntoIterator<Item = &'a Path>) -> Closed {
        let all = std::env::home_dir().into_iter().chain(kept.into_iter().map(Path::to_owned));
        Closed(all.map(|path| path.canonicalize().unwrap_or(path)).collect())
    }

    /// Whether opening a folder would open one of these.
    pub(crate) fn is_in(&self, folder: &Path) -> bool {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        self.0.iter().any(|closed| closed.starts_with(&folder))
    }

    /// Those of some paths that open none of these.
    pub(crate) fn without(&self, paths: Vec<PathBuf>) -> impl Iterator<Item = PathBuf> {
        paths.into_iter().filter(move |path| !self.is_in(path))
    }
}

#[cfg(test)]
mod tests {
    use super::Closed;
    use std::path::Path;

    #[test]
    fn a_folder_is_closed_with_all_that_is_above_it() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, beside) = (folder.path().join("a/kept"), folder.path().join("a/beside"));
        std::fs::create_dir_all(&kept).unwrap();
        std::fs::create_dir_all(&beside).unwrap();
        let closed = Closed::new([kept.as_path()]);
        for path in [kept.as_path(), folder.path(), &beside.join(".."), Path::new("/")] {
            assert!(closed.is_in(path), "{}", path.display());
        }
        assert!(!closed.is_in(&beside));
    }
}
