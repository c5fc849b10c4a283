use super::{OPEN, Scene};
use crate::fs::{FileError, Precondition, Written, etag_of};
use agent_spaces_policy::FilePolicy;
use std::thread;

const MAX: u64 = 1 << 20;

/// Reason of a refusal.
fn reason(error: FileError) -> String {
    let FileError::Refused(error) = error else { return error.to_string() };
    let details = error.details.unwrap_or_default();
    details["reason"].as_str().map_or(error.message, str::to_owned)
}

fn paths(scene: &Scene, prefix: &str, after: Option<&str>, limit: usize) -> Vec<String> {
    let listed = scene.files.list_page(prefix, after, limit).unwrap();
    listed.into_iter().map(|entry| entry.path).collect()
}

#[test]
fn a_file_is_written_read_and_deleted_with_its_etag() {
    let scene = Scene::new();
    let first = scene.files.write_bytes("reports/2026/a.bin", &[0, 159, 146], Precondition::Absent).unwrap();
    assert_eq!(first, Written { created: true, etag: etag_of(&[0, 159, 146]) });
    assert_eq!(first.etag.len(), 32);
    let read = scene.files.read_bytes("reports/2026/a.bin", MAX).unwrap().unwrap();
    assert_eq!((read.bytes, read.etag.clone()), (vec![0, 159, 146], first.etag.clone()));
    assert!(read.modified.is_some());
    let second = scene.files.write_bytes("reports/2026/a.bin", b"x", Precondition::Match(&first.etag)).unwrap();
    assert!(!second.created && second.etag == etag_of(b"x"));
    assert_eq!(scene.files.etag("reports/2026/a.bin").unwrap(), Some(second.etag.clone()));
    let stale = scene.files.delete_file("reports/2026/a.bin", Precondition::Match(&first.etag)).unwrap_err();
    assert_eq!(stale, FileError::Precondition { etag: Some(second.etag.clone()) });
    assert!(scene.files.delete_file("reports/2026/a.bin", Precondition::Match(&second.etag)).unwrap());
    assert!(!scene.files.delete_file("reports/2026/a.bin", Precondition::Any).unwrap());
    assert_eq!(scene.files.read_bytes("reports/2026/a.bin", MAX).unwrap(), None);
    assert_eq!(scene.files.read_bytes("nowhere/a", MAX).unwrap(), None);
}

#[test]
fn preconditions_are_checked_before_anything_changes() {
    let scene = Scene::new();
    scene.put("a.txt", "a");
    let etag = Some(etag_of(b"a"));
    let write = |path: &str, expected| scene.files.write_bytes(path, b"b", expected);
    assert_eq!(write("a.txt", Precondition::Absent), Err(FileError::Precondition { etag: etag.clone() }));
    assert_eq!(write("a.txt", Precondition::Match("0")), Err(FileError::Precondition { etag }));
    assert_eq!(write("new/b.txt", Precondition::Present), Err(FileError::Precondition { etag: None }));
    assert_eq!(write("new/b.txt", Precondition::Match("0")), Err(FileError::Precondition { etag: None }));
    assert_eq!(std::fs::read_to_string(scene.inside("a.txt")).unwrap(), "a");
    assert!(!scene.inside("new").exists());
    assert!(!write("a.txt", Precondition::Present).unwrap().created);
}

