//! Private files: opened without following symlinks, read with checks of owner and permissions, replaced atomically.

use rustix::fs::OFlags;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Permissions that group and others must not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// No access for others.
    Private,
    /// No write access for others.
    Unshared,
}

/// Error of [`open`]. The caller knows the path and the purpose of the file, and words the message.
#[derive(Debug)]
pub enum OpenError {
    /// I/O error.
    Io(io::Error),
    /// Not a regular file but this: `a link`, `a folder`, `a pipe`.
    NotFile(&'static str),
}

/// Error of [`read`].
#[derive(Debug)]
pub enum ReadError {
    /// I/O error.
    Io(io::Error),
    /// Not a regular file.
    NotFile,
    /// It belongs to another user.
    NotOurs,
    /// It has this mode, which gives others a permission that they must not have.
    Exposed(u32),
    /// It is larger than the limit.
    TooLarge,
}

impl From<OpenError> for ReadError {
    fn from(error: OpenError) -> ReadError {
        match error {
            OpenError::Io(error) => ReadError::Io(error),
            OpenError::NotFile(_) => ReadError::NotFile,
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::Io(error)
    }
}

/// Opens a regular file; `None` if there is none.
pub fn open(path: &Path, options: &mut OpenOptions) -> Result<Option<File>, OpenError> {
    let file = match options.custom_flags(flags()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(other_kind(path).map_or(OpenError::Io(error), OpenError::NotFile)),
    };
    match file.metadata().map_err(OpenError::Io)?.is_file() {
        true => Ok(Some(file)),
        false => Err(OpenError::NotFile(other_kind(path).unwrap_or("something else"))),
    }
}

/// Flags of every private file: a symlink may lead to a file of somebody else's choice, and opening a FIFO would block.
pub(crate) fn flags() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()
}

/// Reads a file of this user with at most `limit` bytes; `None` if there is none.
pub fn read(path: &Path, limit: usize, rights: Rights) -> Result<Option<Vec<u8>>, ReadError> {
    let Some(file) = open(path, OpenOptions::new().read(true))? else { return Ok(None) };
    check(&file.metadata()?, rights)?;
    let mut bytes = Vec::new();
    file.take((limit as u64).saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() > limit { Err(ReadError::TooLarge) } else { Ok(Some(bytes)) }
}

/// Creates or replaces a file with mode 0600. Readers see the old contents or the new ones, also after a power loss.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Temporary files are created with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder_of(path))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Returns the folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the path with this text appended to its name.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn check(metadata: &Metadata, rights: Rights) -> Result<(), ReadError> {
    let refused = match rights {
        Rights::Private => 0o077,
        Rights::Unshared => 0o022,
    };
    match metadata.mode() & 0o777 {
        _ if metadata.uid() != rustix::process::geteuid().as_raw() => Err(ReadError::NotOurs),
        mode if mode & refused != 0 => Err(ReadError::Exposed(mode)),
        _ => Ok(()),
    }
}

/// Returns the kind of an entry that is not a regular file.
fn other_kind(path: &Path) -> Option<&'static str> {
    let kind = std::fs::symlink_metadata(path).ok()?.file_type();
    match kind {
        kind if kind.is_file() => None,
        kind if kind.is_symlink() => Some("a link"),
        kind if kind.is_dir() => Some("a folder"),
        kind if kind.is_fifo() => Some("a pipe"),
        kind if kind.is_socket() => Some("a socket"),
        _ => Some("a device"),
    }
}

#[cfg(test)]
mod tests {
    use crate::file::{OpenError, ReadError, Rights, beside, folder_of, open, read, replace};
    use std::fs::{self, OpenOptions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    #[test]
    fn a_replaced_file_is_private_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it");
        assert!(read(&path, 10, Rights::Private).unwrap().is_none());
        for text in ["first", "second"] {
            replace(&path, text.as_bytes()).unwrap();
            assert_eq!(read(&path, 10, Rights::Private).unwrap().unwrap(), text.as_bytes());
        }
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_others_may_use_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it");
        fs::write(&path, "text").unwrap();
        for (mode, rights, is_refused) in [
            (0o600, Rights::Private, false),
            (0o640, Rights::Private, true),
            (0o604, Rights::Private, true),
            (0o644, Rights::Unshared, false),
            (0o620, Rights::Unshared, true),
            (0o602, Rights::Unshared, true),
        ] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            match read(&path, 10, rights) {
                Ok(Some(_)) => assert!(!is_refused, "{mode:o}"),
                Err(ReadError::Exposed(found)) => assert!(is_refused && found == mode, "{mode:o}"),
                other => panic!("{mode:o}: {other:?}"),
            }
        }
    }

    #[test]
    fn only_regular_files_of_bounded_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        replace(&at("it"), b"12345").unwrap();
        assert!(matches!(read(&at("it"), 5, Rights::Private), Ok(Some(_))));
        assert!(matches!(read(&at("it"), 4, Rights::Private), Err(ReadError::TooLarge)));
        symlink(at("it"), at("link")).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        for (name, kind) in [("link", "a link"), (".", "a folder"), ("socket", "a socket"), ("pipe", "a pipe")] {
            let refused = read(&at(name), 5, Rights::Private);
            assert!(matches!(refused, Err(ReadError::NotFile)), "{name}: {refused:?}");
            let refused = open(&at(name), OpenOptions::new().read(true));
            assert!(matches!(refused, Err(OpenError::NotFile(found)) if found == kind), "{name}: {refused:?}");
        }
        // A link is replaced, never followed.
        replace(&at("link"), b"other").unwrap();
        assert_eq!(fs::read(at("it")).unwrap(), b"12345");
    }

    #[test]
    fn paths_beside_a_file_have_its_name() {
        assert_eq!(beside(Path::new("a/it"), ".lock"), Path::new("a/it.lock"));
        assert_eq!((folder_of(Path::new("a/it")), folder_of(Path::new("it"))), (Path::new("a"), Path::new(".")));
    }
}
