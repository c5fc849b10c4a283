use super::{Status, Trust, TrustError};
use std::fs;
use std::path::{Path, PathBuf};

struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Folder {
        Folder { folder: tempfile::tempdir().unwrap() }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("state").join("deep").join("trust.json")
    }

    fn trust(&self) -> Trust {
        Trust::in_file(self.store())
    }

    fn file(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, "{}").unwrap();
        path
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_file_is_new_then_accepted_then_changed() {
    let folder = Folder::new();
    let file = folder.file(".mcp.json");
    for trust in [folder.trust(), Trust::in_memory()] {
        assert_eq!(trust.status(&file, b"a").unwrap(), Status::New);
        assert!(!trust.is_accepted(&file, b"a").unwrap());
        trust.accept(&file, b"a").unwrap();
        assert!(trust.is_accepted(&file, b"a").unwrap());
        assert_eq!(trust.status(&file, b"b").unwrap(), Status::Changed);
        assert!(!trust.is_accepted(&file, b"b").unwrap());
        trust.accept(&file, b"b").unwrap();
        assert_eq!(trust.status(&file, b"a").unwrap(), Status::Changed, "only the last contents count");
        let list = trust.list().unwrap();
        assert_eq!((list.len(), &list[0].path), (1, &file.canonicalize().unwrap()));
        assert_eq!(list[0].sha256, "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d");
        assert!(list[0].when.elapsed().is_ok_and(|age| age.as_secs() < 60));
        assert!(trust.revoke(&file).unwrap());
        assert!(!trust.revoke(&file).unwrap());
        assert_eq!(trust.status(&file, b"b").unwrap(), Status::New);
    }
}

#[test]
fn the_same_contents_at_another_path_are_not_accepted() {
    let folder = Folder::new();
    let (one, other) = (folder.file("one"), folder.file("other"));
    folder.trust().accept(&one, b"a").unwrap();
    assert_eq!(folder.trust().status(&other, b"a").unwrap(), Status::New);
    assert!(folder.trust().is_accepted(&one, b"a").unwrap(), "another object reads the same list");
}

#[cfg(unix)]
#[test]
fn a_symlink_has_the_status_of_its_target() {
    let folder = Folder::new();
    let (file, other) = (folder.file("file"), folder.file("other"));
    let link = folder.folder.path().join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let trust = folder.trust();
    trust.accept(&link, b"a").unwrap();
    assert!(trust.is_accepted(&file, b"a").unwrap());
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    assert_eq!(trust.status(&link, b"a").unwrap(), Status::New, "the link leads elsewhere now");
}

#[test]
fn a_deleted_file_can_be_revoked_and_not_accepted() {
    let folder = Folder::new();
    let file = folder.file("file");
    let trust = folder.trust();
    trust.accept(&file, b"a").unwrap();
    let listed = trust.list().unwrap().remove(0).path;
    fs::remove_file(&file).unwrap();
    assert!(matches!(trust.status(&file, b"a"), Err(TrustError::Missing { .. })));
    assert!(matches!(trust.accept(&file, b"a"), Err(TrustError::Missing { .. })));
    assert!(trust.revoke(&listed).unwrap());
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_and_write_the_list() {
    let folder = Folder::new();
    folder.trust().accept(&folder.file("file"), b"a").unwrap();
    let store = folder.store();
    assert_eq!(mode(&store), 0o600);
    assert_eq!(mode(store.parent().unwrap()), 0o700);
    assert_eq!(mode(store.parent().unwrap().parent().unwrap()), 0o700);
}

#[cfg(unix)]
#[test]
fn a_list_that_others_can_write_is_refused() {
    let folder = Folder::new();
    let file = folder.file("file");
    let (trust, store) = (folder.trust(), folder.store());
    trust.accept(&file, b"a").unwrap();
    for (path, open, closed) in [(store.as_path(), 0o620, 0o600), (store.parent().unwrap(), 0o707, 0o700)] {
        set_mode(path, open);
        assert!(matches!(trust.is_accepted(&file, b"a"), Err(TrustError::NotPrivate { .. })), "{path:?}");
        assert!(matches!(trust.accept(&file, b"a"), Err(TrustError::NotPrivate { .. })), "{path:?}");
        assert!(matches!(trust.list(), Err(TrustError::NotPrivate { .. })), "{path:?}");
        set_mode(path, closed);
        assert!(trust.is_accepted(&file, b"a").unwrap());
    }
}

#[test]
fn a_damaged_list_accepts_nothing_and_is_not_overwritten() {
    let folder = Folder::new();
    let file = folder.file("file");
    let (trust, store) = (folder.trust(), folder.store());
    trust.accept(&file, b"a").unwrap();
    let good = fs::read_to_string(&store).unwrap();
    let newer = good.replace("\"version\": 1", "\"version\": 2");
    let deep = "[".repeat(1 << 20);
    let large = format!("{good}{}", " ".repeat(9 << 20));
    for text in ["", "[]", "{}", &good[..good.len() / 2], newer.as_str(), deep.as_str(), large.as_str()] {
        fs::write(&store, text).unwrap();
        let error = trust.is_accepted(&file, b"a").unwrap_err();
        assert!(matches!(error, TrustError::Damaged { .. }) && error.to_string().contains("remove it"), "{error}");
        assert!(trust.accept(&file, b"b").is_err());
        assert_eq!(fs::read_to_string(&store).unwrap(), text);
    }
    fs::write(&store, good).unwrap();
    assert!(trust.is_accepted(&file, b"a").unwrap());
}

#[test]
fn a_folder_at_the_path_of_the_list_is_refused() {
    let folder = Folder::new();
    fs::create_dir_all(folder.store()).unwrap();
    assert!(matches!(folder.trust().list(), Err(TrustError::Damaged { .. })));
}

#[test]
fn concurrent_acceptances_are_all_kept() {
    let folder = Folder::new();
    let files: Vec<_> = (0..8).map(|index| folder.file(&format!("file-{index}"))).collect();
    std::thread::scope(|scope| {
        for file in &files {
            scope.spawn(|| folder.trust().accept(file, b"a").unwrap());
        }
    });
    assert_eq!(folder.trust().list().unwrap().len(), files.len());
    let left: Vec<_> = fs::read_dir(folder.store().parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 2, "the list and its lock, and nothing unfinished: {left:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let path = folder.folder.path().join(std::ffi::OsStr::from_bytes(b"a\xff"));
    fs::write(&path, "").unwrap();
    assert!(matches!(folder.trust().accept(&path, b""), Err(TrustError::NotText { .. })));
}
