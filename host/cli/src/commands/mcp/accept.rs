//! `agent-spaces mcp accept`

use super::{Options, server};
use crate::commands::failure::Failure;
use crate::commands::session::warn_of_package;
use crate::commands::{output, terminal};
use agent_spaces::mcp::{ConfiguredServer, accepted_changes};
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};
use std::sync::Arc;

/// Accept the current tools of servers: list them, show the changes, and write them to capabilities.lock.
///
/// Until then, tools that are new or whose schema or annotations changed are refused, and so is a server whose command
/// or address changed. Without names, servers that are no longer configured are removed from the lock.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces audit --diff        # look first
  agent-spaces mcp accept slack
  agent-spaces mcp accept

Exit status: 0 ok, 2 bad usage or configuration, 5 a server does not answer.")]
pub(super) struct Accept {
    /// The servers, those of toolboxes as toolbox/server [default: all enabled ones, and those of toolboxes that were
    /// accepted before]
    servers: Vec<String>,

    #[command(flatten)]
    options: Options,
}

impl Accept {
    pub(super) fn execute(self) -> u8 {
        match self.accept() {
            Ok((values, _, status)) if self.options.json => output::print_line(&Value::Array(values)).max(status),
            Ok((_, text, status)) => output::print(&text).max(status),
            Err(failure) => failure.report(self.options.json),
        }
    }

    fn accept(&self) -> Result<(Vec<Value>, Shown, u8), Failure> {
        let (_, project, session) = self.options.open()?;
        let named: Vec<&Arc<ConfiguredServer>> = match self.servers.is_empty() {
            true => {
                let own = project.servers().values().filter(|server| server.config.enabled);
                own.chain(project.accepted_of_toolboxes()).collect()
            }
            false => self.servers.iter().map(|name| server(&project, name)).collect::<Result<_, _>>()?,
        };
        let (mut values, mut text, mut status) = (Vec::new(), Shown::default(), 0);
        for server in named {
            let name = terminal::clean_line(&server.name);
            let found = session.discover(server).and_then(|listing| session.locked(server, &listing));
            let found = match found {
                Ok(found) => found,
                // The other servers are still asked.
                Err(failure) => {
                    status = status.max(failure.error.exit_status());
                    text.push(shown!("{}  fails: {}\n", name, terminal::clean_line(&failure.error.message)));
                    values.push(json!({ "server": server.name, "error": failure.error }));
                    continue;
                }
            };
            let changes = accepted_changes(project.lock().servers.get(&server.name), &found);
            text.push(shown!("{}{}\n", name, if changes.is_empty() { "  no changes" } else { "" }));
            for change in &changes {
                text.push(shown!("  {}\n", terminal::clean_line(change)));
            }
            warn_of_package(&server.name, &found);
            project.accept(&server.name, found)?;
            values.push(json!({ "server": server.name, "changes": changes }));
        }
        if self.servers.is_empty() {
            for name in project.prune()? {
                let line = shown!("{}  no longer configured: removed from the lock\n", terminal::clean_line(&name));
                text.push(line);
                values.push(json!({ "server": name, "changes": ["removed from the lock"] }));
            }
        }
        Ok((values, text, status))
    }
}
