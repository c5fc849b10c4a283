//! `agent-spaces mcp accept`

use super::{Options, server};
use crate::commands::failure::Failure;
use crate::commands::{output, terminal};
use agent_spaces::mcp::ConfiguredServer;
use agent_spaces_mcp::lock::compare;
use clap::Args;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

/// Accept what servers offer now: ask them, show what is new, write it to capabilities.lock.
///
/// Until then, tools that are new or whose schema or annotations changed are refused.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces audit --diff        # look first
  agent-spaces mcp accept slack
  agent-spaces mcp accept")]
pub(super) struct Accept {
    /// The servers [default: all that are switched on]
    servers: Vec<String>,

    #[command(flatten)]
    options: Options,
}

impl Accept {
    pub(super) fn execute(self) -> u8 {
        match self.accept() {
            Ok((values, _)) if self.options.json => output::print_line(&Value::Array(values)),
            Ok((_, text)) => output::print(&text),
            Err(failure) => failure.report(self.options.json),
        }
    }

    fn accept(&self) -> Result<(Vec<Value>, String), Failure> {
        let (_, project, session) = self.options.open()?;
        let named: Vec<&Arc<ConfiguredServer>> = match self.servers.is_empty() {
            true => project.servers().values().filter(|server| server.config.enabled).collect(),
            false => self.servers.iter().map(|name| server(&project, name)).collect::<Result<_, _>>()?,
        };
        let (mut values, mut text) = (Vec::new(), String::new());
        for server in named {
            let found = session.locked(server, &session.discover(server)?)?;
            let changes = match project.lock().servers.get(&server.name) {
                Some(before) => compare(before, &found).iter().map(ToString::to_string).collect(),
                None => vec![format!("{} tools, accepted for the first time", found.tools.len())],
            };
            let name = terminal::clean_line(&server.name);
            let _ = writeln!(text, "{name}{}", if changes.is_empty() { "  nothing new" } else { "" });
            for change in &changes {
                let _ = writeln!(text, "  {}", terminal::clean_line(change));
            }
            project.accept(&server.name, found)?;
            values.push(json!({ "server": server.name, "changes": changes }));
        }
        Ok((values, text))
    }
}
