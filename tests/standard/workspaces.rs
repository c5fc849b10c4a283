//! Workspace folders.

use crate::standard::support::{Project, script};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

const READ: &str = "import { fs } from '@agent-spaces/std'; export default await fs.readFile('which');";

const TOOL: &str =
    r#"{ "name": "get_thing", "description": "Gets it", "parameters": { "type": "object", "properties": {} } }"#;

/// Asserts that the space is refused, with what overlaps.
fn assert_overlap(project: &Project, arguments: &[&str], named: &str) {
    assert_refused(project, arguments, &["overlap: a script could change the files that control it", named]);
}

/// Asserts that the space is refused, with this reason.
fn assert_refused(project: &Project, arguments: &[&str], why: &[&str]) {
    project.write("script.ts", READ);
    let done = project.agent_spaces(&[&["run", "script.ts", "--json"], arguments].concat());
    let (code, message) = done.error();
    assert_eq!((code.as_str(), done.status), ("config.unknown", Some(2)), "{message}");
    for part in why {
        assert!(message.contains(part), "{arguments:?} has no {part:?}: {message}");
    }
}

#[test]
fn a_space_without_a_workspace_has_no_files() {
    let project = Project::new(json!({ "spaces": { "work": {} } }));
    for done in [project.run(READ), project.run_with(READ, &["--json"])] {
        let expected = ("call.denied".to_owned(), "This space has no workspace: fs has no files".to_owned());
        assert_eq!((done.error(), done.status), (expected, Some(4)));
    }
}

#[test]
fn a_workspace_on_the_command_line_overrides_the_spaces() {
    let project = Project::with_policy(json!("standard"));
    project.write("files/which", "of the space");
    project.write("other/which", "of the command");
    assert_eq!(project.run(READ).value(), "of the space");
    let other = ["--workspace", "other", "--json"];
    assert_eq!(project.run_with(READ, &[&["--space", "work"], &other[..]].concat()).value(), "of the command");
    // Without a space and without a configuration too.
    assert_eq!(project.run_with(READ, &other).value(), "of the command");
    fs::remove_file(project.path("agent-spaces.config.json")).unwrap();
    assert_eq!(project.run_with(READ, &other).value(), "of the command");
    assert_eq!(project.run_with(READ, &["--json"]).status, Some(4));
}

#[test]
fn a_missing_workspace_is_refused_when_the_space_is_loaded() {
    let project = Project::new(json!({ "spaces": { "work": { "workspace": "./none" } } }));
    let (code, message) = project.run("1").error();
    assert_eq!(code, "config.unknown");
    assert!(message.contains("$.spaces.work.workspace: there is no folder"), "{message}");
    let done = project.run_with("1", &["--workspace", "script.ts", "--json"]);
    assert!(done.error().1.contains("--workspace: there is no folder"), "{done:?}");
}

#[test]
fn a_workspace_with_configuration_or_definitions_is_refused() {
    let project = Project::empty();
    project.write("tools/thing.json", TOOL);
    project.write("code/handled.json", TOOL.replace("thing", "other"));
    project.write("code/deep/empty", "");
    project.write("answers/handled.ts", "");
    fs::create_dir_all(project.path(".agent-spaces/inner")).unwrap();
    symlink(project.path(""), project.path("files/up")).unwrap();
    let config = |workspace: &str| {
        json!({
            "capabilities": { "global": ["./tools", "./code/handled.json"] }, "spaces": { "work": { "workspace": workspace } },
        })
    };
    for (workspace, named) in [
        (".", "agent-spaces.config.json overlap"),
        ("./files/up", "agent-spaces.config.json overlap"),
        ("./tools", "tools overlap"),
        ("./code", "handled.json overlap"),
    ] {
        project.configure(config(workspace));
        project.trust();
        assert_overlap(&project, &["--space", "work"], named);
    }
    for (workspace, why) in [
        ("..", "the home folder lies in it"),
        ("./.agent-spaces", "`.agent-spaces` is closed to scripts"),
        ("./.agent-spaces/inner", "`.agent-spaces` is closed to scripts"),
    ] {
        project.configure(config(workspace));
        project.trust();
        assert_refused(&project, &["--space", "work"], &["$.spaces.work.workspace", why]);
    }
    // The other side: a folder beside them is fine.
    project.configure(config("./code/deep"));
    project.trust();
    assert_eq!(project.run("1").value(), 1);
}

#[test]
fn a_workspace_in_our_state_folders_is_refused() {
    let project = Project::new(json!({ "spaces": { "work": {} } }));
    let home = |name: &str| project.home(name).display().to_string();
    for folder in ["state/agent-spaces", "data/agent-spaces", "config/agent-spaces", "state/agent-spaces/audit/below"] {
        fs::create_dir_all(project.home(folder)).unwrap();
    }
    for folder in [
        "state",
        "state/agent-spaces",
        "state/agent-spaces/audit",
        "state/agent-spaces/audit/below",
        "data",
        "data/agent-spaces",
        "config",
        "config/agent-spaces",
    ] {
        assert_overlap(&project, &["--workspace", &home(folder)], "agent-spaces overlap");
    }
}

