//! Reading a file that anyone may have written, and replacing one that somebody else reads.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The text of a regular file of at most so many bytes. Anything else that lies there under a file's name is not opened:
/// a pipe would never come back.
pub(in crate::commands) fn read(file: &Path, most: usize) -> io::Result<String> {
    if !fs::metadata(file)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    File::open(file)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        return Err(io::Error::other(format!("it is larger than {most} bytes, which is the most that is read")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// Writes a file for its user alone, which is there as a whole or not at all. `mode` is that of a file that it replaces.
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

/// Makes a folder, and those above it, for the user alone.
pub(in crate::commands) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Whether something can be written in a folder.
pub(in crate::commands) fn try_folder(folder: &Path) -> io::Result<()> {
    tempfile::NamedTempFile::new_in(folder).map(drop)
}

/// Whether others than its user may write to a folder.
pub(in crate::commands) fn is_open_to_others(folder: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o022 != 0)
    }
    #[cfg(not(unix))]
    {
        // The user's folders are theirs alone where there are no such rights.
        let _ = folder;
        false
    }
}

/// Replaces the text of a file that was read before, and keeps that beside it under another name, which is given. The
/// copy is on the disk before the file changes.
pub(in crate::commands) fn replace(file: &Path, before: &str, after: &str) -> io::Result<PathBuf> {
    // A link stays one: what it leads to is replaced.
    let file = fs::canonicalize(file)?;
    let metadata = fs::metadata(&file)?;
    if read(&file, before.len())? != before {
        return Err(io::Error::other("it was changed by another program just now; run this again"));
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

/// `FILE.backup-20260102-030405`, or with a number after it where that is taken.
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
    names.find(|name| fs::symlink_metadata(name).is_err()).ok_or_else(|| io::Error::other("it has too many backups"))
}

#[cfg(test)]
mod tests {
    use super::{read, replace, write};
    use std::fs;

    #[test]
    fn what_is_replaced_is_kept_beside_it() {
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
    fn a_link_stays_one_and_modes_stay_as_they_were() {
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
    fn what_is_no_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, [0xff, 0xfe]).unwrap();
        assert_eq!(read(&file, 10).unwrap_err().to_string(), "it is not UTF-8");
        assert!(read(&file, 1).unwrap_err().to_string().contains("larger than 1 bytes"));
        assert!(read(folder.path(), 10).is_err() && read(&folder.path().join("none"), 10).is_err());
    }
}