#[test]
fn of_writers_that_expect_the_same_etag_one_wins() {
    let scene = Scene::new();
    let first = scene.files.write_bytes("counter", b"0", Precondition::Absent).unwrap().etag;
    let outcomes: Vec<_> = thread::scope(|scope| {
        let writers: Vec<_> = (0_u8..8)
            .map(|number| {
                // As other processes have it: the lock is in the count folder.
                let (files, first) = (scene.another(OPEN), &first);
                scope.spawn(move || files.write_bytes("counter", &[b'a' + number], Precondition::Match(first)))
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let won: Vec<_> = outcomes.iter().flatten().collect();
    assert_eq!(won.len(), 1);
    let kept = etag_of(&std::fs::read(scene.inside("counter")).unwrap());
    assert_eq!(won[0].etag, kept);
    let lost =
        |outcome: &&Result<Written, FileError>| **outcome == Err(FileError::Precondition { etag: Some(kept.clone()) });
    assert_eq!(outcomes.iter().filter(lost).count(), 7);
}

#[test]
fn nothing_outside_or_protected_is_reached() {
    let scene = Scene::new();
    scene.put(".git/config", "secret");
    std::os::unix::fs::symlink(scene.outside(""), scene.inside("out")).unwrap();
    std::os::unix::fs::symlink(scene.outside("secret.txt"), scene.inside("link.txt")).unwrap();
    std::fs::hard_link(scene.outside("secret.txt"), scene.inside("hard.txt")).unwrap();
    let all = [
        "../outside/secret.txt",
        "/etc/passwd",
        "out/secret.txt",
        "link.txt",
        "hard.txt",
        ".git/config",
        ".agent-spaces/x",
        "a\\b",
        "C:/x",
        "a\0b",
        "",
        ".",
    ];
    for path in all {
        assert!(scene.files.read_bytes(path, MAX).is_err(), "{path}");
        assert!(scene.files.etag(path).is_err(), "{path}");
        assert!(scene.files.write_bytes(path, b"x", Precondition::Any).is_err(), "{path}");
        assert!(scene.files.delete_file(path, Precondition::Any).is_err(), "{path}");
    }
    assert_eq!(std::fs::read_to_string(scene.outside("secret.txt")).unwrap(), "secret");
    assert!(scene.inside(".git/config").exists() && scene.inside("link.txt").is_symlink());
    assert_eq!(paths(&scene, "", None, 100), Vec::<String>::new(), "neither links nor protected files");
    assert!(scene.files.list_page("../", None, 10).is_err());
    assert_eq!(reason(scene.files.read_bytes("out/secret.txt", MAX).unwrap_err()), "outside");
}

#[test]
fn files_are_listed_in_pages_in_the_order_of_their_paths() {
    let scene = Scene::new();
    for path in ["a/b.txt", "a.txt", "a/c/d.txt", "b.txt", "a-b.txt"] {
        scene.files.write_bytes(path, path.as_bytes(), Precondition::Any).unwrap();
    }
    let all = ["a-b.txt", "a.txt", "a/b.txt", "a/c/d.txt", "b.txt"];
    assert_eq!(paths(&scene, "", None, 100), all);
    let (mut after, mut paged): (Option<String>, Vec<String>) = (None, Vec::new());
    loop {
        let page = paths(&scene, "", after.as_deref(), 2);
        let Some(last) = page.last().cloned() else { break };
        paged.extend(page);
        after = Some(last);
    }
    assert_eq!(paged, all);
    assert_eq!(paths(&scene, "a/", None, 100), ["a/b.txt", "a/c/d.txt"]);
    assert_eq!(paths(&scene, "a/c", None, 100), ["a/c/d.txt"]);
    assert_eq!(paths(&scene, "a", Some("a/b.txt"), 100), ["a/c/d.txt"]);
    assert!(paths(&scene, "z", None, 100).is_empty());
    assert_eq!(scene.files.list_page("b", None, 1).unwrap()[0].size, 5);
}

#[test]
fn the_policy_and_its_quotas_apply() {
    let scene = Scene::with(FilePolicy { max_file_bytes: 10, max_total_bytes: 15, ..OPEN });
    let write = |path: &str, bytes: &[u8]| scene.files.write_bytes(path, bytes, Precondition::Any);
    write("a", &[0; 10]).unwrap();
    assert_eq!(reason(write("b", &[0; 11]).unwrap_err()), "fileTooLarge");
    assert_eq!(reason(write("b", &[0; 6]).unwrap_err()), "workspaceFull");
    write("b", &[0; 5]).unwrap();
    assert!(scene.files.delete_file("a", Precondition::Any).unwrap());
    write("c", &[0; 10]).unwrap();
    assert_eq!(scene.files.read_bytes("c", 9), Err(FileError::TooLarge(9)));
    let shut = Scene::with(FilePolicy { read: false, write: false, ..OPEN });
    shut.put("a", "a");
    assert!(shut.files.read_bytes("a", MAX).is_err() && shut.files.list_page("", None, 1).is_err());
    assert!(shut.files.write_bytes("b", b"", Precondition::Any).is_err());
    assert!(shut.files.delete_file("a", Precondition::Any).is_err() && shut.inside("a").exists());
}

#[test]
fn a_folder_is_neither_read_nor_replaced_nor_deleted() {
    let scene = Scene::new();
    scene.put("folder/a", "a");
    assert_eq!(reason(scene.files.read_bytes("folder", MAX).unwrap_err()), "isDirectory");
    assert_eq!(reason(scene.files.write_bytes("folder", b"", Precondition::Any).unwrap_err()), "isDirectory");
    assert_eq!(reason(scene.files.delete_file("folder", Precondition::Any).unwrap_err()), "isDirectory");
    assert_eq!(reason(scene.files.write_bytes("folder/a/b", b"", Precondition::Any).unwrap_err()), "notDirectory");
}
