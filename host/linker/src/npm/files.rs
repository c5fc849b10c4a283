//! File system for the resolver, rooted at the project's folder.
//!
//! Every access goes through a handle of that folder, so that a link cannot lead out of it.

use crate::plain_file;
use agent_spaces_protected_paths::{Access, is_protected};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};
use oxc_resolver::{FileMetadata, FileSystem, ResolveError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Limit on nested folders. Packages nested three times stay below 40.
const MAX_PATH_DEPTH: usize = 100;

/// Length limit of a `package.json`, in bytes. Those with hundreds of entry points have some tens of kilobytes.
const MAX_PACKAGE_BYTES: usize = 1024 * 1024;

/// Limit on nested brackets in a `package.json`, because its reader recurses. Maps of conditions have about five.
const MAX_PACKAGE_NESTING: usize = 32;

/// Handle of a project's folder.
#[derive(Clone)]
pub(super) struct ProjectFiles(Option<Arc<Dir>>);

impl ProjectFiles {
    pub(super) fn open(folder: &Path) -> io::Result<ProjectFiles> {
        Dir::open_ambient_dir(folder, ambient_authority()).map(|folder| ProjectFiles(Some(Arc::new(folder))))
    }

    fn within<'p>(&self, path: &'p Path) -> io::Result<(&Dir, &'p Path)> {
        let folder = self.0.as_deref().ok_or(io::ErrorKind::NotFound)?;
        if path.components().count() > MAX_PATH_DEPTH {
            return Err(io::ErrorKind::NotFound.into());
        }
        let inside = path.strip_prefix("/").map_err(|_| io::ErrorKind::NotFound)?;
        Ok((folder, if inside.as_os_str().is_empty() { Path::new(".") } else { inside }))
    }

    /// Reads a file of at most `limit` bytes.
    pub(super) fn text(&self, path: &str, limit: usize) -> io::Result<String> {
        if is_closed(path) {
            return Err(io::Error::other("handlers may not import it"));
        }
        let bytes = self.bytes(Path::new(path), limit)?;
        String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
    }

    fn bytes(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        let (folder, inside) = self.within(path)?;
        let file = plain_file::open(folder, inside)?;
        let file = file.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "it is not a file"))?;
        let mut bytes = Vec::new();
        file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > limit {
            return Err(io::Error::other(format!("the file is longer than {limit} bytes")));
        }
        Ok(bytes)
    }

    /// Reads the `package.json` of a folder.
    pub(super) fn package(&self, folder: &str) -> io::Result<Vec<u8>> {
        self.read(&Path::new(folder).join("package.json"))
    }
}

impl FileSystem for ProjectFiles {
    /// Required by the trait and never called: a folder without files.
    fn new() -> Self {
        ProjectFiles(None)
    }

    /// Reads a `package.json`: the resolver reads nothing else.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = self.bytes(path, MAX_PACKAGE_BYTES)?;
        if nesting(&bytes) > MAX_PACKAGE_NESTING {
            return Err(io::Error::other("it nests too deep"));
        }
        Ok(bytes)
    }

    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        String::from_utf8(self.read(path)?).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    fn metadata(&self, path: &Path) -> io::Result<FileMetadata> {
        let (folder, inside) = self.within(path)?;
        folder.metadata(inside).map(|metadata| converted(&metadata))
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<FileMetadata> {
        let (folder, inside) = self.within(path)?;
        folder.symlink_metadata(inside).map(|metadata| converted(&metadata))
    }

    /// Returns the final target of a link: the resolver would treat a path above the project as one in it.
    fn read_link(&self, path: &Path) -> Result<PathBuf, ResolveError> {
        Ok(self.canonicalize(path)?)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        let (folder, inside) = self.within(path)?;
        let real = folder.canonicalize(inside)?;
        Ok(Path::new("/").join(real.strip_prefix(".").unwrap_or(&real)))
    }
}

/// True if a path contains a name that is closed to scripts. Package managers keep their stores in folders such as
/// `node_modules/.pnpm`, so names directly in `node_modules` may begin with a dot.
fn is_closed(path: &str) -> bool {
    let names: Vec<&str> = path.split('/').collect();
    let is_store = |index: usize| index > 0 && index + 1 < names.len() && names.get(index - 1) == Some(&super::FOLDER);
    names.iter().enumerate().any(|(index, name)| !is_store(index) && is_protected(name, Access::Read))
}

fn converted(metadata: &Metadata) -> FileMetadata {
    FileMetadata::new(metadata.is_file(), metadata.is_dir(), metadata.is_symlink())
}

/// Returns the nesting depth of a JSON text's brackets.
fn nesting(text: &[u8]) -> usize {
    let (mut depth, mut deepest, mut is_string, mut is_escaped) = (0_usize, 0, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b'[' | b'{' if !is_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !is_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use crate::npm::files::{is_closed, nesting};

    #[test]
    fn only_brackets_outside_of_strings_nest() {
        assert_eq!(nesting(br#"{ "a[[[[\"[[": [ {} ], "b": [] }"#), 3);
        assert_eq!(nesting("[".repeat(1_000_000).as_bytes()), 1_000_000);
    }

    #[test]
    fn only_stores_of_package_managers_may_begin_with_a_dot() {
        for path in
            ["/node_modules/zod/index.js", "/node_modules/.pnpm/zod@3/node_modules/zod/index.js", "/packages/a/b.js"]
        {
            assert!(!is_closed(path), "{path}");
        }
        for path in
            ["/.cursor/mcp.json", "/node_modules/.env", "/node_modules/a/.npmrc", "/a/.pnpm/x.js", "/a/server.key"]
        {
            assert!(is_closed(path), "{path}");
        }
    }
}
