use super::{Scene, reason};
use serde_json::json;

#[test]
fn matches_are_sorted() {
    let scene = Scene::new();
    for path in ["b.csv", "a.csv", "data/z.csv", "data/x/y.csv", "data/x.csv", "data/x.txt", ".hidden.csv"] {
        scene.put(path, "");
    }
    assert_eq!(scene.glob("*.csv"), ["a.csv", "b.csv"]);
    assert_eq!(scene.glob("data/**/*.csv"), ["data/x.csv", "data/x/y.csv", "data/z.csv"]);
    assert_eq!(scene.glob("./data/*.{csv,txt}"), ["data/x.csv", "data/x.txt", "data/z.csv"]);
    assert_eq!(scene.glob("data"), Vec::<String>::new());
    assert_eq!(scene.glob("none/**"), Vec::<String>::new());
    assert_eq!(scene.glob("a.csv/*"), Vec::<String>::new());
    assert_eq!(scene.glob("a.csv"), ["a.csv"]);
}

#[test]
fn a_tree_that_is_too_deep_is_refused_only_if_entered() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.inside(&"d/".repeat(70))).unwrap();
    scene.put("data/a", "");
    assert_eq!(reason(scene.call("glob", json!({ "pattern": "**" }))), ("call.failed", "tooDeep".into()));
    assert_eq!(scene.glob("data/**"), ["data/a"]);
    let answer = scene.call("delete", json!({ "path": "d", "options": { "recursive": true } }));
    assert_eq!(reason(answer), ("call.failed", "tooDeep".into()));
    assert!(scene.inside(&"d/".repeat(70)).exists());
}

#[test]
fn the_number_of_visited_entries_is_limited() {
    let scene = Scene::new();
    for folder in 0..11 {
        // Hard links: created much faster than files.
        let first = format!("many/{folder}/0");
        scene.put(&first, "");
        for number in 1..9_100 {
            std::fs::hard_link(scene.inside(&first), scene.inside(&format!("many/{folder}/{number}"))).unwrap();
        }
    }
    scene.put("few/a", "");
    assert_eq!(reason(scene.call("glob", json!({ "pattern": "**/none" }))), ("call.failed", "tooMany".into()));
    assert_eq!(scene.glob("few/**"), ["few/a"]);
    assert_eq!(scene.glob("many/3/9*9").len(), 21);
    let answer = scene.call("delete", json!({ "path": "many", "options": { "recursive": true } }));
    assert_eq!(reason(answer), ("call.failed", "tooMany".into()));
    assert_eq!(
        reason(scene.call("writeFile", json!({ "path": "b", "text": "" }))),
        ("call.denied", "workspaceFull".into())
    );
    assert_eq!(super::names_of(&scene.inside("many")).len(), 11);
    scene.call("delete", json!({ "path": "many/3", "options": { "recursive": true } })).unwrap();
    scene.write("b", "").unwrap();
}

#[test]
fn a_pathologically_slow_pattern_is_aborted() {
    let scene = Scene::new();
    for number in 0..5_000 {
        std::fs::write(scene.inside(&format!("{}{number}", "a".repeat(200))), "").unwrap();
    }
    let pattern = format!("*a{}x", "?*".repeat(250));
    assert_eq!(reason(scene.call("glob", json!({ "pattern": pattern }))), ("call.failed", "tooMany".into()));
}
