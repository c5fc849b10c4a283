use super::{Files, OPEN, Scene, block_on, reason};
use agent_spaces_policy::FilePolicy;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

const SMALL: FilePolicy = FilePolicy { max_file_bytes: 100, max_total_bytes: 250, ..OPEN };

fn held(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| if entry.path().is_dir() { held(&entry.path()) } else { entry.metadata().unwrap().len() }).sum()
}

#[test]
fn an_oversized_file_is_neither_read_nor_written() {
    let scene = Scene::with(SMALL);
    scene.put("large", &"x".repeat(101));
    scene.put("fits", &"x".repeat(100));
    assert_eq!(reason(scene.call("readFile", json!({ "path": "large" }))), ("call.denied", "fileTooLarge".into()));
    assert_eq!(scene.read("fits").unwrap().len(), 100);
    let error = scene.write("new", &"x".repeat(101)).unwrap_err();
    assert_eq!(error.message, "\"new\" has more than the 100 bytes that a file may have in this space");
    assert!(!scene.inside("new").exists());
    assert_eq!(reason(scene.call("appendFile", json!({ "path": "fits", "text": "x" }))).1, "fileTooLarge");
    assert_eq!(scene.read("fits").unwrap().len(), 100);
}

#[test]
fn a_full_workspace_refuses_writes() {
    let scene = Scene::with(SMALL);
    scene.put("there/before", &"x".repeat(100));
    scene.write("a", &"x".repeat(100)).unwrap();
    assert_eq!(
        reason(scene.call("writeFile", json!({ "path": "b", "text": "x".repeat(51) }))),
        ("call.denied", "workspaceFull".into())
    );
    scene.write("b", &"x".repeat(50)).unwrap();
    assert_eq!(reason(scene.call("appendFile", json!({ "path": "b", "text": "x" }))).1, "workspaceFull");
    // A replacement counts only for what it adds.
    scene.write("a", &"y".repeat(100)).unwrap();
    scene.call("delete", json!({ "path": "b" })).unwrap();
    scene.write("c", &"x".repeat(50)).unwrap();
    scene.call("delete", json!({ "path": "there", "options": { "recursive": true } })).unwrap();
    scene.write("d", &"x".repeat(100)).unwrap();
    assert_eq!(held(&scene.inside("")), 250);
}

#[test]
fn a_workspace_over_its_quota_can_shrink() {
    let scene = Scene::with(SMALL);
    for name in ["a", "b", "c", "d"] {
        scene.put(name, &"x".repeat(100));
    }
    assert_eq!(reason(scene.call("writeFile", json!({ "path": "e", "text": "x" }))).1, "workspaceFull");
    scene.write("a", "x").unwrap();
    scene.call("delete", json!({ "path": "b" })).unwrap();
    scene.call("delete", json!({ "path": "c" })).unwrap();
    scene.write("e", "x").unwrap();
}

#[test]
fn protected_files_do_not_count() {
    let scene = Scene::with(SMALL);
    scene.put(".git/objects/pack", &"x".repeat(10_000));
    scene.write("a", &"x".repeat(100)).unwrap();
}

#[test]
fn deletions_by_other_programs_free_space() {
    let scene = Scene::with(SMALL);
    for name in ["a", "b"] {
        scene.write(name, &"x".repeat(100)).unwrap();
        std::fs::remove_file(scene.inside(name)).unwrap();
    }
    // A count is trusted for two seconds, or longer where counting is slow.
    let started = Instant::now();
    while let Err(error) = scene.write("c", &"x".repeat(100)) {
        assert!(started.elapsed() < Duration::from_secs(60), "{error}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn concurrent_writes_cannot_exceed_the_quota() {
    let scene = Scene::with(SMALL);
    let written = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|number| {
                let scene = &scene;
                scope.spawn(move || {
                    let mut written = 0;
                    for round in 0..20 {
                        let (function, path) = match round % 2 {
                            0 => ("writeFile", format!("{number}-{round}")),
                            _ => ("appendFile", "shared".to_owned()),
                        };
                        let params = json!({ "path": path, "text": "0123456789" });
                        written += usize::from(block_on(scene.files.call(function, params)).is_ok());
                    }
                    written
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
    });
    assert_eq!((written, held(&scene.inside(""))), (25, 250));
    assert!(std::fs::metadata(scene.inside("shared")).unwrap().len() <= 100);
}

#[test]
fn concurrent_appends_cannot_exceed_the_file_size_limit() {
    let scene = Scene::with(SMALL);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let _ = scene.call("appendFile", json!({ "path": "shared", "text": "0123456789" }));
                }
            });
        }
    });
    assert_eq!(scene.read("shared").unwrap(), "0123456789".repeat(10));
}

