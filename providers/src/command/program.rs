//! Where a program is.

use super::error::CommandError;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The program itself: relative to `folder` where it is a path, else in a folder of the host's `PATH`.
pub(super) fn find(program: &str, folder: &Path) -> Result<String, CommandError> {
    let found = match program.contains('/') {
        true => folder.join(program),
        false => on_path(program, std::env::var_os("PATH").as_deref()).ok_or_else(|| {
            CommandError::Start(format!("`{program}` is in no folder of the PATH; install it, or write its path"))
        })?,
    };
    let text = found.to_str().map(str::to_owned);
    text.ok_or_else(|| CommandError::Start(format!("the path of `{program}` is no text; move it")))
}

/// The program of this name in the folders of a `PATH`. A folder that is relative would be another one wherever it is
/// looked for, so it does not count.
pub fn on_path(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let folders = std::env::split_paths(path?).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find(|file| is_runnable(file))
}

/// Whether a file can be started.
#[cfg(unix)]
pub fn is_runnable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Whether a file can be started.
#[cfg(not(unix))]
pub fn is_runnable(file: &Path) -> bool {
    file.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_definitions_and_a_name_is_the_hosts() {
        let folder = Path::new("/definitions");
        assert_eq!(find("./tool", folder).unwrap(), "/definitions/./tool");
        assert_eq!(find("/bin/sh", folder).unwrap(), "/bin/sh");
        assert!(find("sh", folder).unwrap().ends_with("/sh"));
        assert!(find("no-such-program-anywhere", folder).unwrap_err().to_string().contains("PATH"));
    }

    #[test]
    fn a_relative_folder_of_the_path_does_not_count() {
        assert_eq!(on_path("Cargo.toml", Some(OsStr::new(".:"))), None);
        assert_eq!(on_path("sh", Some(OsStr::new(".:/bin"))), Some("/bin/sh".into()));
        assert_eq!(on_path("sh", None), None);
    }
}
