//! Crate graph: which of our crates may depend on which, and how small an edge host is.
//!
//! Crates are named by their folders: `host/policy` is `policy`. `ARCHITECTURE.md` draws the same graph. A failure prints
//! it as the manifests have it.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Crates by layer, lowest first. A crate depends only on lower layers, so there is no cycle.
const LAYERS: [&[&str]; 13] = [
    &["aot", "confine", "engine", "private-fs", "script-bounds", "search", "types"],
    &["audit-log", "capability-gen", "http-server", "journal", "protected-paths", "script", "secrets", "telemetry"],
    &["calls", "console", "journal-postgres", "models", "policy", "process"],
    &["approvals", "config", "mcp", "sandbox", "stdlib"],
    &["linker", "pipeline"],
    &["space"],
    &["durable", "hostile-guest", "providers"],
    &["project"],
    &["serve"],
    &["agent", "rest"],
    &["surfaces"],
    &["agent-spaces"],
    &["cli"],
];

/// Crates that `sandbox` must not reach: an edge host runs precompiled programs and brings its own call path.
const NOT_BELOW_SANDBOX: [&str; 7] = ["audit-log", "capability-gen", "linker", "mcp", "pipeline", "policy", "script"];

/// Dependencies that only some crates have. Tests of `cli` may have all of them.
const RESERVED: [(&str, &[&str]); 7] = [
    ("clap", &["cli"]),
    ("rmcp", &["agent", "mcp", "serve", "surfaces"]),
    ("hyper", &["console", "http-server", "mcp", "rest", "serve", "surfaces"]),
    ("opentelemetry", &["telemetry"]),
    ("opentelemetry_sdk", &["telemetry"]),
    ("prometheus-client", &["telemetry"]),
    ("tokio-postgres", &["journal-postgres"]),
];

/// Most crates of an edge host, ours included. It has 119.
const MAX_EDGE_CRATES: usize = 122;

/// Dependencies that an edge host must not have.
const NOT_IN_EDGE: [&str; 7] = ["clap", "hyper", "opentelemetry", "oxc_parser", "prometheus-client", "reqwest", "rmcp"];

/// Direct dependencies of one crate.
#[derive(Default)]
struct Dependencies {
    /// Our crates, by folder.
    ours: BTreeSet<String>,
    /// All others, and whether only tests need them.
    others: Vec<(String, bool)>,
}

type Graph = BTreeMap<String, Dependencies>;

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(ROOT).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {} failed: {errors}", arguments.join(" "));
    String::from_utf8(output.stdout).unwrap()
}

