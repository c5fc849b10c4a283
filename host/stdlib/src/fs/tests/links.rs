//! Tests of symlinks, hard links, pipes and devices.

use super::{Scene, names_of, reason};
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn make_pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Stops the background threads, also when the test fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn symlinks_out_of_the_workspace_are_denied() {
    let scene = Scene::new();
    scene.put("a/x", "");
    let outside = scene.outside("");
    symlink(outside.join("secret.txt"), scene.inside("absolute")).unwrap();
    symlink(&outside, scene.inside("folder")).unwrap();
    symlink("../outside", scene.inside("relative")).unwrap();
    symlink("../../outside/secret.txt", scene.inside("a/file")).unwrap();
    symlink("relative", scene.inside("chain")).unwrap();
    symlink("../outside/new.txt", scene.inside("dangling")).unwrap();
    symlink("..", scene.inside("up")).unwrap();
    symlink("a/../../workspace/a", scene.inside("out-and-in")).unwrap();
    symlink("/proc/self/root", scene.inside("proc")).unwrap();
    let links = ["absolute", "a/file", "dangling"];
    for path in [
        "absolute",
        "folder/secret.txt",
        "relative/secret.txt",
        "relative/new.txt",
        "a/file",
        "chain/secret.txt",
        "dangling",
        "up/outside/secret.txt",
        "out-and-in/x",
        "proc/etc/passwd",
        "folder/none/none",
    ] {
        for (function, answer) in scene.call_all(path) {
            // Deleting a link deletes the link.
            if function == "delete" && links.contains(&path) {
                continue;
            }
            assert_eq!(reason(answer), ("call.denied", "outside".into()), "{function} {path}");
        }
        scene.assert_outside_is_whole();
    }
    for pattern in ["**", "folder/*", "*/*.txt"] {
        assert!(scene.glob(pattern).iter().all(|path| !path.contains("secret")), "{pattern}");
    }
    assert_eq!(reason(scene.call("list", json!({ "path": "folder" }))).1, "outside");
}

#[test]
fn delete_removes_a_symlink_and_not_its_target() {
    let scene = Scene::new();
    scene.put("tree/x", "");
    scene.put("kept/y", "");
    symlink(scene.outside(""), scene.inside("tree/out")).unwrap();
    symlink("../kept", scene.inside("tree/in")).unwrap();
    symlink(scene.outside(""), scene.inside("link")).unwrap();
    for path in ["link", "tree"] {
        scene.call("delete", json!({ "path": path, "options": { "recursive": true } })).unwrap();
    }
    assert_eq!(names_of(&scene.inside("")), ["kept"]);
    assert!(scene.inside("kept/y").exists());
    scene.assert_outside_is_whole();
}

#[test]
fn symlinks_inside_the_workspace_are_followed() {
    let scene = Scene::new();
    scene.put("data/v2/x.txt", "two");
    symlink("v2", scene.inside("data/latest")).unwrap();
    symlink("data/../data/./latest/x.txt", scene.inside("current")).unwrap();
    assert_eq!(scene.read("data/latest/x.txt").unwrap(), "two");
    assert_eq!(scene.read("current").unwrap(), "two");
    scene.write("current", "three").unwrap();
    assert_eq!(std::fs::read_to_string(scene.inside("data/v2/x.txt")).unwrap(), "three");
    assert!(scene.inside("current").is_symlink());
    assert_eq!(scene.call("stat", json!({ "path": "current" })).unwrap()["kind"], "file");
    assert_eq!(scene.call("list", json!({ "path": "." })).unwrap()[0], json!({ "name": "current", "kind": "other" }));
    assert_eq!(scene.names("data/latest"), ["x.txt"]);
    assert_eq!(scene.glob("**"), ["data/v2/x.txt"]);
    assert_eq!(scene.glob("data/latest/*"), Vec::<String>::new());
}

#[test]
fn symlink_loops_end() {
    let scene = Scene::new();
    symlink("b", scene.inside("a")).unwrap();
    symlink("a", scene.inside("b")).unwrap();
    symlink("self/self", scene.inside("self")).unwrap();
    for path in ["a", "b/x", "self"] {
        assert_eq!(reason(scene.call("readFile", json!({ "path": path }))), ("call.failed", "links".into()));
    }
}

