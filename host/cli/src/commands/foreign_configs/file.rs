//! Bounded reading of untrusted files, and atomic replacement with a backup.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Reads a regular file of at most `most` bytes. Other kinds of files are not opened: reading a pipe would block.
pub(in crate::commands) fn read(file: &Path, most: usize) -> io::Result<String> {
    if !fs::metadata(file)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(file)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        return Err(io::Error::other(format!("larger than the limit of {most} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("not UTF-8"))
}

/// Writes a file atomically, readable by its user only, or with the permissions of the file that it replaces (`mode`).
pub(in crate::commands) fn write(file: &Path, text: &str, mode: Option<&Metadata>) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(text.as_bytes())?;
    if let Some(before) = mode {
        new.as_file().set_permissions(before.permissions())?;
    }
    new.as_file().sync_all()?;
    new.persist(file).map_err(|error| error.error)?;
    Ok(())
}

/// Creates a folder and its parents, accessible to the user only.
pub(in crate::commands) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Checks that a folder is writable.
pub(in crate::commands) fn try_folder(folder: &Path) -> io::Result<()> {
    tempfile::NamedTempFile::new_in(folder).map(drop)
}

/// Returns true if other users may write to a folder.
pub(in crate::commands) fn is_open_to_others(folder: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o022 != 0)
    }
    #[cfg(not(unix))]
    {
        // Systems without Unix permissions keep the user's folders private.
        let _ = folder;
        false
    }
}

/// Replaces a file whose text was `before`, and returns the path of a backup beside it. The backup is on disk before
/// the file changes.
pub(in crate::commands) fn replace(file: &Path, before: &str, after: &str) -> io::Result<PathBuf> {
    // A symbolic link stays: its target is replaced.
    let file = fs::canonicalize(file)?;
    let metadata = fs::metadata(&file)?;
    if read(&file, before.len())? != before {
        return Err(io::Error::other("changed by another program meanwhile; run this again"));
    }
    let backup = free_name(&file)?;
    write(&backup, before, Some(&metadata))?;
    #[cfg(unix)]
    if let Some(folder) = file.parent() {
        File::open(folder)?.sync_all()?;
    }
    write(&file, after, Some(&metadata))?;
    Ok(backup)
}

/// Returns an unused name such as `FILE.backup-20260102-030405`, with a number if that exists.
fn free_name(file: &Path) -> io::Result<PathBuf> {
    let when = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let when = when.trim_end_matches('Z').replace(['-', ':'], "").replace('T', "-");
    let named = |end: String| {
        let mut name = file.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let first = std::iter::once(format!(".backup-{when}"));
    let mut names = first.chain((2..100).map(|number| format!(".backup-{when}-{number}"))).map(named);
    names.find(|name| fs::symlink_metadata(name).is_err()).ok_or_else(|| io::Error::other("too many backups"))
}

#[cfg(test)]
mod tests {
    use crate::commands::foreign_configs::file::{read, replace, write};
    use std::fs;

    #[test]
    fn a_replaced_file_is_backed_up() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        write(&file, "one", None).unwrap();
        let first = replace(&file, "one", "two").unwrap();
        let second = replace(&file, "two", "three").unwrap();
        let text = |path: &std::path::Path| fs::read_to_string(path).unwrap();
        assert_eq!([text(&first), text(&second), text(&file)], ["one", "two", "three"]);
        assert!(replace(&file, "two", "four").is_err(), "somebody wrote to it meanwhile");
        assert_eq!(text(&file), "three");
        let name = first.file_name().unwrap().to_string_lossy().into_owned();
        let digits = name.strip_prefix("a.json.backup-").unwrap();
        assert!(digits.len() == 15 && digits.as_bytes()[8] == b'-', "{name}");
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_and_permissions_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "one").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let backup = replace(&link, "one", "two").unwrap();
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode(&real), mode(&backup)], [0o640, 0o640]);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        write(&folder.path().join("new"), "", None).unwrap();
        assert_eq!(mode(&folder.path().join("new")), 0o600);
    }

    #[test]
    fn files_that_are_not_text_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, [0xff, 0xfe]).unwrap();
        assert_eq!(read(&file, 10).unwrap_err().to_string(), "not UTF-8");
        assert!(read(&file, 1).unwrap_err().to_string().contains("larger than the limit of 1 bytes"));
        assert!(read(folder.path(), 10).is_err() && read(&folder.path().join("none"), 10).is_err());
    }
}
