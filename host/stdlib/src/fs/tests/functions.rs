use super::{Scene, names_of, reason};
use serde_json::json;

#[test]
fn text_and_bytes_round_trip() {
    let scene = Scene::new();
    for text in ["", "hello\n", "\u{feff}with a mark\r\n", "日本 ☀\0"] {
        scene.write("a.txt", text).unwrap();
        assert_eq!(scene.read("a.txt").unwrap(), text);
    }
    scene.call("writeBytes", json!({ "path": "b", "bytes": "AP/+" })).unwrap();
    assert_eq!(std::fs::read(scene.inside("b")).unwrap(), [0, 255, 254]);
    assert_eq!(scene.call("readBytes", json!({ "path": "b" })), Ok(json!("AP/+")));
}

#[test]
fn invalid_utf8_is_refused_as_text() {
    let scene = Scene::new();
    std::fs::write(scene.inside("b"), [0xff, 0xfe]).unwrap();
    let error = scene.read("b").unwrap_err();
    assert_eq!(error.message, "\"b\" is not UTF-8 text; use readBytes");
    assert_eq!(error.code, "call.failed");
}

#[test]
fn a_write_replaces_the_file_and_leaves_no_temporary() {
    let scene = Scene::new();
    scene.write("a", "a longer text").unwrap();
    scene.write("a", "short").unwrap();
    assert_eq!(scene.read("a").unwrap(), "short");
    assert_eq!(names_of(&scene.inside("")), ["a"]);
}

#[test]
fn a_write_that_fails_leaves_nothing_behind() {
    let scene = Scene::new();
    // No file system allows names this long, and only the last step meets it.
    let long = "n".repeat(300);
    assert_eq!(reason(scene.call("writeFile", json!({ "path": long, "text": "x" }))).0, "call.failed");
    assert_eq!(names_of(&scene.inside("")), Vec::<String>::new());
}

#[test]
fn append_creates_a_file_and_then_adds_to_it() {
    let scene = Scene::new();
    for text in ["one\n", "two\n", ""] {
        scene.call("appendFile", json!({ "path": "log", "text": text })).unwrap();
    }
    assert_eq!(scene.read("log").unwrap(), "one\ntwo\n");
}

#[cfg(unix)]
#[test]
fn a_written_file_stays_executable_but_loses_setuid() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    scene.put("tool", "old");
    std::fs::set_permissions(scene.inside("tool"), PermissionsExt::from_mode(0o4750)).unwrap();
    scene.write("tool", "new").unwrap();
    assert_eq!(std::fs::metadata(scene.inside("tool")).unwrap().permissions().mode() & 0o7777, 0o750);
    std::fs::set_permissions(scene.inside("tool"), PermissionsExt::from_mode(0o444)).unwrap();
    assert_eq!(scene.write("tool", "newer").unwrap_err().message, "\"tool\" is read-only");
}

#[test]
fn a_folder_is_listed_by_name() {
    let scene = Scene::new();
    scene.put("b.txt", "four");
    scene.put("a/x", "");
    let listed = json!([{ "name": "a", "kind": "directory" }, { "name": "b.txt", "kind": "file", "size": 4 }]);
    for params in [json!({}), json!({ "path": null }), json!({ "path": "." }), json!({ "path": "./" })] {
        assert_eq!(scene.call("list", params), Ok(listed.clone()));
    }
    assert_eq!(scene.call("list", json!({ "path": "a" })), Ok(json!([{ "name": "x", "kind": "file", "size": 0 }])));
    assert_eq!(reason(scene.call("list", json!({ "path": "b.txt" }))), ("call.failed", "notDirectory".into()));
}

#[test]
fn names_that_no_path_can_contain_are_not_listed() {
    let scene = Scene::new();
    for name in ["plain", "back\\slash", "co:lon", "line\nbreak"] {
        scene.put(name, "");
    }
    assert_eq!(scene.names("."), ["plain"]);
    assert_eq!(scene.glob("*"), ["plain"]);
}