/// One thread keeps swapping a folder for an escaping symlink, while others read, write and delete through it.
#[cfg(target_os = "linux")]
#[test]
fn a_symlink_race_does_not_escape() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let scene = Scene::new();
    for name in ["secret.txt", "mine.txt"] {
        scene.put(&format!("target/{name}"), "mine");
    }
    symlink(scene.outside(""), scene.inside("link")).unwrap();
    std::fs::write(scene.outside("only-outside"), "").unwrap();
    let is_over = AtomicBool::new(false);
    let (mut read, mut refused, mut swaps) = (0, 0, 0);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let (folder, link) = (scene.inside("target"), scene.inside("link"));
            let mut swaps = 0;
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                swaps += 1;
            }
            swaps
        });
        let writer = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for function in ["writeFile", "appendFile"] {
                    let _ = scene.call(function, json!({ "path": "target/mine.txt", "text": "mine" }));
                }
                let _ = scene.call("mkdir", json!({ "path": "target/folder" }));
                let _ = scene.call("delete", json!({ "path": "target/folder", "options": { "recursive": true } }));
                let _ = scene.call("delete", json!({ "path": "target/mine.txt" }));
            }
        });
        let ends = Ends(&is_over);
        let started = Instant::now();
        // For a second; on a busy machine until both outcomes were seen.
        let is_run = |read, refused| read > 0 && refused > 0 || started.elapsed() > Duration::from_secs(60);
        while started.elapsed() < Duration::from_secs(1) || !is_run(read, refused) {
            match scene.call("readFile", json!({ "path": "target/secret.txt" })) {
                Ok(text) => {
                    assert_eq!(text, "mine");
                    read += 1;
                }
                Err(_) => refused += 1,
            }
            for (function, params) in
                [("glob", json!({ "pattern": "target/**" })), ("list", json!({ "path": "target" }))]
            {
                let found = scene.call(function, params);
                assert!(!format!("{found:?}").contains("only-outside"), "{function} {found:?}");
            }
        }
        drop(ends);
        swaps = swapper.join().unwrap();
        writer.join().unwrap();
    });
    assert!(read > 0 && refused > 0 && swaps > 100, "the race was never run: {read} {refused} {swaps}");
    std::fs::remove_file(scene.outside("only-outside")).unwrap();
    scene.assert_outside_is_whole();
}

#[test]
fn a_file_with_two_hard_links_is_neither_read_nor_written() {
    let scene = Scene::new();
    std::fs::hard_link(scene.outside("secret.txt"), scene.inside("hard")).unwrap();
    symlink("hard", scene.inside("soft")).unwrap();
    for path in ["hard", "soft"] {
        for (function, answer) in scene.call_all(path) {
            if !matches!(function, "readFile" | "readBytes" | "writeFile" | "writeBytes" | "appendFile") {
                continue;
            }
            let error = answer.unwrap_err();
            assert_eq!(error.code, "call.denied", "{function}");
            assert!(error.message.contains("several names (hard links)"), "{error}");
        }
        std::fs::remove_file(scene.inside("hard")).ok();
        std::fs::hard_link(scene.outside("secret.txt"), scene.inside("hard")).unwrap();
    }
    scene.assert_outside_is_whole();
}

#[test]
fn pipes_sockets_and_devices_are_never_opened() {
    let scene = Scene::new();
    make_pipe(&scene.inside("pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(scene.inside("socket")).unwrap();
    for path in ["pipe", "socket"] {
        for function in ["readFile", "readBytes", "writeFile", "writeBytes", "appendFile"] {
            let params = match function {
                "writeBytes" => json!({ "path": path, "bytes": "" }),
                "readFile" | "readBytes" => json!({ "path": path }),
                _ => json!({ "path": path, "text": "" }),
            };
            assert_eq!(reason(scene.call(function, params)), ("call.denied", "notFile".into()), "{function} {path}");
        }
        assert_eq!(scene.call("stat", json!({ "path": path })).unwrap()["kind"], "other");
        assert_eq!(reason(scene.call("list", json!({ "path": path }))).1, "notDirectory");
    }
    assert_eq!(scene.glob("**"), Vec::<String>::new());
    assert!(scene.inside("pipe").exists() && scene.inside("socket").exists());
}

/// A pipe that replaces a file after it was checked must not block the reader.
#[test]
fn a_pipe_that_appears_late_does_not_block() {
    use crate::fs::read::open_regular;
    use cap_std::fs::OpenOptions;
    let scene = Scene::new();
    scene.put("plain", "x");
    make_pipe(&scene.inside("pipe"));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                std::fs::rename(scene.inside("plain"), scene.inside("at")).unwrap();
                std::fs::rename(scene.inside("at"), scene.inside("plain")).unwrap();
                std::fs::rename(scene.inside("pipe"), scene.inside("at")).unwrap();
                std::fs::rename(scene.inside("at"), scene.inside("pipe")).unwrap();
            }
        });
        let ends = Ends(&is_over);
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(500) {
            let opened = open_regular(&scene.files.0.root, "at".as_ref(), OpenOptions::new().read(true), "at");
            assert!(opened.is_err() || opened.is_ok_and(|(_, metadata)| metadata.is_file()));
        }
        drop(ends);
    });
}

#[test]
fn symlinks_do_not_exceed_the_depth_limit() {
    let scene = Scene::new();
    let deep = "d/".repeat(32);
    std::fs::create_dir_all(scene.inside(&deep)).unwrap();
    symlink(&deep, scene.inside("jump")).unwrap();
    let path = |parts: usize| json!({ "path": format!("jump/{}", "e/".repeat(parts)) });
    assert_eq!(reason(scene.call("mkdir", path(33))), ("call.failed", "tooDeep".into()));
    scene.call("mkdir", path(32)).unwrap();
    // The created tree can be counted and deleted.
    scene.write("a", "x").unwrap();
    scene.call("delete", json!({ "path": "d", "options": { "recursive": true } })).unwrap();
}
