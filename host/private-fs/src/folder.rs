//! Private folders: mode 0700.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

/// Creates a folder and its missing parents with mode 0700. Existing folders keep their mode.
pub fn make(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Like [`make`], but sets mode 0700 on the folder even if it exists.
pub fn make_or_close(folder: &Path) -> io::Result<()> {
    make(folder)?;
    #[cfg(unix)]
    {
        use std::fs;
        use std::os::unix::fs::PermissionsExt;
        if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use crate::folder::{make, make_or_close};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    fn mode(folder: &Path) -> u32 {
        fs::metadata(folder).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn created_folders_and_their_parents_are_private() {
        for way in [make, make_or_close] {
            let outer = tempfile::tempdir().unwrap();
            let inner = outer.path().join("a/b");
            way(&inner).unwrap();
            assert_eq!((mode(&outer.path().join("a")), mode(&inner)), (0o700, 0o700));
        }
    }

    #[test]
    fn an_existing_folder_is_made_private_only_on_request() {
        let outer = tempfile::tempdir().unwrap();
        let (above, inner) = (outer.path().join("a"), outer.path().join("a/b"));
        fs::create_dir_all(&inner).unwrap();
        for folder in [&above, &inner] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        }
        make(&inner).unwrap();
        assert_eq!(mode(&inner), 0o755);
        make_or_close(&inner).unwrap();
        assert_eq!((mode(&above), mode(&inner)), (0o755, 0o700));
        fs::write(inner.join("file"), "").unwrap();
        assert!(make(&inner.join("file")).is_err() && make_or_close(&inner.join("file")).is_err());
    }
}
