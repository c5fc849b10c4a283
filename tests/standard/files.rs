//! Escapes from a workspace.

use crate::standard::support::{Project, script};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

/// Functions that take a path, as a script calls them with `path`.
pub(crate) const READING: [&str; 5] =
    ["fs.readFile(path)", "fs.readBytes(path)", "fs.list(path)", "fs.stat(path)", "fs.exists(path)"];
pub(crate) const WRITING: [&str; 5] = [
    "fs.writeFile(path, 'x')",
    "fs.writeBytes(path, new Uint8Array([1]))",
    "fs.appendFile(path, 'x')",
    "fs.delete(path, { recursive: true })",
    "fs.mkdir(path)",
];

/// Outcome of each function for each path.
pub(crate) fn outcomes(project: &Project, functions: &[&str], paths: &[&str]) -> Vec<(String, String, Value)> {
    let calls: Vec<String> = functions.iter().map(|call| format!("[{call:?}, (path) => {call}]")).collect();
    let body = format!(
        "const found = [];
        for (const path of {})
            for (const [name, call] of [{}]) found.push([path, name, await attempt(() => call(path))]);
        found",
        json!(paths),
        calls.join(", ")
    );
    let value = project.run(&script(&body)).value();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rows = value.as_array().unwrap();
    assert_eq!(rows.len(), functions.len() * paths.len(), "{value}");
    rows.iter().map(|row| (text(&row[0]), text(&row[1]), row[2].clone())).collect()
}

/// Paths whose text alone leads elsewhere, or could on some system.
#[test]
fn path_traversal_is_refused() {
    let project = Project::with_policy(json!("permissive"));
    fs::write(project.outside("secret"), "out of reach").unwrap();
    let secret = project.outside("secret").display().to_string();
    let denied = ["../secret", "a/../../secret", "../../secret", "/etc/passwd", &secret, "C:/x", ".."];
    let invalid = ["..\\secret", "a\0b", "data\0", "", "ab:stream", "a\nb"];
    let functions = [READING, WRITING].concat();
    for (path, function, outcome) in outcomes(&project, &functions, &denied) {
        assert_eq!(
            (&outcome["code"], &outcome["reason"]),
            (&json!("call.denied"), &json!("outside")),
            "{function} {path:?}: {outcome}"
        );
    }
    for (path, function, outcome) in outcomes(&project, &functions, &invalid) {
        assert_eq!(outcome["code"], "call.invalid", "{function} {path:?}: {outcome}");
    }
    assert_eq!(fs::read_to_string(project.outside("secret")).unwrap(), "out of reach");
}

#[test]
fn a_symlink_out_of_the_workspace_is_not_followed() {
    let project = Project::with_policy(json!("permissive"));
    fs::create_dir(project.outside("beside")).unwrap();
    fs::write(project.outside("beside/secret"), "out of reach").unwrap();
    symlink(project.outside("beside/secret"), project.path("files/file")).unwrap();
    symlink(project.outside("beside"), project.path("files/folder")).unwrap();
    symlink("../../beside", project.path("files/up")).unwrap();
    symlink("folder", project.path("files/twice")).unwrap();
    symlink("../../beside/fresh", project.path("files/dangling")).unwrap();
    let through = ["folder/secret", "up/secret", "twice/secret", "folder/fresh"];
    let mut found = outcomes(&project, &[READING, WRITING].concat(), &through);
    // To delete a link is to delete nothing else.
    let following = [&READING[..], &WRITING[..3]].concat();
    found.extend(outcomes(&project, &following, &["file", "folder", "up", "twice", "dangling"]));
    for (path, function, outcome) in found {
        assert_eq!(
            (&outcome["code"], &outcome["reason"]),
            (&json!("call.denied"), &json!("outside")),
            "{function} {path:?}: {outcome}"
        );
    }
    project.run(&script("await fs.delete('folder', { recursive: true })")).value();
    assert!(!project.path("files/folder").exists());
    assert_eq!(fs::read_to_string(project.outside("beside/secret")).unwrap(), "out of reach");
    assert_eq!(fs::read_dir(project.outside("beside")).unwrap().count(), 1, "something was made outside");
}

/// The other side: a link that stays within is a file like any other.
#[test]
fn a_symlink_within_the_workspace_is_followed() {
    let project = Project::with_policy(json!("standard"));
    project.write("files/deep/real.txt", "inside");
    symlink("deep/real.txt", project.path("files/link")).unwrap();
    assert_eq!(project.run(&script("await fs.readFile('link')")).value(), "inside");
}

#[test]
fn a_hard_link_is_refused() {
    let project = Project::with_policy(json!("permissive"));
    fs::write(project.outside("secret"), "out of reach").unwrap();
    fs::hard_link(project.outside("secret"), project.path("files/twin")).unwrap();
    let functions = ["fs.readFile(path)", "fs.readBytes(path)", "fs.appendFile(path, 'x')"];
    for (_, function, outcome) in outcomes(&project, &functions, &["twin"]) {
        assert_eq!(
            (&outcome["code"], &outcome["reason"]),
            (&json!("call.denied"), &json!("hardLink")),
            "{function}: {outcome}"
        );
    }
    // Writing puts a new file in its place, or is refused; the other name keeps what it had.
    project.run(&script("await attempt(() => fs.writeFile('twin', 'x'))")).value();
    assert_eq!(fs::read_to_string(project.outside("secret")).unwrap(), "out of reach");
}

#[test]
fn a_glob_finds_nothing_outside() {
    let project = Project::with_policy(json!("permissive"));
    project.write("files/inside.txt", "");
    fs::write(project.outside("secret.txt"), "").unwrap();
    symlink(project.outside(""), project.path("files/up")).unwrap();
    let found = project.run(&script(
        "const patterns = ['../**', '/etc/*', '..', 'a/../../*', '**/..', 'a\\0', '..\\\\*'];
        const codes = []; for (const pattern of patterns) codes.push((await attempt(() => fs.glob(pattern))).code);
        [codes, await fs.glob('**'), await fs.glob('**/*.txt')]",
    ));
    let (denied, invalid) = ("call.denied", "call.invalid");
    let codes = [denied, denied, denied, denied, denied, invalid, invalid];
    assert_eq!(found.value(), json!([codes, ["inside.txt"], ["inside.txt"]]));
}
