//! What our own configuration would have of other programs' servers, under which names.

use super::{Reach, Source};
use agent_spaces::config::{McpServer, from_value};
use agent_spaces::project::is_ourselves;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Longest name of a server in our configuration.
const NAME_BYTES: usize = 64;

/// One server of one file.
pub(in crate::commands) struct Entry {
    /// Which of the sources it stands in.
    pub(in crate::commands) source: usize,
    /// Its name, as one of ours.
    pub(in crate::commands) name: String,
    /// Where it stands there: the keys to its object, and its name. Nothing where it stands in a list.
    pub(in crate::commands) keys: Vec<String>,
    /// As our configuration reads it.
    pub(in crate::commands) server: McpServer,
    /// As our configuration has it, secrets and all.
    pub(in crate::commands) ours: Map<String, Value>,
    pub(in crate::commands) state: State,
}

/// What becomes of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) enum State {
    /// It is added to our configuration under this name.
    New(String),
    /// Our configuration has it under this name, or gets it from another file.
    Known(String),
    /// It is switched off.
    Off,
    /// It is this program.
    Ourselves,
    /// Only the program that the file belongs to can start it.
    Unsupported(String),
    /// It came with the folder, and its user has not accepted that.
    OfFolder,
}

impl Entry {
    /// Its name in our configuration, if it is or comes there.
    pub(in crate::commands) fn our_name(&self) -> Option<&str> {
        match &self.state {
            State::New(name) | State::Known(name) => Some(name),
            State::Off | State::Ourselves | State::Unsupported(_) | State::OfFolder => None,
        }
    }
}

/// Whether two servers are one, wherever they stand.
fn same_server(one: &McpServer, other: &McpServer) -> bool {
    McpServer { file: other.file.clone(), place: other.place.clone(), ..one.clone() } == *other
}

/// What becomes of every server of these files. `present` is in our configuration, whose folder is `target`;
/// `is_accepted` says whether a file that came with a folder may be taken in.
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
                (None, Ok(own)) if source.reach == Reach::Folder && !is_accepted(source) => (own, State::OfFolder),
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

/// The name that a server has or gets.
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

/// A server as our configuration will read it.
fn reread(name: &str, ours: &Map<String, Value>) -> Result<McpServer, String> {
    let mut config = from_value("ours", json!({ "mcpServers": { name: ours } })).map_err(|error| error.message)?;
    config.mcp_servers.remove(name).ok_or_else(|| "it is lost".to_owned())
}

/// A server of one folder for a configuration in another: what is relative there would mean something else here.
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
        // Known when it is started, and not before.
        Some(cwd) if cwd.starts_with("${") || cwd.starts_with("~/") => cwd.into(),
        Some(cwd) => absolute(cwd),
        None => folder.display().to_string().into(),
    };
    ours.insert("cwd".to_owned(), cwd);
    ours
}

#[cfg(test)]
mod tests {
    use super::super::{Reach, Source};
    use super::{State, merge};
    use agent_spaces::config::{foreign, from_value};
    use serde_json::{Value, json};
    use std::path::{Path, PathBuf};

    fn source(suffix: &'static str, reach: Reach, servers: Value) -> Source {
        let text = json!({ "mcpServers": servers }).to_string();
        let folder = (reach == Reach::Folder).then(|| PathBuf::from("/home/me/project"));
        let found = foreign::read("f", &text).map_err(|error| error.to_string());
        Source { file: "f".into(), program: "a program", suffix, reach, folder, text, found }
    }

    fn states(sources: &[Source], present: Value, is_accepted: bool) -> Vec<(String, State)> {
        let present = from_value("f", json!({ "mcpServers": present })).unwrap().mcp_servers;
        let entries = merge(sources, &present, Path::new("/ours"), |_| is_accepted);
        entries.into_iter().map(|entry| (entry.name, entry.state)).collect()
    }

    #[test]
    fn equal_servers_are_one_and_others_of_the_same_name_get_another() {
        let sources = [
            source("claude-code", Reach::User, json!({ "github": { "command": "a" }, "b": { "command": "b" } })),
            source("cursor", Reach::User, json!({ "github": { "type": "stdio", "command": "a", "args": [] } })),
            source("vscode", Reach::User, json!({ "github": { "command": "other" }, "hub": { "command": "a" } })),
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
    fn what_cannot_or_must_not_be_taken_in_stays() {
        let servers = json!({
            "off": { "command": "a", "disabled": true }, "asks": { "command": "a", "args": ["${input:key}"] },
            "agent-spaces": { "command": "/bin/agent-spaces", "args": ["mcp", "serve"] }, "plain": { "command": "a" },
        });
        let found = states(&[source("project", Reach::Folder, servers)], json!({}), false);
        let state = |name: &str| &found.iter().find(|(known, _)| known == name).unwrap().1;
        assert_eq!(
            [state("off"), state("agent-spaces"), state("plain")],
            [&State::Off, &State::Ourselves, &State::OfFolder]
        );
        assert!(matches!(state("asks"), State::Unsupported(reason) if reason.contains("input:key")));
    }

    #[test]
    fn paths_of_a_folder_mean_the_same_elsewhere() {
        let servers = json!({
            "own": { "command": "./bin/server", "cwd": "./data" }, "plain": { "command": "npx", "args": ["./x"] },
            "far": { "url": "https://example.com/mcp" },
        });
        let sources = [source("project", Reach::Folder, servers)];
        let entries = merge(&sources, &Default::default(), Path::new("/ours"), |_| true);
        let ours = |name: &str| Value::Object(entries.iter().find(|entry| entry.name == name).unwrap().ours.clone());
        assert_eq!(ours("own"), json!({ "command": "/home/me/project/bin/server", "cwd": "/home/me/project/data" }));
        assert_eq!(ours("plain"), json!({ "command": "npx", "args": ["./x"], "cwd": "/home/me/project" }));
        assert_eq!(ours("far"), json!({ "url": "https://example.com/mcp" }));
    }

    #[test]
    fn a_long_name_stays_a_name() {
        let (long, ours) = ("x".repeat(64), json!({ "x".repeat(64): { "command": "a" } }));
        let sources = [source("claude-desktop", Reach::User, json!({ long.as_str(): { "command": "b" } }))];
        let State::New(name) = states(&sources, ours, true).remove(0).1 else { panic!("it is new") };
        assert!(name.len() == 64 && name.ends_with("-claude-desktop"), "{name}");
    }
}
