//! Protected names, inaccessible under any policy.

use crate::standard::files::{READING, WRITING, outcomes};
use crate::standard::support::{Project, script};
use serde_json::json;
use std::os::unix::fs::symlink;

/// Protected names in each workspace.
const THERE: [&str; 16] = [
    ".agent-spaces/std.d.ts",
    "agent-spaces.config.json",
    "agent-spaces.config.toml",
    "agent-spaces.config.ts",
    "capabilities.lock",
    ".mcp.json",
    ".git/config",
    "sub/.git/hooks/pre-commit",
    ".cursor/mcp.json",
    ".vscode/mcp.json",
    ".claude.json",
    ".local/state/agent-spaces/mcp-tokens.json",
    ".env.local",
    "sub/.npmrc",
    "certs/server.key",
    "keys/id_ed25519",
];

/// A project whose workspace has all of them, and one file that is free.
fn project() -> Project {
    let project = Project::with_policy(json!("permissive"));
    // A workspace below the project may hold files of these names: a clone of another project, say.
    THERE.iter().for_each(|name| project.write(&format!("files/{name}"), "as it was"));
    project.write("files/free.txt", "");
    project
}

#[test]
fn protected_names_are_refused_by_every_function() {
    let project = project();
    let folders = [".agent-spaces", ".git", "sub/.git", ".cursor", ".local/state"];
    let fresh = [
        ".GIT/config",
        "Agent-Spaces.Config.json",
        "sub/.mcp.json",
        ".git./config",
        "sub/agent-spaces.config.local.json",
        ".Cursor/mcp.json",
        "CURSOR~1/mcp.json",
        "\u{ff0e}env",
    ];
    let paths = [&THERE[..], &folders, &fresh].concat();
    for (path, function, outcome) in outcomes(&project, &[READING, WRITING].concat(), &paths) {
        assert_eq!(
            (&outcome["code"], &outcome["reason"]),
            (&json!("call.denied"), &json!("protected")),
            "{function} {path:?}: {outcome}"
        );
    }
    for name in THERE {
        assert_eq!(project.read(&format!("files/{name}")).as_deref(), Some("as it was"), "{name}");
    }
    assert!(!project.path("files/sub/.mcp.json").exists());
}

#[test]
fn protected_names_are_not_listed_found_or_deleted_with_their_folder() {
    let project = project();
    let body = "const names = (await fs.list()).map((entry) => entry.name);
        const found = [names, await fs.glob('**'), await fs.glob('**/*.json'), await fs.glob('sub/**')];
        const asked = [];
        const patterns = ['.git/*', '.agent-spaces/**', '.mcp.json', 'agent-spaces.config.*', '[.]git/config', '.gi?/config', '.g*/*'];
        for (const pattern of patterns)
            asked.push((await attempt(() => fs.glob(pattern))).value ?? []);
        const deleted = await attempt(() => fs.delete('sub', { recursive: true }));
        ({ found, asked: asked.flat(), deleted: deleted.code ?? null })";
    let value = project.run(&script(body)).value();
    assert_eq!(value["found"], json!([["certs", "free.txt", "keys", "sub"], ["free.txt"], [], []]));
    assert_eq!(value["asked"], json!([]));
    assert_eq!(project.read("files/sub/.git/hooks/pre-commit").as_deref(), Some("as it was"), "{value}");
}

#[test]
fn a_symlink_to_a_protected_name_is_refused() {
    let project = project();
    symlink(".git", project.path("files/link")).unwrap();
    symlink("agent-spaces.config.json", project.path("files/settings.json")).unwrap();
    let functions = ["fs.readFile(path)", "fs.writeFile(path, 'x')", "fs.appendFile(path, 'x')"];
    for (path, function, outcome) in outcomes(&project, &functions, &["link/config", "settings.json"]) {
        assert_eq!(outcome["reason"], "protected", "{function} {path:?}: {outcome}");
    }
    assert_eq!(project.read("files/.git/config").as_deref(), Some("as it was"));
}
