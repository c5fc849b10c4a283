use super::{Scene, names_of, reason};
use serde_json::json;

const NAMES: [&str; 28] = [
    ".git",
    ".GIT",
    ".Git",
    ".agent-spaces",
    ".Agent-Spaces",
    ".AGENT-SPACES",
    "capabilities.lock",
    "Capabilities.Lock",
    ".mcp.json",
    ".MCP.JSON",
    "agent-spaces.config.json",
    "agent-spaces.config.toml",
    "agent-spaces.config.ts",
    "Agent-Spaces.Config.Json",
    "agent-spaces.config.yaml",
    "git~1",
    "CURSOR~1",
    ".cursor",
    ".VSCode",
    ".claude.json",
    ".local",
    ".env",
    ".env.local",
    ".npmrc",
    "\u{ff0e}ssh",
    "mcp.json",
    "id_ed25519",
    "server.pem",
];

#[test]
fn protected_names_are_denied_anywhere_in_a_path_and_in_any_case() {
    let scene = Scene::new();
    for name in NAMES {
        scene.put(&format!("{name}/config"), "x");
        for path in [name.to_owned(), format!("./{name}/config"), format!("{name}/config"), format!("deep/{name}/x")] {
            for (function, answer) in scene.call_all(&path) {
                assert_eq!(reason(answer), ("call.denied", "protected".into()), "{function} {path}");
            }
        }
        assert_eq!(std::fs::read_to_string(scene.inside(name).join("config")).unwrap(), "x", "{name}");
    }
    assert!(!scene.inside("deep").exists());
}

#[test]
fn protected_names_are_hidden() {
    let scene = Scene::new();
    for name in NAMES {
        scene.put(&format!("{name}/config"), "x");
        scene.put(&format!("below/{name}/config"), "x");
    }
    scene.put(".agent-spaces-write-0123456789abcdef", "half");
    scene.put("below/plain", "x");
    assert_eq!(scene.names("."), ["below"]);
    assert_eq!(scene.names("below"), ["plain"]);
    assert_eq!(scene.glob("**"), ["below/plain"]);
    for pattern in
        [".git/*", ".GIT/**", "*/config", "below/.git/config", "{.git,x}/config", "[.]git/*", ".agent-spaces*"]
    {
        assert_eq!(scene.glob(pattern), Vec::<String>::new(), "{pattern}");
    }
}

/// Files that other programs load or run can be read by any path, and written by none.
#[cfg(unix)]
#[test]
fn definitions_packages_and_instructions_are_read_only() {
    let scene = Scene::new();
    let files = [
        "capabilities/crm.json",
        "sub/Capabilities/crm.json",
        "node_modules/zod/index.js",
        "package.json",
        "CLAUDE.md",
    ];
    for (index, path) in files.into_iter().enumerate() {
        scene.put(path, "as it was");
        let link = format!("link{index}");
        std::os::unix::fs::symlink(path, scene.inside(&link)).unwrap();
        for path in [path, &link] {
            assert_eq!(scene.read(path).unwrap(), "as it was");
            for (function, answer) in scene.call_all(path) {
                let is_write = !["readFile", "readBytes", "list", "stat", "exists"].contains(&function);
                // Deleting a link deletes the link.
                if is_write && !(function == "delete" && path == link) {
                    assert_eq!(reason(answer), ("call.denied", "protected".into()), "{function} {path}");
                }
            }
        }
        assert_eq!(std::fs::read_to_string(scene.inside(path)).unwrap(), "as it was");
    }
    for path in ["capabilities/new.json", "new/capabilities", "node_modules/x"] {
        let write = scene.call("writeFile", json!({ "path": path, "text": "x" }));
        assert_eq!(reason(write), ("call.denied", "protected".into()), "{path}");
        assert_eq!(reason(scene.call("mkdir", json!({ "path": path }))).1, "protected", "{path}");
    }
    assert!(!scene.inside("new").exists() && names_of(&scene.inside("capabilities")) == ["crm.json"]);
    let answer = scene.call("delete", json!({ "path": "sub", "options": { "recursive": true } }));
    assert_eq!(reason(answer), ("call.denied", "protected".into()));
    // Similar names are writable.
    for path in ["capabilities.md", "packages.json", "claude.txt"] {
        scene.write(path, "x").unwrap();
    }
}

#[test]
fn temporary_files_are_inaccessible() {
    let scene = Scene::new();
    let name = ".agent-spaces-write-0123456789abcdef";
    scene.put(name, "half");
    for (function, answer) in scene.call_all(name) {
        assert_eq!(reason(answer), ("call.denied", "protected".into()), "{function}");
    }
}

#[cfg(unix)]
#[test]
fn links_to_protected_names_are_denied() {
    use std::os::unix::fs::symlink;
    let scene = Scene::new();
    for (index, name) in NAMES.into_iter().enumerate() {
        scene.put(&format!("{name}/config"), "x");
        let (file, folder, chain) = (format!("file{index}"), format!("folder{index}"), format!("chain{index}"));
        std::fs::create_dir_all(scene.inside("deep")).unwrap();
        symlink(format!("{name}/config"), scene.inside(&file)).unwrap();
        symlink(format!("../{name}"), scene.inside("deep").join(&folder)).unwrap();
        symlink(format!("deep/{folder}/config"), scene.inside(&chain)).unwrap();
        for path in [file.clone(), format!("deep/{folder}/config"), format!("deep/{folder}/new"), chain] {
            for (function, answer) in scene.call_all(&path) {
                if function == "delete" && !path.contains('/') {
                    continue;
                }
                assert_eq!(reason(answer), ("call.denied", "protected".into()), "{function} {path} to {name}");
            }
        }
        assert_eq!(reason(scene.call("list", json!({ "path": format!("deep/{folder}") }))).1, "protected");
        assert_eq!(names_of(&scene.inside(name)), ["config"]);
        assert_eq!(std::fs::read_to_string(scene.inside(name).join("config")).unwrap(), "x");
    }
}

#[test]
fn a_folder_with_a_protected_name_is_not_deleted_even_in_part() {
    for name in NAMES {
        let scene = Scene::new();
        scene.put("tree/a", "x");
        scene.put("tree/b/c/x", "x");
        scene.put(&format!("tree/b/d/{name}"), "x");
        scene.put("tree/z", "x");
        let answer = scene.call("delete", json!({ "path": "tree", "options": { "recursive": true } }));
        assert_eq!(reason(answer), ("call.denied", "protected".into()), "{name}");
        for path in ["tree/a", "tree/b/c/x", "tree/z"] {
            assert!(scene.inside(path).exists(), "{name} {path}");
        }
        assert!(scene.inside("tree/b/d").join(name).exists());
    }
}

#[test]
fn leftover_temporary_and_file_manager_files_are_deleted_with_their_folder() {
    let scene = Scene::new();
    scene.put("tree/.agent-spaces-write-0123456789abcdef", "half");
    scene.put("tree/below/.DS_Store", "of a file manager");
    scene.call("delete", json!({ "path": "tree", "options": { "recursive": true } })).unwrap();
    assert!(!scene.inside("tree").exists());
}
