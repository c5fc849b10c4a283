//! Files that scripts may not import.

use crate::standard::support::{CommandOutput, Project};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// The imports that are tried, in all their forms.
fn forms(file: &str) -> [String; 3] {
    [
        format!("import x from '{file}'; export default x;"),
        format!("export {{ default }} from '{file}';"),
        format!("export default (await import('{file}')).default;"),
    ]
}

#[test]
fn a_script_cannot_import_configuration_or_definitions() {
    let project = Project::new(json!({ "spaces": { "work": {} } }));
    let files = [
        ".mcp.json",
        "sub/capabilities.lock",
        ".git/x.json",
        ".agent-spaces/x.json",
        "sub/.mcp.json",
        ".cursor/mcp.json",
        ".vscode/mcp.json",
        "sub/.env.json",
        "certs/server.key",
    ];
    files.iter().for_each(|file| project.write(file, "{}"));
    project.write("plain.json", "{\"plain\": true}");
    for file in
        files.iter().chain(&["agent-spaces.config.json", "sub/../.mcp.json", ".CURSOR/mcp.json", ".vscode/none.json"])
    {
        for source in forms(&format!("./{file}")) {
            let done = project.run(&source);
            let (code, message) = done.error();
            assert_eq!(code, "import.unknown", "{source}: {message}");
            assert!(message.contains("may not import"), "{source}: {message}");
            assert_eq!(done.status, Some(1));
        }
    }
    // The other side: the same forms import any other file.
    for source in forms("./plain.json") {
        assert_eq!(project.run(&source).value(), json!({ "plain": true }), "{source}");
    }
}

#[test]
fn a_symlink_does_not_help_to_import_protected_files() {
    let project = Project::new(json!({ "spaces": { "work": {} } }));
    project.write(".cursor/mcp.json", "{}");
    symlink("agent-spaces.config.json", project.path("data.json")).unwrap();
    symlink(".cursor/mcp.json", project.path("servers.json")).unwrap();
    symlink(".cursor", project.path("cursor")).unwrap();
    for file in ["data.json", "servers.json", "cursor/mcp.json"] {
        let (code, message) = project.run(&format!("import x from './{file}'; export default x;")).error();
        assert!(code.starts_with("import.") && message.contains("may not import"), "{code}: {message}");
    }
    // Nor is another name of the same file.
    fs::hard_link(project.path(".cursor/mcp.json"), project.path("twin.json")).unwrap();
    let (code, message) = project.run("import x from './twin.json'; export default x;").error();
    assert!(code == "import.unknown" && message.contains("several names (hard links)"), "{code}: {message}");
}

/// Runs a script of this folder, without a space of its own.
fn run_in(project: &Project, folder: &Path, source: &str) -> CommandOutput {
    fs::create_dir_all(folder).unwrap();
    let script = folder.join("script.ts");
    fs::write(&script, source).unwrap();
    project.agent_spaces(&["run", script.to_str().unwrap(), "--json"])
}

#[test]
fn a_script_in_a_home_folder_cannot_import_from_it() {
    let project = Project::new(json!({ "spaces": { "work": {} } }));
    let secret = r#"{ "secret": "TOP SECRET" }"#;
    let files = [
        ".local/state/agent-spaces/mcp-tokens.json",
        ".claude.json",
        "state/agent-spaces/mcp-tokens.json",
        "plain.json",
    ];
    for file in files {
        fs::create_dir_all(project.home(file).parent().unwrap()).unwrap();
        fs::write(project.home(file), secret).unwrap();
    }
    for file in files.iter().chain(&["none.json", "documents/plain.json"]) {
        for source in forms(&format!("./{file}")) {
            let done = run_in(&project, &project.home(""), &source);
            let (code, message) = done.error();
            assert_eq!(code, "import.unknown", "{source}: {message}");
            let is_told = message.contains("may not import")
                || message.contains("it is the home folder")
                    && message.contains("move what imports it into a folder of its own");
            assert!(is_told && !format!("{done:?}").contains("TOP SECRET"), "{source}: {done:?}");
        }
    }
    // The other side: it runs, and in a folder of its own it imports what is beside it.
    assert_eq!(run_in(&project, &project.home(""), "export default 1 + 1;").value(), json!(2));
    let folder = project.home("scripts");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("plain.json"), "7").unwrap();
    for source in forms("./plain.json") {
        assert_eq!(run_in(&project, &folder, &source).value(), json!(7));
    }
}

#[test]
fn a_script_cannot_import_from_above_a_home_or_from_our_state() {
    let project = Project::new(json!({ "spaces": { "work": {} } }));
    fs::create_dir_all(project.home("state/agent-spaces/deep")).unwrap();
    for (folder, why) in [
        (project.outside(""), "the home folder lies in it"),
        (project.home("state"), "Agent Spaces keeps files of its own there"),
        (project.home("state/agent-spaces"), "Agent Spaces keeps files of its own there"),
        (project.home("state/agent-spaces/deep"), "Agent Spaces keeps files of its own there"),
        (project.path(".git/hooks"), "`.git` is closed to scripts"),
        (project.path(".cursor"), "`.cursor` is closed to scripts"),
    ] {
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("plain.json"), "7").unwrap();
        let (code, message) = run_in(&project, &folder, "import x from './plain.json'; export default x;").error();
        assert!(code == "import.unknown" && message.contains(why), "{}: {message}", folder.display());
        assert_eq!(run_in(&project, &folder, "export default 2;").value(), json!(2), "{}", folder.display());
    }
}

/// Handlers import from their own folder too; in a home folder that is the file of handlers alone.
#[test]
fn handlers_in_a_home_folder_cannot_import_from_it() {
    let project = Project::empty();
    fs::create_dir_all(project.home("")).unwrap();
    fs::write(project.home("plain.json"), "7").unwrap();
    let handlers = |import: &str| {
        format!(
            "import {{ defineTool }} from '@agent-spaces/capabilities'; {import}
            export const it = defineTool({{ functions: {{ get: {{ returns: {{}} as number, handler: () => 5 }} }} }});"
        )
    };
    let file = project.home("it.ts");
    project.configure(json!({ "capabilities": { "global": [file.to_str().unwrap()] } }));
    project.trust();
    let call = "import { it } from '@capabilities/it'; export default await it.get({});";
    fs::write(&file, handlers("")).unwrap();
    assert_eq!(project.run_with(call, &["--json"]).value(), json!(5));
    fs::write(&file, handlers("import x from './plain.json'; x;")).unwrap();
    let done = project.run_with(call, &["--json"]);
    assert!(done.status != Some(0) && format!("{done:?}").contains("it is the home folder"), "{done:?}");
}
