use super::{OPEN, Scene};
use agent_spaces_policy::FilePolicy;
use serde_json::json;

#[test]
fn write_only_access() {
    let scene = Scene::with(FilePolicy { read: false, ..OPEN });
    scene.put("a.txt", "x");
    for function in ["readFile", "readBytes", "stat", "exists", "list"] {
        let error = scene.call(function, json!({ "path": "a.txt" })).unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.message.as_str()),
            ("call.denied", "Reading files is not allowed in this space")
        );
    }
    assert_eq!(scene.call("glob", json!({ "pattern": "*" })).unwrap_err().code, "call.denied");
    scene.write("b.txt", "y").unwrap();
    assert_eq!(std::fs::read_to_string(scene.inside("b.txt")).unwrap(), "y");
}

#[test]
fn read_only_access() {
    let scene = Scene::with(FilePolicy { write: false, ..OPEN });
    scene.put("a.txt", "x");
    for (function, params) in [
        ("writeFile", json!({ "path": "a.txt", "text": "y" })),
        ("writeBytes", json!({ "path": "a.txt", "bytes": "" })),
        ("appendFile", json!({ "path": "a.txt", "text": "y" })),
        ("delete", json!({ "path": "a.txt" })),
        ("mkdir", json!({ "path": "b" })),
    ] {
        let error = scene.call(function, params).unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.message.as_str()),
            ("call.denied", "Writing files is not allowed in this space")
        );
    }
    assert_eq!(scene.read("a.txt").unwrap(), "x");
    assert_eq!(super::names_of(&scene.inside("")), ["a.txt"]);
}

#[test]
fn an_unknown_function_is_refused() {
    assert_eq!(Scene::new().call("rename", json!({})).unwrap_err().message, "There is no function fs.rename");
}

#[test]
fn unknown_parameters_are_refused() {
    let scene = Scene::new();
    scene.put("d/a", "x");
    let error = scene.call("delete", json!({ "path": "d", "options": { "recursiv": true } })).unwrap_err();
    assert_eq!(error.message, "options.recursiv is not known; expected recursive");
    let error = scene.call("writeBytes", json!({ "path": "a", "bytes": "*" })).unwrap_err();
    assert_eq!(error.message, "bytes must be bytes, in base64");
    assert_eq!(super::names_of(&scene.inside("")), ["d"]);
}