/// Reads the manifests of the crates below `host/` and of `capability-gen`.
fn graph() -> Graph {
    let metadata = cargo(&["metadata", "--offline", "--locked", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let root = Path::new(metadata["workspace_root"].as_str().unwrap());
    let folder = |package: &Value| {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let folder = manifest.parent().unwrap().strip_prefix(root).unwrap();
        let is_ours = folder == Path::new("capability-gen") || folder.parent() == Some(Path::new("host"));
        is_ours.then(|| folder.file_name().unwrap().to_str().unwrap().to_owned())
    };
    let packages = metadata["packages"].as_array().unwrap();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let folders: BTreeMap<String, String> =
        packages.iter().filter_map(|package| Some((name(package), folder(package)?))).collect();
    let mut graph = Graph::new();
    for package in packages {
        let Some(folder) = folders.get(&name(package)) else { continue };
        let dependencies = graph.entry(folder.clone()).or_default();
        for dependency in package["dependencies"].as_array().unwrap() {
            if let Some(ours) = folders.get(&name(dependency)) {
                dependencies.ours.insert(ours.clone());
            } else {
                dependencies.others.push((name(dependency), dependency["kind"] == "dev"));
            }
        }
    }
    graph
}

/// One line a crate.
fn printed(graph: &Graph) -> String {
    let line = |(name, dependencies): (&String, &Dependencies)| {
        let ours: Vec<&str> = dependencies.ours.iter().map(String::as_str).collect();
        format!("{name} <- {}\n", ours.join(", "))
    };
    graph.iter().map(line).collect()
}

/// Everything that can be reached from a crate, by the direct dependencies of each.
fn reachable(from: &str, direct: impl Fn(&str) -> BTreeSet<String>) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = direct(from);
    while let Some(name) = open.pop_first() {
        if reached.insert(name.clone()) {
            open.extend(direct(&name));
        }
    }
    reached
}

/// The crates that `ARCHITECTURE.md` draws, with the dependencies that it draws: in the first code block of its section
/// `Crates`, a line has a name, a description and, after `<-`, dependencies.
fn drawn() -> BTreeMap<String, BTreeSet<String>> {
    let page = std::fs::read_to_string(Path::new(ROOT).join("ARCHITECTURE.md")).unwrap();
    let (_, section) = page.split_once("\n## Crates\n").expect("ARCHITECTURE.md has no section `Crates`");
    let block = section.split("```").nth(1).expect("the section `Crates` has no code block");
    let lines = block.lines().skip(1).filter(|line| !line.trim().is_empty());
    let read = |line: &str| {
        let (words, uses) = line.split_once(" <- ").unwrap_or((line, ""));
        let name = words.split_whitespace().next().unwrap().to_owned();
        let uses: BTreeSet<String> =
            uses.split(',').map(|used| used.trim().to_owned()).filter(|used| !used.is_empty()).collect();
        (name, uses)
    };
    lines.map(read).collect()
}

#[test]
fn crates_depend_only_on_lower_layers() {
    let graph = graph();
    let layers: BTreeMap<&str, usize> =
        LAYERS.iter().enumerate().flat_map(|(layer, names)| names.iter().map(move |name| (*name, layer))).collect();
    let (names, expected): (Vec<&str>, Vec<&str>) =
        (graph.keys().map(String::as_str).collect(), layers.keys().copied().collect());
    assert_eq!(names, expected, "give every crate a layer in LAYERS\n{}", printed(&graph));
    for (name, dependencies) in &graph {
        for used in &dependencies.ours {
            let (layer, below) = (layers[name.as_str()], layers[used.as_str()]);
            assert!(below < layer, "`{name}` of layer {layer} uses `{used}` of layer {below}\n{}", printed(&graph));
        }
    }
}

#[test]
fn every_crate_folder_is_a_workspace_member() {
    let graph = graph();
    let mut crates = 0;
    for entry in std::fs::read_dir(Path::new(ROOT).join("host")).unwrap() {
        let folder = entry.unwrap();
        let name = folder.file_name().into_string().unwrap();
        let is_crate = folder.path().join("Cargo.toml").exists();
        assert!(!is_crate || graph.contains_key(&name), "host/{name} is not a workspace member\n{}", printed(&graph));
        crates += usize::from(is_crate);
    }
    assert_eq!(crates + 1, graph.len(), "all but `capability-gen` are in host/\n{}", printed(&graph));
}

#[test]
fn the_sandbox_does_not_reach_policies_parsers_or_servers() {
    let graph = graph();
    let reached = reachable("sandbox", |name| graph[name].ours.clone());
    for name in NOT_BELOW_SANDBOX {
        assert!(graph.contains_key(name), "there is no crate `{name}`");
        assert!(!reached.contains(name), "`sandbox` reaches `{name}`\n{}", printed(&graph));
    }
    assert!(graph["types"].ours.is_empty(), "`types` uses a crate of ours\n{}", printed(&graph));
}

#[test]
fn command_line_and_server_libraries_stay_in_their_crates() {
    for (name, dependencies) in &graph() {
        for (used, is_dev) in &dependencies.others {
            let reserved = RESERVED.iter().find(|(library, _)| used == library);
            let is_allowed = reserved.is_none_or(|(_, users)| users.contains(&name.as_str()));
            assert!(is_allowed || (*is_dev && name == "cli"), "`{name}` depends on {used}: see RESERVED");
        }
    }
}

#[test]
fn the_architecture_page_draws_the_crate_graph() {
    let (graph, drawn) = (graph(), drawn());
    let (names, expected): (Vec<&String>, Vec<&String>) = (drawn.keys().collect(), graph.keys().collect());
    assert_eq!(names, expected, "ARCHITECTURE.md draws other crates than there are\n{}", printed(&graph));
    for (name, dependencies) in &graph {
        let reached = reachable(name, |name| drawn.get(name).cloned().unwrap_or_default());
        let missing: Vec<&String> = dependencies.ours.difference(&reached).collect();
        assert!(missing.is_empty(), "ARCHITECTURE.md: `{name}` lacks {missing:?}\n{}", printed(&graph));
    }
}

#[test]
fn an_edge_host_has_few_crates() {
    let tree =
        ["tree", "--offline", "--locked", "-e", "normal,build", "--prefix", "none", "-p", "agent-spaces-sandbox"];
    let tree = cargo(&tree);
    // `name version (*)` is a crate that was listed before.
    let crates: BTreeSet<&str> =
        tree.lines().map(|line| line.trim_end_matches(" (*)")).filter(|line| !line.is_empty()).collect();
    assert!(crates.iter().any(|line| line.starts_with("wasmtime ")), "not the tree of an edge host:\n{tree}");
    assert!(crates.len() <= MAX_EDGE_CRATES, "{} crates:\n{tree}", crates.len());
    for name in crates.iter().filter_map(|line| line.split(' ').next()) {
        assert!(!NOT_IN_EDGE.contains(&name), "an edge host has {name}:\n{tree}");
    }
}

#[test]
fn the_library_without_its_features_has_no_mcp_client() {
    // Feature flags are those of the package of the manifest.
    let tree = |features: &[&str]| {
        let manifest = ["--manifest-path", "host/agent-spaces/Cargo.toml"];
        let tree = ["tree", "--offline", "--locked", "-e", "normal,build", "--prefix", "none"];
        cargo(&[&tree[..], &manifest[..], features].concat())
    };
    let (whole, small) = (tree(&[]), tree(&["--no-default-features"]));
    for name in ["agent-spaces-mcp", "agent-spaces-project", "agent-spaces-serve", "rmcp"] {
        let has = |tree: &str| tree.lines().any(|line| line.split(' ').next() == Some(name));
        assert!(has(&whole), "the library does not have {name}:\n{whole}");
        assert!(!has(&small), "the library without features has {name}:\n{small}");
    }
}
