//! Comparison of MCP servers with capabilities.lock.

use crate::commands::config_choice::ConfigChoice;
use crate::commands::failure::Failure;
use crate::commands::session::Session;
use crate::commands::{folders, terminal};
use agent_spaces::Code;
use agent_spaces_mcp::lock::compare;
use capability_gen::shown;
use capability_gen::shown::Shown;
use serde_json::{Value, json};

/// Returns the findings as JSON and as text, and the exit status: 1 if something changed.
pub(super) fn audit(config: &ConfigChoice, is_traced: bool) -> Result<(Value, Shown, u8), Failure> {
    let engine = folders::engine(true)?;
    let project = config.open(&engine)?.ok_or_else(|| {
        let hint = "add agent-spaces.config.json or .mcp.json, or name a file with --config";
        Failure::new(Code::ConfigFile, "no configuration was found", Some(hint))
    })?;
    let session = Session::new(&project, is_traced)?;
    let (mut values, mut text, mut status) = (Vec::new(), Shown::default(), 0);
    let mut say = |server: &str, kind: &'static str, lines: Vec<(String, bool)>| {
        text.push(shown!("{}  {}\n", terminal::clean_line(server), kind));
        for (line, is_refused) in &lines {
            let mark = if *is_refused { "refused until accepted: " } else { "" };
            text.push(shown!("  {}{}\n", mark, terminal::clean_line(line)));
        }
        let changes: Vec<Value> =
            lines.into_iter().map(|(change, refused)| json!({ "change": change, "refused": refused })).collect();
        values.push(json!({ "server": server, "state": kind, "changes": changes }));
    };
    let own = project.servers().values().filter(|server| server.config.enabled);
    for server in own.chain(project.accepted_of_toolboxes()) {
        if let Some(obstacle) = server.obstacle() {
            // A server that cannot be compared does not count as accepted.
            say(&server.name, "inert", vec![(obstacle, true)]);
            status = status.max(4);
            continue;
        }
        if server.config.tools.is_some() {
            say(&server.name, "its tools are recorded in a file of the project", Vec::new());
            continue;
        }
        let Some(accepted) = project.lock().servers.get(&server.name) else {
            say(&server.name, "nothing accepted yet", Vec::new());
            status = status.max(1);
            continue;
        };
        match session.discover(server) {
            Ok(listing) => {
                let changes = compare(accepted, &session.locked(server, &listing)?);
                let lines: Vec<_> = changes.iter().map(|change| (change.to_string(), change.is_breaking())).collect();
                status = status.max(u8::from(!lines.is_empty()));
                say(&server.name, if lines.is_empty() { "as accepted" } else { "changed" }, lines);
            }
            Err(failure) => {
                status = status.max(failure.error.exit_status());
                say(&server.name, "fails", vec![(failure.error.message, false)]);
            }
        }
    }
    for name in project.lock().servers.keys().filter(|name| project.server(name).is_none()) {
        status = status.max(1);
        say(name, "in the lock, and no longer configured", Vec::new());
    }
    Ok((Value::Array(values), text, status))
}
