use super::{Folder, Rights};
use crate::store::StoreError;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// A folder whose permissions do not depend on the umask.
fn private() -> tempfile::TempDir {
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().unwrap()
}

#[test]
fn folders_and_files_are_private() {
    let outer = private();
    let folder = Folder::open(&outer.path().join("a/b"), Rights::Private).unwrap();
    let inner = folder.inner("c").unwrap();
    assert!(inner.create("f", b"x").unwrap());
    assert_eq!(mode(&outer.path().join("a")), 0o700);
    assert_eq!(mode(&outer.path().join("a/b/c")), 0o700);
    assert_eq!(mode(&outer.path().join("a/b/c/f")), 0o600);
    assert_eq!(inner.names().unwrap(), ["f"]);
}

#[test]
fn a_folder_that_is_open_to_others_is_refused() {
    let outer = private();
    for (rights, open, closed) in [(Rights::Private, 0o750, 0o700), (Rights::Unshared, 0o770, 0o755)] {
        fs::set_permissions(outer.path(), fs::Permissions::from_mode(open)).unwrap();
        assert!(matches!(Folder::open(outer.path(), rights), Err(StoreError::NotPrivate { .. })));
        fs::set_permissions(outer.path(), fs::Permissions::from_mode(closed)).unwrap();
        assert!(Folder::open(outer.path(), rights).is_ok());
    }
}

#[test]
fn links_are_not_followed() {
    let (outer, elsewhere) = (private(), private());
    fs::write(elsewhere.path().join("secret"), "x").unwrap();
    let folder = Folder::open(outer.path(), Rights::Private).unwrap();
    symlink(elsewhere.path().join("secret"), outer.path().join("f")).unwrap();
    assert!(matches!(folder.read("f", 10), Err(StoreError::NotFile { .. })));
    assert!(!folder.create("f", b"new").unwrap());
    assert!(folder.remove("f").unwrap());
    symlink(elsewhere.path().join("absent"), outer.path().join("g")).unwrap();
    folder.replace("g", b"new").unwrap();
    assert_eq!(fs::read_to_string(elsewhere.path().join("secret")).unwrap(), "x");
    assert!(!elsewhere.path().join("absent").exists());
    symlink(elsewhere.path(), outer.path().join("inner")).unwrap();
    assert!(folder.inner("inner").is_err());
    assert!(Folder::open(&outer.path().join("inner"), Rights::Private).is_err());
}

#[test]
fn non_regular_files_are_refused_without_blocking() {
    let outer = private();
    let folder = Folder::open(outer.path(), Rights::Private).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        outer.path().join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    folder.inner("folder").unwrap();
    for name in ["pipe", "folder"] {
        assert!(matches!(folder.read(name, 10), Err(StoreError::NotFile { .. })), "{name}");
    }
}

#[test]
fn files_over_the_size_limit_are_refused() {
    let outer = private();
    let folder = Folder::open(outer.path(), Rights::Private).unwrap();
    folder.replace("f", &[b'x'; 10]).unwrap();
    assert_eq!(folder.read("f", 10).unwrap().unwrap().len(), 10);
    assert!(matches!(folder.read("f", 9), Err(StoreError::TooLarge { .. })));
    assert!(folder.read("absent", 9).unwrap().is_none());
}

#[test]
fn concurrent_creates_have_one_winner() {
    let outer = private();
    let folder = &Folder::open(outer.path(), Rights::Private).unwrap();
    let created = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16u8)
            .map(|number| scope.spawn(move || folder.create("f", &[number; 1000]).unwrap().then_some(number)))
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(created.len(), 1);
    assert_eq!(folder.read("f", 1000).unwrap().unwrap(), vec![created[0]; 1000]);
    assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1, "unfinished files were left");
}

#[test]
fn abandoned_temporary_files_are_removed() {
    let outer = private();
    let folder = Folder::open(outer.path(), Rights::Private).unwrap();
    let (old, new) = (outer.path().join(".new-old"), outer.path().join(".new-new"));
    fs::write(&old, "").unwrap();
    fs::write(&new, "").unwrap();
    let file = fs::File::options().write(true).open(&old).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(120)).unwrap();
    assert!(folder.names().unwrap().is_empty());
    assert!(!old.exists() && new.exists());
}