#[test]
fn a_folder_with_too_many_entries_is_not_listed() {
    let scene = Scene::new();
    for number in 0..10_001 {
        std::fs::write(scene.inside(&number.to_string()), "").unwrap();
    }
    assert_eq!(reason(scene.call("list", json!({}))), ("call.failed", "tooMany".into()));
    assert_eq!(reason(scene.call("glob", json!({ "pattern": "*" }))), ("call.failed", "tooMany".into()));
    std::fs::remove_file(scene.inside("0")).unwrap();
    assert_eq!(scene.names(".").len(), 10_000);
    assert_eq!(scene.glob("*").len(), 10_000);
}

#[test]
fn stat_returns_the_kind_of_a_path() {
    let scene = Scene::new();
    scene.put("a/x", "four");
    let stats = scene.call("stat", json!({ "path": "a/x" })).unwrap();
    assert_eq!((&stats["kind"], &stats["size"]), (&json!("file"), &json!(4)));
    let modified: jiff::Timestamp = stats["modified"].as_str().unwrap().parse().unwrap();
    assert!(jiff::Timestamp::now().duration_since(modified).as_secs().abs() < 60);
    let stats = scene.call("stat", json!({ "path": "a" })).unwrap();
    assert_eq!((&stats["kind"], &stats["size"]), (&json!("directory"), &json!(0)));
    assert_eq!(scene.call("stat", json!({ "path": "." })).unwrap()["kind"], "directory");
    assert_eq!(reason(scene.call("stat", json!({ "path": "b" }))), ("call.failed", "notFound".into()));
}

#[test]
fn exists_works_for_files_and_folders() {
    let scene = Scene::new();
    scene.put("a/x", "");
    for (path, is_there) in [("a", true), ("a/x", true), (".", true), ("b", false), ("b/c", false), ("a/x/y", false)] {
        assert_eq!(scene.call("exists", json!({ "path": path })), Ok(json!(is_there)), "{path}");
    }
}

#[test]
fn mkdir_creates_parents() {
    let scene = Scene::new();
    for _ in 0..2 {
        scene.call("mkdir", json!({ "path": "a/b/c" })).unwrap();
    }
    assert!(scene.inside("a/b/c").is_dir());
    scene.put("a/file", "");
    assert_eq!(reason(scene.call("mkdir", json!({ "path": "a/file" }))).1, "notDirectory");
    assert_eq!(reason(scene.call("mkdir", json!({ "path": "a/file/b" }))).1, "notDirectory");
}

#[test]
fn delete_removes_files_empty_folders_and_trees_if_recursive() {
    let scene = Scene::new();
    scene.put("a/b/x", "");
    scene.put("a/y", "");
    scene.call("delete", json!({ "path": "a/y" })).unwrap();
    assert!(!scene.inside("a/y").exists());
    let error = scene.call("delete", json!({ "path": "a" })).unwrap_err();
    assert!(error.message.starts_with("The folder \"a\" is not empty"), "{error}");
    assert!(scene.inside("a/b/x").exists());
    scene.call("delete", json!({ "path": "a", "options": { "recursive": true } })).unwrap();
    assert!(!scene.inside("a").exists());
    scene.call("mkdir", json!({ "path": "empty" })).unwrap();
    scene.call("delete", json!({ "path": "empty" })).unwrap();
    assert_eq!(reason(scene.call("delete", json!({ "path": "empty" }))).1, "notFound");
    for path in [".", "./."] {
        let params = json!({ "path": path, "options": { "recursive": true } });
        assert_eq!(scene.call("delete", params).unwrap_err().message, "The workspace itself cannot be deleted");
    }
}

#[test]
fn errors_show_the_script_path_and_no_host_path() {
    let scene = Scene::new();
    scene.put("file", "");
    let host = scene.folder.path().to_str().unwrap();
    for path in ["none", "none/below", "file/below", ".", "file/"] {
        for (function, answer) in scene.call_all(path) {
            let Err(error) = answer else { continue };
            assert!(!format!("{error:?}").contains(host), "{function} {error:?}");
            assert!(error.message.contains(path) || error.message.contains("workspace"), "{function} {error}");
        }
        scene.put("file", "");
    }
    let scene = Scene::new();
    assert_eq!(scene.read("none").unwrap_err().message, "There is no file or folder \"none\"");
    assert_eq!(
        scene.write("none/x", "").unwrap_err().message,
        "The folder of \"none/x\" does not exist; create it with mkdir"
    );
    assert_eq!(scene.read(".").unwrap_err().message, "\".\" is a folder");
}
