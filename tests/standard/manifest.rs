//! `agent-spaces manifest`: a script's access, before it runs.

use crate::standard::support::Project;
use serde_json::{Value, json};
use std::fs;

const TOOL: &str = r#"{
  "name": "crm",
  "description": "Customers",
  "functions": {
    "list": { "description": "Lists them", "parameters": { "type": "object", "properties": {} } },
    "remove": { "description": "Removes all", "parameters": { "type": "object", "properties": {} } }
  }
}"#;

const SCRIPT: &str = "import { fs, json } from '@agent-spaces/std';
import { tidy } from './tidy.ts';

const text = await fs.readFile('a');
json.parse(text);
await fs.writeFile('b', text);
await fs.readFile('c');
await tidy();
";

const TIDY: &str = "import { fs as files } from '@agent-spaces/std';
export const tidy = () => files.delete('a');
";

fn project() -> Project {
    let policy = json!({
        "preset": "standard", "http": { "domains": ["api.example", "*.acme.example"] },
        "functions": { "fs.delete": "deny", "fs.write*": "approve" },
    });
    let project = Project::new(json!({ "spaces": {
            "work": { "workspace": "./files", "policy": policy }, "small": { "policy": "restrictive" },
        } }));
    project.write("script.ts", SCRIPT);
    project.write("tidy.ts", TIDY);
    project
}

fn manifest(project: &Project, arguments: &[&str]) -> Value {
    let done = project.agent_spaces(&[&["manifest", "script.ts", "--json"], arguments].concat());
    assert_eq!(done.status, Some(0), "{done:?}");
    done.json()
}

/// The functions of an interface, by name.
fn functions<'a>(manifest: &'a Value, interface: &str) -> Vec<(&'a str, &'a str, &'a str, Vec<String>)> {
    let interfaces = manifest["interfaces"].as_array().unwrap();
    let found = interfaces.iter().find(|each| each["interface"] == interface).unwrap_or_else(|| panic!("{manifest}"));
    let place = |place: &Value| format!("{}:{}", place["file"].as_str().unwrap(), place["line"]);
    let text = |value: &'a Value| value.as_str().unwrap();
    found["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| {
            let places = each["namedAt"].as_array().unwrap().iter().map(place).collect();
            (text(&each["function"]), text(&each["decision"]), text(&each["because"]), places)
        })
        .collect()
}

#[test]
fn the_manifest_lists_functions_with_decisions_and_locations() {
    let project = project();
    let manifest = manifest(&project, &["--space", "work"]);
    assert_eq!(manifest["script"], "script.ts");
    let names: Vec<&Value> =
        manifest["interfaces"].as_array().unwrap().iter().map(|interface| &interface["interface"]).collect();
    assert_eq!(names, ["agent-spaces:std/fs@1.0.0", "agent-spaces:std/json@1.0.0"], "and nothing else");
    let preset = "the preset `standard`";
    let rule = |name: &str| format!("$.spaces.work.policy.functions[\"{name}\"]");
    let (denying, asking) = (rule("fs.delete"), rule("fs.write*"));
    let at = |places: &[&str]| places.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        functions(&manifest, "agent-spaces:std/fs@1.0.0"),
        [
            ("fs.readFile", "allow", preset, at(&["script.ts:4", "script.ts:7"])),
            ("fs.readBytes", "allow", preset, at(&[])),
            ("fs.writeFile", "approve", asking.as_str(), at(&["script.ts:6"])),
            ("fs.writeBytes", "approve", asking.as_str(), at(&[])),
            ("fs.appendFile", "allow", preset, at(&[])),
            ("fs.list", "allow", preset, at(&[])),
            ("fs.stat", "allow", preset, at(&[])),
            ("fs.exists", "allow", preset, at(&[])),
            ("fs.delete", "deny", denying.as_str(), at(&["tidy.ts:2"])),
            ("fs.mkdir", "allow", preset, at(&[])),
            ("fs.glob", "allow", preset, at(&[])),
        ]
    );
    let workspace = project.path("files").canonicalize().unwrap();
    let files = json!({
        "workspace": workspace, "read": true, "write": true, "maxFileBytes": 10_000_000, "maxTotalBytes": 100_000_000,
    });
    assert_eq!(manifest["files"], files);
    assert_eq!(
        manifest["limits"],
        json!({ "timeMs": 30_000, "memoryBytes": 64 << 20, "calls": 500, "fuel": 10_000_000_000_u64 })
    );
    assert_eq!(manifest.get("network"), None, "it imports no http");
}

