//! `agent-spaces mcp list`

use super::Options;
use crate::commands::failure::Failure;
use crate::commands::session::{Session, tools as counted};
use crate::commands::{output, terminal};
use agent_spaces::mcp::{ConfiguredServer, locked_endpoint};
use agent_spaces::project::Project;
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};
use std::sync::Arc;

/// List the MCP servers of the project.
///
/// Servers are started only with --check.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces mcp list
  agent-spaces mcp list --check

Exit status: 0 ok, 2 bad usage or configuration, 5 with --check: a server does not answer.")]
pub(super) struct List {
    /// Connect to each and report whether it answers
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    options: Options,
}

impl List {
    pub(super) fn execute(self) -> u8 {
        match self.list() {
            Ok((values, text)) => {
                let fails = values.iter().any(|value| value["state"] == "fails");
                let written = match self.options.json {
                    true => output::print_line(&Value::Array(values)),
                    false => output::print(&text),
                };
                if fails { 5 } else { written }
            }
            Err(failure) => failure.report(self.options.json),
        }
    }

    fn list(&self) -> Result<(Vec<Value>, Shown), Failure> {
        let (_, project, session) = self.options.open()?;
        if let Ok(Some(located)) = self.options.config.locate() {
            let (used, reason) = (terminal::clean_line(&located.shown()), terminal::clean_line(&located.reason()));
            terminal::note(shown!("{} ({})", used, reason));
        }
        let ungiven = project.ungiven_servers();
        let (mut values, mut text) = (Vec::new(), Shown::default());
        for server in project.servers().values() {
            let line = Line::of(&project, server, self.check.then_some(&session));
            let endpoint = terminal::clean_line(&locked_endpoint(server).to_string());
            let (name, state) = (terminal::clean_line(&server.name), terminal::clean_line(&line.state));
            text.push(shown!("{}  {}  {}\n", name, state, endpoint));
            if let Some(detail) = &line.detail {
                text.push(shown!("    {}\n", terminal::clean_line(detail)));
            }
            let grant = ungiven.iter().find(|(other, _)| other.name == server.name).map(|(_, grant)| grant);
            if let Some(grant) = grant {
                text.push(shown!("    not granted to any space: {}\n", terminal::clean_line(grant)));
            }
            values.push(json!({
                "name": server.name, "module": server.specifier(), "endpoint": locked_endpoint(server).to_string(),
                "state": line.state, "detail": line.detail, "tools": line.tools,
                "file": server.file.display().to_string(), "enabled": server.config.enabled,
                "grant": grant,
            }));
        }
        if values.is_empty() {
            terminal::hint("there are no MCP servers: add `mcpServers` to the configuration, or a .mcp.json");
        }
        Ok((values, text))
    }
}

struct Line {
    state: String,
    detail: Option<String>,
    tools: Option<usize>,
}

impl Line {
    fn of(project: &Project, server: &Arc<ConfiguredServer>, session: Option<&Session>) -> Line {
        let accepted = project.lock().servers.get(&server.name);
        let tools = accepted.map(|accepted| accepted.tools.len());
        let line = |state: &str, detail| Line { state: state.into(), detail, tools };
        if !server.config.enabled {
            return line("off", Some(format!("disabled at {}", server.switch())));
        }
        if let Some(obstacle) = server.obstacle() {
            return line("inert", Some(obstacle));
        }
        if let Some(session) = session {
            return match session.ask(server, |server| async move { server.ping().await }) {
                Ok(time) => line("answers", Some(format!("in {:.1} ms", time.as_secs_f64() * 1e3))),
                Err(error) => line("fails", Some(error.to_string())),
            };
        }
        match tools {
            Some(tools) => line(&counted(tools), None),
            None => line("not asked yet", None),
        }
    }
}
