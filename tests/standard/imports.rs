//! What scripts may not import.

use crate::support::Project;
use serde_json::json;
use std::os::unix::fs::symlink;

/// The imports that are tried, in all their forms.
fn forms(file: &str) -> [String; 3] {
    [
        format!("import x from '{file}'; export default x;"),
        format!("export {{ default }} from '{file}';"),
        format!("export default (await import('{file}')).default;"),
    ]
}

#[test]
fn a_script_does_not_import_what_decides_over_it() {
    let project = Project::new(json!({ "spaces": { "work": {} } }));
    let files = [".mcp.json", "sub/capabilities.lock", ".git/x.json", ".agent-spaces/x.json", "sub/.mcp.json"];
    files.iter().for_each(|file| project.write(file, "{}"));
    project.write("plain.json", "{\"plain\": true}");
    for file in files.iter().chain(&["agent-spaces.config.json", "sub/../.mcp.json"]) {
        for source in forms(&format!("./{file}")) {
            let done = project.run(&source);
            let (code, message) = done.error();
            assert_eq!(code, "import.unknown", "{source}: {message}");
            assert!(message.contains("is not for scripts"), "{source}: {message}");
            assert_eq!(done.status, Some(1));
        }
    }
    // The other side: the same forms import any other file.
    for source in forms("./plain.json") {
        assert_eq!(project.run(&source).value(), json!({ "plain": true }), "{source}");
    }
}

#[test]
fn a_link_is_no_way_to_import_what_decides_over_scripts() {
    let project = Project::new(json!({ "spaces": { "work": {} } }));
    symlink("agent-spaces.config.json", project.path("data.json")).unwrap();
    let (code, message) = project.run("import x from './data.json'; export default x;").error();
    assert!(code.starts_with("import.") && message.contains("not for scripts"), "{code}: {message}");
}