#[test]
fn the_manifest_lists_network_access_if_usable() {
    let project = project();
    let network = json!({ "enabled": true, "domains": ["api.example", "*.acme.example"], "methods": ["GET", "HEAD"] });
    for script in [
        "import { http } from '@agent-spaces/std'; await http.get('http://api.example');",
        "await fetch('http://api.example');",
    ] {
        project.write("script.ts", script);
        assert_eq!(manifest(&project, &["--space", "work"])["network"], network, "{script}");
    }
    project.write("script.ts", "export default 1;");
    let nothing = manifest(&project, &["--space", "work"]);
    assert_eq!((&nothing["interfaces"], nothing.get("network"), nothing.get("files")), (&json!([]), None, None));
    project.write("script.ts", SCRIPT);
    let small = manifest(&project, &["--space", "small"]);
    assert_eq!(small["limits"]["timeMs"], 5000);
    assert_eq!((&small["limits"]["memoryBytes"], &small["limits"]["calls"]), (&json!(32 << 20), &json!(50)));
    assert_eq!((&small["files"]["workspace"], &small["files"]["write"]), (&Value::Null, &json!(false)));
}

#[test]
fn text_output_has_the_same_contents() {
    let project = project();
    let shown = project.agent_spaces(&["manifest", "script.ts", "--space", "work"]).stdout;
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = shown.lines().map(words).collect();
    let folder = project.path("files").canonicalize().unwrap();
    let files = format!("files: reads and writes {}, at most 9.5M each and 95.4M in all", folder.display());
    for line in [
        "script.ts can reach",
        "agent-spaces:std/fs@1.0.0",
        "fs.readFile allowed at script.ts:4, script.ts:7",
        "fs.writeFile asks for approval at script.ts:6",
        "fs.delete denied at tidy.ts:2",
        &files,
        "limits: 30s, 64.0M, 500 calls, 10000000000 units of fuel",
    ] {
        assert!(lines.iter().any(|each| each == line), "no {line:?} in\n{shown}");
    }
    project.write("script.ts", "fetch('http://api.example')");
    let shown = project.agent_spaces(&["manifest", "script.ts", "--space", "work"]).stdout;
    assert!(shown.contains("network: GET, HEAD of api.example, *.acme.example\n"), "{shown}");
}

/// The server of this project leaves a file when it is started, and the script one when it runs.
#[test]
fn a_manifest_starts_nothing() {
    let project = Project::empty();
    let tool = json!({ "name": "look", "description": "Looks", "inputSchema": { "type": "object", "properties": {} } });
    project.write("tools.json", json!({ "tools": [tool] }).to_string());
    let server = json!({ "command": "sh", "args": ["-c", "touch started"], "tools": "./tools.json" });
    let spaces = json!({ "work": { "capabilities": ["mcp:watch"], "workspace": "./files" } });
    project.configure(json!({ "mcpServers": { "watch": server }, "spaces": spaces }));
    project.trust();
    let source = "import { watch } from '@capabilities/mcp-watch'; import { fs } from '@agent-spaces/std';
        await fs.writeFile('written', ''); export default await watch.look({});";
    project.write("script.ts", source);
    let found = manifest(&project, &["--space", "work"]);
    let text = found.to_string();
    assert!(text.contains("watch.look") && text.contains("fs.writeFile"), "{text}");
    let log = project.home("state/agent-spaces/audit/log.jsonl");
    assert!(!project.path("started").exists() && !project.path("files/written").exists() && !log.exists());
    // A run leaves all three.
    project.run(source);
    assert!(project.path("started").exists() && project.path("files/written").exists() && log.exists());
}

#[test]
fn an_invalid_script_gives_its_error() {
    let project = Project::new(
        json!({ "capabilities": { "registry": { "@crm/tools": "./crm.json" } }, "spaces": { "work": {} } }),
    );
    project.write("crm.json", TOOL);
    for (source, code, status) in [
        ("import { crm } from '@crm/tools'; await crm.list({});", "import.denied", 4),
        ("import { x } from '@capabilities/none'; x();", "import.unknown", 1),
        ("const = 1", "script.syntax", 1),
    ] {
        project.write("script.ts", source);
        let done = project.agent_spaces(&["manifest", "script.ts", "--space", "work", "--json"]);
        assert_eq!((done.error().0.as_str(), done.status), (code, Some(status)), "{source}: {done:?}");
    }
    fs::remove_file(project.path("script.ts")).unwrap();
    assert_eq!(project.agent_spaces(&["manifest", "script.ts"]).status, Some(2));
}