fn write(files: &Files, path: &str, bytes: usize) -> Result<(), String> {
    let params = json!({ "path": path, "text": "x".repeat(bytes) });
    block_on(files.call("writeFile", params)).map(drop).map_err(|error| error.message)
}

/// Two values that share only the count folder, as two processes do.
#[test]
fn processes_share_the_quota() {
    let scene = Scene::with(SMALL);
    let (one, other) = (scene.another(SMALL), scene.another(SMALL));
    write(&one, "a", 100).unwrap();
    write(&other, "b", 100).unwrap();
    let full = "The workspace is full: with this it would hold 251 of at most 250 bytes";
    assert_eq!(write(&one, "c", 51).unwrap_err(), full);
    assert_eq!(write(&other, "c", 51).unwrap_err(), full);
    write(&one, "c", 50).unwrap();
    assert!(write(&other, "d", 1).is_err());
    // Space freed by one is usable by the other.
    block_on(one.call("delete", json!({ "path": "a" }))).unwrap();
    write(&other, "d", 100).unwrap();
    assert_eq!(held(&scene.inside("")), 250);
    // Nothing is left in the workspace, nor outside the count folder.
    assert_eq!(super::names_of(&scene.inside("")), ["b", "c", "d"]);
    assert_eq!(super::names_of(&scene.counts()).len(), 1);
}

#[test]
fn concurrent_processes_cannot_exceed_the_quota() {
    let scene = Scene::with(SMALL);
    let written = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let files = scene.another(SMALL);
                scope.spawn(move || {
                    let rounds = 0..10;
                    rounds.filter(|round| write(&files, &format!("{number}-{round}"), 10).is_ok()).count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
    });
    assert_eq!((written, held(&scene.inside(""))), (25, 250));
}

/// Files from before a process started count at once, whatever others have counted.
#[test]
fn a_new_process_recounts() {
    let scene = Scene::with(SMALL);
    write(&scene.another(SMALL), "a", 1).unwrap();
    for name in ["b", "c"] {
        scene.put(name, &"x".repeat(100));
    }
    assert!(write(&scene.another(SMALL), "d", 50).unwrap_err().contains("is full"));
    write(&scene.another(SMALL), "d", 49).unwrap();
}

/// A torn or outdated count is ignored.
#[test]
fn an_invalid_count_is_recomputed() {
    let scene = Scene::with(SMALL);
    let files = scene.another(SMALL);
    write(&files, "a", 100).unwrap();
    let ledger = scene.counts().join(&super::names_of(&scene.counts())[0]);
    let whole = std::fs::read(&ledger).unwrap();
    std::fs::remove_file(scene.inside("a")).unwrap();
    for (number, broken) in [&whole[..whole.len() - 1], &whole[1..], b"", &[0; 40], &[255; 40]].into_iter().enumerate()
    {
        std::fs::write(&ledger, broken).unwrap();
        // There is space only if the deletion was counted.
        write(&files, "b", 100).unwrap();
        write(&files, "c", 100).unwrap();
        write(&files, "d", 50).unwrap_or_else(|error| panic!("{number}: {error}"));
        for name in ["b", "c", "d"] {
            std::fs::remove_file(scene.inside(name)).unwrap();
        }
    }
}

/// Deny twin: if the count cannot be stored, writes are refused and reads go on.
#[test]
fn without_a_writable_count_folder_writes_are_refused() {
    let scene = Scene::with(SMALL);
    scene.put("there", "text");
    std::fs::write(scene.folder.path().join("state"), "a file where a folder should be").unwrap();
    let files = scene.another(SMALL);
    assert!(write(&files, "a", 1).unwrap_err().contains("state folder"));
    assert_eq!(block_on(files.call("readFile", json!({ "path": "there" }))).unwrap(), "text");
    assert_eq!(super::names_of(&scene.inside("")), ["there"]);
}

#[test]
fn a_reader_sees_the_old_text_or_the_new_one() {
    let scene = Scene::new();
    let texts = ["a".repeat(500_000), "b".repeat(400_000)];
    scene.write("file", &texts[0]).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..50 {
                scene.write("file", &texts[round % 2]).unwrap();
            }
        });
        while !writer.is_finished() {
            let read = scene.read("file").unwrap();
            assert!(texts.contains(&read), "{} bytes", read.len());
        }
    });
}
