//! Checks of other programs that start this one, or the same servers.

use super::super::folders;
use super::super::foreign_configs::{Entry, Source, SourceScope, State, merge, search};
use super::super::shell_word::shell_word;
use super::check::Check;
use agent_spaces::config::{McpServer, Raw, Transport};
use agent_spaces::project::{Project, find_in, peek_config};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Checks the configurations of other programs against the servers of this project.
pub(super) fn checks(project: Option<&Project>) -> Vec<Check> {
    let found = search(Path::new("."), &[]);
    let servers = || project.into_iter().flat_map(|project| project.servers().values());
    // Files that the project itself reads are no duplicates.
    let own: Vec<PathBuf> = servers().filter_map(|server| server.file.canonicalize().ok()).collect();
    let is_own = |source: &Source| source.file.canonicalize().is_ok_and(|file| own.contains(&file));
    let config = project.map(Project::config);
    let present: BTreeMap<String, McpServer> = servers()
        .map(|server| {
            // As written: additions of the project would make it differ.
            let written = config.and_then(|config| config.mcp_servers.get(&server.name));
            (server.name.clone(), written.unwrap_or(&server.config).clone())
        })
        .collect();
    let target = project.map(Project::folder).unwrap_or(Path::new("."));
    let entries = merge(&found.sources, &present, target, |_| true);
    // Servers that `init` would add: those that the user's own configuration does not have.
    let own_servers = user_servers();
    let own_folder = folders::user_config().unwrap_or_else(|| target.to_owned());
    let offered = merge(&found.sources, &own_servers, &own_folder, |_| true);
    let mut checks = Vec::new();
    let (mut is_started, mut elsewhere, mut served) = (false, Vec::new(), BTreeSet::new());
    for (source, at) in found.sources.iter().zip(0..) {
        let subject = format!("{} ({})", source.program, source.file.display());
        if let Err(error) = &source.found {
            checks.push(Check::warning(&subject, format!("its MCP servers cannot be read: {error}")));
        }
        let here: Vec<&Entry> = entries.iter().filter(|entry| entry.source == at).collect();
        for entry in here.iter().filter(|entry| entry.state == State::Ourselves) {
            is_started = true;
            checks.push(own_entry(&subject, entry));
            served.extend(config_of(&entry.server));
        }
        if is_own(source) {
            continue;
        }
        let is_known = |entry: &&&Entry| matches!(&entry.state, State::Known(name) if present.contains_key(name));
        let twice: Vec<&str> = here.iter().filter(is_known).map(|entry| entry.name.as_str()).collect();
        if !twice.is_empty() {
            let message = format!("it starts {} too: an agent there sees the same tools twice", twice.join(", "));
            checks.push(Check::warning(&subject, message).fix("agent-spaces init --replace"));
        }
        let is_new = |entry: &Entry| entry.source == at && matches!(entry.state, State::New(_));
        let taken: BTreeSet<&str> =
            offered.iter().filter(|entry| is_new(entry)).map(|entry| entry.name.as_str()).collect();
        let new = here.iter().filter(|entry| is_new(entry) && taken.contains(entry.name.as_str()));
        if source.scope != SourceScope::Folder {
            elsewhere.extend(new.map(|entry| (entry.name.as_str(), source.program)));
        }
    }
    let examined = project.and_then(Project::acceptance).map(|acceptance| &acceptance.file);
    let is_other = |file: &&str| {
        let file = Path::new(file);
        file.is_file() && examined.is_none_or(|it| it.canonicalize().ok() != file.canonicalize().ok())
    };
    for file in served.into_iter().filter(is_other) {
        let message = format!("other programs start agent-spaces with {file}, which was not checked here");
        checks.push(Check::note("agents", message).fix(format!("agent-spaces doctor --config {}", shell_word(file))));
    }
    if !elsewhere.is_empty() {
        let is_twice = |name: &str| elsewhere.iter().filter(|(other, _)| *other == name).count() > 1;
        let named = elsewhere.iter().map(|(name, program)| match is_twice(name) {
            true => format!("{name} ({program})"),
            false => (*name).to_owned(),
        });
        let named = named.collect::<Vec<_>>().join(", ");
        let message = format!("other programs have servers that are not behind agent-spaces: {named}");
        checks.push(Check::note("other servers", message).fix("agent-spaces init"));
    }
    if !is_started {
        let message = "no known program starts agent-spaces yet";
        checks.push(Check::warning("agents", message).fix("run `agent-spaces init` for the entry of each program"));
    }
    checks
}

/// Returns the servers of the user's own configuration; empty if it cannot be read.
fn user_servers() -> BTreeMap<String, McpServer> {
    let file =
        folders::user_config().filter(|folder| folder.is_dir()).and_then(|folder| find_in(&folder).ok().flatten());
    let peeked = file.and_then(|file| {
        peek_config(&file, &|| folders::engine(true).map_err(Into::into), &folders::surroundings()).ok()
    });
    peeked.map(|(config, _)| config.mcp_servers).unwrap_or_default()
}

/// Checks that the program and configuration of our entry exist.
fn own_entry(subject: &str, entry: &Entry) -> Check {
    let Transport::Stdio { program, .. } = &entry.server.transport else {
        return Check::fine(subject, "it connects to agent-spaces");
    };
    let config = config_of(&entry.server);
    let is_missing = |path: &str| Path::new(path).is_absolute() && !Path::new(path).is_file();
    let missing = [program.as_str()].into_iter().chain(config).find(|path| is_missing(path));
    match missing {
        Some(path) => Check::broken(subject, format!("it starts agent-spaces with {path}, which does not exist"), 5)
            .fix("run `agent-spaces init` for the correct entry"),
        None => match config {
            Some(config) => Check::fine(subject, format!("it starts agent-spaces with {config}")),
            None => Check::fine(subject, "it starts agent-spaces"),
        },
    }
}

/// Returns the `--config` argument that this program is started with.
fn config_of(server: &McpServer) -> Option<&str> {
    let Transport::Stdio { args, .. } = &server.transport else { return None };
    let mut args = args.iter().map(Raw::expose).skip_while(|arg| *arg != "--config");
    args.nth(1)
}
