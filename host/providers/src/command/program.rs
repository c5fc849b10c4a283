//! Lookup of executables.

use super::error::CommandError;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Resolves a program: a path relative to `folder`, or a name on the host's `PATH`.
pub(super) fn find(program: &str, folder: &Path) -> Result<String, CommandError> {
    let found = match program.contains('/') {
        true => folder.join(program),
        false => on_path(program, std::env::var_os("PATH").as_deref()).ok_or_else(|| {
            CommandError::Start(format!("`{program}` not found on the PATH; install it, or write its path"))
        })?,
    };
    let text = found.to_str().map(str::to_owned);
    text.ok_or_else(|| CommandError::Start(format!("the path of `{program}` is not UTF-8; move it")))
}

/// Looks up a name on a `PATH`. Relative folders are ignored, since they depend on the working directory.
pub fn on_path(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let folders = std::env::split_paths(path?).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find(|file| is_runnable(file))
}

/// True if a file is executable.
#[cfg(unix)]
pub fn is_runnable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// True if a file is executable.
#[cfg(not(unix))]
pub fn is_runnable(file: &Path) -> bool {
    file.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_definition_and_names_are_on_the_path() {
        let folder = Path::new("/definitions");
        assert_eq!(find("./tool", folder).unwrap(), "/definitions/./tool");
        assert_eq!(find("/bin/sh", folder).unwrap(), "/bin/sh");
        assert!(find("sh", folder).unwrap().ends_with("/sh"));
        assert!(find("no-such-program-anywhere", folder).unwrap_err().to_string().contains("PATH"));
    }

    #[test]
    fn relative_folders_of_the_path_are_ignored() {
        assert_eq!(on_path("Cargo.toml", Some(OsStr::new(".:"))), None);
        assert_eq!(on_path("sh", Some(OsStr::new(".:/bin"))), Some("/bin/sh".into()));
        assert_eq!(on_path("sh", None), None);
    }
}
