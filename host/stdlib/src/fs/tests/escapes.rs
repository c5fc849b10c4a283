use super::{Scene, reason};
use serde_json::json;

#[test]
fn path_traversal_is_denied() {
    let scene = Scene::new();
    scene.put("a/x", "");
    let absolute = scene.outside("secret.txt");
    for path in [
        "..",
        "../outside/secret.txt",
        "a/../../outside/secret.txt",
        "a/..",
        "./..",
        "a/../a/x",
        "/",
        "/etc/passwd",
        "//etc/passwd",
        "C:/x",
        "c:x",
        "//server/share",
        absolute.to_str().unwrap(),
    ] {
        for (function, answer) in scene.call_all(path) {
            assert_eq!(reason(answer), ("call.denied", "outside".into()), "{function} {path}");
        }
        assert_eq!(scene.call("glob", json!({ "pattern": path })).unwrap_err().code, "call.denied", "{path}");
    }
    scene.assert_outside_is_whole();
}

#[test]
fn platform_dependent_paths_are_invalid() {
    let scene = Scene::new();
    let (long, deep) = ("a".repeat(4097), "a/".repeat(65));
    for path in [
        "",
        "a\0b",
        "\0",
        "a\nb",
        "\u{1b}[2J",
        "a\u{85}",
        "..\\outside",
        "a\\b",
        "\\\\server\\share",
        "file.txt:stream",
        "a/b::$DATA",
        &long,
        &deep,
    ] {
        for (function, answer) in scene.call_all(path) {
            assert_eq!(answer.unwrap_err().code, "call.invalid", "{function} {path:?}");
        }
    }
}

#[test]
fn equivalent_paths_name_the_same_file() {
    let scene = Scene::new();
    scene.put("a/x", "here");
    for path in ["a/x", "./a/x", "a/./x", "a//x", "a/x/"] {
        assert_eq!(scene.read(path).unwrap(), "here");
    }
    scene.put("a../b...", "dots");
    assert_eq!(scene.read("a../b...").unwrap(), "dots");
}
