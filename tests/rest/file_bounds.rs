//! Paths and sizes of files that are refused.

use crate::rest::client::{Answer, Api};
use crate::rest::server::{RestServer, config};
use serde_json::json;

/// Sends each method to a path of the files of a space.
fn attempts(api: &Api, path: &str) -> [Answer; 4] {
    [
        api.get(path),
        api.put(path, b"stolen"),
        api.delete(path),
        api.send("PUT", path, &[("if-none-match", "*")], b"stolen"),
    ]
}

#[test]
fn paths_outside_the_workspace_are_refused() {
    let served = RestServer::new();
    let api = served.operator();
    let (space, other) = (api.new_space(), api.new_space());
    api.put(&format!("/v1/spaces/{other}/files/own.txt"), b"own").with_status(201);
    let project = served.home.project("outside.txt");
    std::fs::write(&project, "outside").unwrap();
    let absolute = project.display().to_string();
    let neighbour = format!("..%2f{other}%2fown.txt");
    for path in [
        "../outside.txt",
        "..%2foutside.txt",
        "..%2Foutside.txt",
        "%2e%2e/outside.txt",
        "%2e%2e%2foutside.txt",
        "a/../../outside.txt",
        "a/%2e%2e/%2e%2e/outside.txt",
        "..",
        "%2e%2e",
        "..%5coutside.txt",
        "a%00b",
        "own.txt%00.png",
        "a%0ab",
        "a%0d%0ab",
        absolute.as_str(),
        &absolute.replace('/', "%2f"),
        &format!("../{other}/own.txt"),
        &neighbour,
        "C:%5cx",
        &"n".repeat(300),
        &"a/".repeat(200),
        "%ff",
        "a%ffb",
        "%C0%AE%C0%AE/x",
    ] {
        for answer in attempts(&api, &format!("/v1/spaces/{space}/files/{path}")) {
            assert!(matches!(answer.status, 400 | 403 | 404), "{path}: {answer:?}");
            answer.some_problem();
        }
    }
    assert_eq!(std::fs::read_to_string(project).unwrap(), "outside");
    assert_eq!(api.get(&format!("/v1/spaces/{other}/files/own.txt")).body, b"own");
    let listed = api.get(&format!("/v1/spaces/{space}/files")).json();
    assert_eq!(listed["items"], json!([]), "nothing was written");
}

/// A program cannot lead requests out of the workspace either.
#[test]
fn links_are_not_followed() {
    let served = RestServer::new();
    let api = served.operator();
    let space = api.new_space();
    api.put(&format!("/v1/spaces/{space}/files/a.txt"), b"a").with_status(201);
    let folder = served.workspaces().into_iter().find(|folder| folder.ends_with(&space)).unwrap();
    let outside = served.home.project("outside.txt");
    std::fs::write(&outside, "outside").unwrap();
    std::os::unix::fs::symlink(&outside, folder.join("link.txt")).unwrap();
    std::os::unix::fs::symlink(served.home.project(""), folder.join("folder")).unwrap();
    for path in ["link.txt", "folder/outside.txt"] {
        let answers = attempts(&api, &format!("/v1/spaces/{space}/files/{path}"));
        assert_ne!(answers[0].body, b"outside", "{path}");
        assert!(matches!(answers[0].status, 403 | 404), "{:?}", answers[0]);
    }
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "outside");
    assert!(!served.home.project("new.txt").exists());
}

#[test]
fn protected_names_are_refused() {
    let served = RestServer::new();
    let api = served.operator();
    let space = api.new_space();
    for name in [
        "agent-spaces.config.json",
        "Agent-Spaces.Config.JSON",
        "capabilities.lock",
        ".mcp.json",
        ".git/config",
        "sub/.git/hooks/pre-commit",
        ".env",
        "sub/.npmrc",
        "%2eenv",
        "%EF%BC%8Eenv",
        "keys/id_ed25519",
        ".agent-spaces/std.d.ts",
    ] {
        for answer in attempts(&api, &format!("/v1/spaces/{space}/files/{name}")) {
            answer.problem(403, "file.denied");
        }
    }
}

#[test]
fn a_file_has_at_most_eight_mebibytes() {
    let served = RestServer::new();
    let api = served.operator();
    let path = format!("/v1/spaces/{}/files/large.bin", api.new_space());
    let mut bytes = vec![b'x'; 8 << 20];
    api.put(&path, &bytes).with_status(201);
    assert_eq!(api.get(&path).with_status(200).body.len(), bytes.len());
    bytes.push(b'x');
    api.put(&path, &bytes).problem(413, "request.too_large");
    assert_eq!(api.get(&path).with_status(200).body.len(), 8 << 20, "what is refused changes nothing");
}

#[test]
fn the_policy_bounds_files_and_workspaces() {
    let mut config = config();
    config["policy"] = json!({ "fs": { "maxFileBytes": 1_000, "maxTotalBytes": 2_500 } });
    let served = RestServer::configured(&config);
    let api = served.operator();
    let (one, two) = (api.new_space(), api.new_space());
    let put =
        |space: &str, name: &str, size: usize| api.put(&format!("/v1/spaces/{space}/files/{name}"), &vec![b'x'; size]);
    put(&one, "a", 1_000).with_status(201);
    let large = put(&one, "b", 1_001);
    assert!(matches!(large.status, 403 | 413), "{large:?}");
    large.some_problem();
    put(&one, "b", 1_000).with_status(201);
    let full = put(&one, "c", 501);
    assert!(matches!(full.status, 403 | 413), "{full:?}");
    full.some_problem();
    put(&one, "c", 500).with_status(201);
    put(&two, "a", 1_000).with_status(201);
    api.delete(&format!("/v1/spaces/{one}/files/a")).with_status(204);
    put(&one, "d", 1_000).with_status(201);
    let source = "import { fs } from '@agent-spaces/std';
        export default await fs.writeFile('e', 'x').then(() => 'written', (error) => error.code);";
    assert_eq!(api.run(&one, source)["value"], "call.denied", "requests and programs share the quota");
}