#[test]
fn home_root_and_folders_of_other_programs_are_refused() {
    let project = Project::new(json!({ "spaces": { "work": {} } }));
    for folder in [".cursor", ".vscode", ".git/hooks", "node_modules/a", "capabilities", "files/.cursor"] {
        fs::create_dir_all(project.path(folder)).unwrap();
    }
    for folder in [".cursor/deep", ".config/Code/User/snippets", "documents", ".config/other/files"] {
        fs::create_dir_all(project.home(folder)).unwrap();
    }
    fs::write(project.home("documents/which"), "inside the home").unwrap();
    symlink(project.home(""), project.path("link")).unwrap();
    let home = |name: &str| project.home(name).display().to_string();
    let outside = project.outside("").display().to_string();
    let program = "another program keeps its configuration there";
    for (folder, why) in [
        (home("").as_str(), "it is the home folder"),
        ("link", "it is the home folder"),
        (&outside, "the home folder lies in it"),
        ("/", "it is a root folder"),
        (".cursor", "`.cursor` is closed to scripts"),
        (".git/hooks", "`.git` is"),
        ("node_modules/a", "`node_modules` is"),
        ("capabilities", "`capabilities` is"),
        (&home(".cursor/deep"), program),
        (&home(".config/Code/User/snippets"), program),
        (&home(".config"), program),
    ] {
        let said = ["--workspace: ", "cannot be a workspace", why, "Name a folder of its own inside it or elsewhere"];
        assert_refused(&project, &["--workspace", folder], &said);
    }
    // The other side: folders inside a home are for scripts, also where they are in a folder of programs.
    assert_eq!(project.run_with(READ, &["--workspace", &home("documents"), "--json"]).value(), "inside the home");
    let refused = project.run_with(READ, &["--workspace", &home(".config/other/files"), "--json"]).error();
    assert!(refused.1.contains("There is no file"), "{refused:?}");
}

/// A folder without a configuration is a workspace where its user says so; what would become one is not written.
#[test]
fn a_script_cannot_add_capabilities_or_configuration_to_a_workspace() {
    let project = Project::empty();
    project.write(".claude/settings.json", "as it was");
    project.write("package.json", "as it was");
    let paths = [
        "capabilities/evil.json",
        "capabilities",
        "sub/capabilities/evil.json",
        ".mcp.json",
        ".cursor/mcp.json",
        ".vscode/mcp.json",
        ".claude/settings.json",
        ".envrc",
        "package.json",
        "node_modules/zod/index.js",
        "agent-spaces.config.json",
        "AGENTS.md",
    ];
    let body = format!(
        "const said = {{}};
        for (const path of {}) {{
            await attempt(() => fs.mkdir(path.split('/').slice(0, -1).join('/') || '.'));
            said[path] = (await attempt(() => fs.writeFile(path, '{{}}'))).reason;
        }}
        await fs.mkdir('out'); await fs.writeFile('out/report.json', '{{}}');
        said",
        json!(paths)
    );
    let value = project.run_with(&script(&body), &["--workspace", ".", "--json"]).value();
    for path in paths {
        assert_eq!(value[path], "protected", "{path}: {value}");
    }
    assert_eq!(project.read("out/report.json").as_deref(), Some("{}"));
    assert!(!project.path("capabilities").exists() && !project.path("sub/capabilities").exists());
    assert_eq!(project.read("package.json").as_deref(), Some("as it was"));
    assert_eq!(project.read(".claude/settings.json").as_deref(), Some("as it was"));
}

/// A script must not add to a definitions folder.
#[test]
fn an_empty_definitions_folder_is_refused() {
    let project = Project::empty();
    fs::create_dir(project.path("tools")).unwrap();
    let spaces = json!({ "work": { "workspace": "./tools" } });
    project.configure(json!({ "capabilities": { "global": ["./tools"] }, "spaces": spaces }));
    project.trust();
    assert_overlap(&project, &["--space", "work"], "tools overlap");
}

/// Handlers import files of their own folder, so a script that writes one of these answers in the handler's place.
#[test]
fn a_script_cannot_change_what_a_handler_imports() {
    let project = Project::empty();
    project.write("caps/thing.json", TOOL);
    project.write("caps/thing.ts", "import { text } from './lib/text.ts'; export const getThing = () => text;");
    project.write("caps/lib/text.ts", "export const text = 'original';");
    let spaces = json!({ "work": { "workspace": "./caps/lib" } });
    project.configure(json!({ "capabilities": { "global": ["./caps"] }, "spaces": spaces }));
    project.trust();
    project.run(&script("await attempt(() => fs.writeFile('text.ts', 'export const text = \"changed\";'))"));
    let source = "import { getThing } from '@capabilities/thing'; export default await getThing({});";
    let answer = project.run_with(source, &["--json"]);
    assert_eq!(answer.value(), Value::from("original"));
}

/// Without a configuration the servers of a `.mcp.json` are used; its folder is still a place for workspaces.
#[test]
fn a_workspace_may_be_beside_other_programs_server_files() {
    let project = Project::empty();
    project.write(".mcp.json", r#"{ "mcpServers": {} }"#);
    project.write("files/which", "of the command");
    assert_eq!(project.run_with(READ, &["--workspace", "files", "--json"]).value(), "of the command");
    assert_overlap(&project, &["--workspace", "."], "overlap");
}
