//! Mapping of other programs' servers to entries of our configuration, with unique names.

use super::{Source, SourceScope};
use agent_spaces::config::{McpServer, from_value};
use agent_spaces::project::is_ourselves;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum length of a server name in our configuration.
const NAME_BYTES: usize = 64;

/// Server of one source.
pub(in crate::commands) struct Entry {
    /// Index of its source.
    pub(in crate::commands) source: usize,
    /// Name, valid in our configuration.
    pub(in crate::commands) name: String,
    /// JSON path in the file: the keys of its object, and its name. Empty if it is in a list.
    pub(in crate::commands) keys: Vec<String>,
    /// Settings as our configuration parses them.
    pub(in crate::commands) server: McpServer,
    /// JSON of its entry in our configuration, secrets included.
    pub(in crate::commands) ours: Map<String, Value>,
    pub(in crate::commands) state: State,
}

/// Result of the mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) enum State {
    /// Added to our configuration under this name.
    New(String),
    /// Present in our configuration under this name, or added from another source.
    Known(String),
    /// Disabled.
    Off,
    /// Starts this program.
    Ourselves,
    /// Can be started only by the program of its file, for this reason.
    Unsupported(String),
    /// From a file of the folder that the user has not accepted.
    OfFolder,
}

impl Entry {
    /// Returns its name in our configuration, if it is present or added.
    pub(in crate::commands) fn our_name(&self) -> Option<&str> {
        match &self.state {
            State::New(name) | State::Known(name) => Some(name),
            State::Off | State::Ourselves | State::Unsupported(_) | State::OfFolder => None,
        }
    }
}

/// Returns true if two servers are equal apart from their location.
fn same_server(one: &McpServer, other: &McpServer) -> bool {
    McpServer { file: other.file.clone(), place: other.place.clone(), ..one.clone() } == *other
}

/// Maps every server of the sources. `present` are the servers of our configuration, whose folder is `target`. Servers
/// of a folder's file are added only if `is_accepted` returns true.
pub(in crate::commands) fn merge(
    sources: &[Source],
    present: &BTreeMap<String, McpServer>,
    target: &Path,
    is_accepted: impl Fn(&Source) -> bool,
) -> Vec<Entry> {
    let mut known = present.clone();
    let mut entries = Vec::new();
    for (source, at) in sources.iter().zip(0..) {
        let Ok(found) = &source.found else { continue };
        for (name, server) in &found.servers {
            let Some(written) = found.written.get(name) else { continue };
            let ours = match &source.folder {
                Some(folder) => moved(written.expose(), folder, target),
                None => written.expose(),
            };
            let keys = match written.keys.is_empty() {
                true => Vec::new(),
                false => written.keys.iter().chain([&written.given]).cloned().collect(),
            };
            let (server, state) = match (&server.unsupported, reread(name, &ours)) {
                _ if is_ourselves(server) => (server.clone(), State::Ourselves),
                _ if !server.enabled => (server.clone(), State::Off),
                (Some(reason), _) => (server.clone(), State::Unsupported(reason.clone())),
                (None, Err(reason)) => (server.clone(), State::Unsupported(reason)),
                (None, Ok(own)) if source.scope == SourceScope::Folder && !is_accepted(source) => {
                    (own, State::OfFolder)
                }
                (None, Ok(own)) => {
                    let state = placed(name, source.suffix, &own, &mut known);
                    (own, state)
                }
            };
            entries.push(Entry { source: at, name: name.clone(), keys, server, ours, state });
        }
    }
    entries
}

/// Finds the name of a server that is present, or picks an unused one.
fn placed(name: &str, suffix: &str, server: &McpServer, known: &mut BTreeMap<String, McpServer>) -> State {
    if let Some((same, _)) = known.iter().find(|(_, other)| same_server(server, other)) {
        return State::Known(same.clone());
    }
    let with = |end: String| {
        let room = NAME_BYTES.saturating_sub(end.len());
        format!("{}{end}", name.get(..room).unwrap_or(name))
    };
    let names = [name.to_owned(), with(format!("-{suffix}"))].into_iter();
    let mut names = names.chain((2..).map(|number: u64| with(format!("-{suffix}-{number}"))));
    let free = names.find(|name| !known.contains_key(name)).unwrap_or_else(|| name.to_owned());
    known.insert(free.clone(), server.clone());
    State::New(free)
}

/// Parses an entry as our configuration will.
fn reread(name: &str, ours: &Map<String, Value>) -> Result<McpServer, String> {
    let mut config = from_value("ours", json!({ "mcpServers": { name: ours } })).map_err(|error| error.message)?;
    config.mcp_servers.remove(name).ok_or_else(|| "not found after parsing".to_owned())
}

/// Makes relative paths of a server absolute, unless its folder is that of our configuration.
fn moved(mut ours: Map<String, Value>, folder: &Path, target: &Path) -> Map<String, Value> {
    let is_local = ours.contains_key("command");
    if !is_local || folder.canonicalize().is_ok_and(|folder| target.canonicalize().is_ok_and(|it| it == folder)) {
        return ours;
    }
    let absolute = |path: &str| Value::from(folder.join(path.strip_prefix("./").unwrap_or(path)).display().to_string());
    let program = match ours.get_mut("command") {
        Some(Value::Array(words)) => words.first_mut(),
        program => program,
    };
    if let Some(program) = program
        && let Some(path) = program.as_str().filter(|path| path.starts_with("./") || path.starts_with("../"))
    {
        *program = absolute(path);
    }
    let cwd = match ours.get("cwd").and_then(Value::as_str) {
        // Expanded when the server starts.
        Some(cwd) if cwd.starts_with("${") || cwd.starts_with("~/") => cwd.into(),
        Some(cwd) => absolute(cwd),
        None => folder.display().to_string().into(),
    };
    ours.insert("cwd".to_owned(), cwd);
    ours
}

#[cfg(test)]
mod tests {
    use crate::commands::foreign_configs::merge::{State, merge};
    use crate::commands::foreign_configs::{Source, SourceScope};
    use agent_spaces::config::{foreign, from_value};
    use serde_json::{Value, json};
    use std::path::{Path, PathBuf};

    fn source(suffix: &'static str, scope: SourceScope, servers: Value) -> Source {
        let text = json!({ "mcpServers": servers }).to_string();
        let folder = (scope == SourceScope::Folder).then(|| PathBuf::from("/home/me/project"));
        let found = foreign::read("f", &text).map_err(|error| error.to_string());
        Source { file: "f".into(), program: "a program", suffix, scope, folder, text, found }
    }

    fn states(sources: &[Source], present: Value, is_accepted: bool) -> Vec<(String, State)> {
        let present = from_value("f", json!({ "mcpServers": present })).unwrap().mcp_servers;
        let entries = merge(sources, &present, Path::new("/ours"), |_| is_accepted);
        entries.into_iter().map(|entry| (entry.name, entry.state)).collect()
    }

    #[test]
    fn equal_servers_are_merged_and_name_conflicts_get_a_suffix() {
        let sources = [
            source("claude-code", SourceScope::User, json!({ "github": { "command": "a" }, "b": { "command": "b" } })),
            source("cursor", SourceScope::User, json!({ "github": { "type": "stdio", "command": "a", "args": [] } })),
            source("vscode", SourceScope::User, json!({ "github": { "command": "other" }, "hub": { "command": "a" } })),
        ];
        let new = |name: &str| State::New(name.into());
        let known = |name: &str| State::Known(name.into());
        let as_now = |name: &str, state| (name.to_owned(), state);
        assert_eq!(
            states(&sources, json!({}), true),
            [
                as_now("b", new("b")),
                as_now("github", new("github")),
                as_now("github", known("github")),
                as_now("github", new("github-vscode")),
                as_now("hub", known("github")),
            ]
        );
        let present = json!({ "github": { "command": "a" }, "github-vscode": { "command": "other" } });
        let again = states(&sources, present, true);
        assert_eq!(
            again[1..4].iter().map(|(_, state)| state.clone()).collect::<Vec<_>>(),
            [known("github"), known("github"), known("github-vscode")]
        );
        let taken = json!({ "github": { "command": "x" }, "github-vscode": { "command": "y" } });
        assert_eq!(states(&sources[2..], taken, true)[0].1, new("github-vscode-2"));
    }

    #[test]
    fn disabled_unsupported_and_unaccepted_servers_are_not_added() {
        let servers = json!({
            "off": { "command": "a", "disabled": true }, "asks": { "command": "a", "args": ["${input:key}"] },
            "agent-spaces": { "command": "/bin/agent-spaces", "args": ["mcp", "serve"] }, "plain": { "command": "a" },
        });
        let found = states(&[source("project", SourceScope::Folder, servers)], json!({}), false);
        let state = |name: &str| &found.iter().find(|(known, _)| known == name).unwrap().1;
        assert_eq!(
            [state("off"), state("agent-spaces"), state("plain")],
            [&State::Off, &State::Ourselves, &State::OfFolder]
        );
        assert!(matches!(state("asks"), State::Unsupported(reason) if reason.contains("input:key")));
    }

    #[test]
    fn relative_paths_become_absolute() {
        let servers = json!({
            "own": { "command": "./bin/server", "cwd": "./data" }, "plain": { "command": "npx", "args": ["./x"] },
            "far": { "url": "https://example.com/mcp" },
        });
        let sources = [source("project", SourceScope::Folder, servers)];
        let entries = merge(&sources, &Default::default(), Path::new("/ours"), |_| true);
        let ours = |name: &str| Value::Object(entries.iter().find(|entry| entry.name == name).unwrap().ours.clone());
        assert_eq!(ours("own"), json!({ "command": "/home/me/project/bin/server", "cwd": "/home/me/project/data" }));
        assert_eq!(ours("plain"), json!({ "command": "npx", "args": ["./x"], "cwd": "/home/me/project" }));
        assert_eq!(ours("far"), json!({ "url": "https://example.com/mcp" }));
    }

    #[test]
    fn a_suffixed_name_is_at_most_64_bytes() {
        let (long, ours) = ("x".repeat(64), json!({ "x".repeat(64): { "command": "a" } }));
        let sources = [source("claude-desktop", SourceScope::User, json!({ long.as_str(): { "command": "b" } }))];
        let State::New(name) = states(&sources, ours, true).remove(0).1 else { panic!("it is new") };
        assert!(name.len() == 64 && name.ends_with("-claude-desktop"), "{name}");
    }
}
