//! `agent-spaces mcp ping`

use super::{Options, server};
use crate::commands::failure::Failure;
use crate::commands::session::refused;
use crate::commands::{output, spinner, terminal};
use agent_spaces::mcp::ConfiguredServer;
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};
use std::sync::Arc;

/// Connect to servers and report whether they answer.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces mcp ping
  agent-spaces mcp ping slack --json

Exit status: 0 all answer, 2 bad usage or configuration, 5 one does not.")]
pub(super) struct Ping {
    /// The servers [default: all enabled ones]
    servers: Vec<String>,

    #[command(flatten)]
    options: Options,
}

impl Ping {
    pub(super) fn execute(self) -> u8 {
        match self.ping() {
            Ok((values, text, worst)) => {
                let written = match self.options.json {
                    true => output::print_line(&Value::Array(values)),
                    false => output::print(&text),
                };
                worst.max(written)
            }
            Err(failure) => failure.report(self.options.json),
        }
    }

    fn ping(&self) -> Result<(Vec<Value>, Shown, u8), Failure> {
        let (_, project, session) = self.options.open()?;
        let named: Vec<&Arc<ConfiguredServer>> = match self.servers.is_empty() {
            true => project.servers().values().filter(|server| server.config.enabled).collect(),
            false => self.servers.iter().map(|name| server(&project, name)).collect::<Result<_, _>>()?,
        };
        let (mut values, mut text, mut worst) = (Vec::new(), Shown::default(), 0);
        for server in named {
            let name = terminal::clean_line(&server.name);
            let bar = spinner::spin(shown!("Connecting to {}", name));
            let answer = session.ask(server, |server| async move { server.ping().await });
            bar.finish_and_clear();
            match answer {
                Ok(time) => {
                    let milliseconds = time.as_secs_f64() * 1e3;
                    text.push(shown!("{}  answers in {:.1} ms\n", name, milliseconds));
                    values.push(json!({ "server": server.name, "ok": true, "latencyMs": milliseconds }));
                }
                Err(error) => {
                    let failure = refused(&server.name, &error);
                    worst = worst.max(failure.error.exit_status());
                    text.push(shown!("{}  fails: {}\n", name, terminal::clean_line(&failure.error.message)));
                    values.push(json!({ "server": server.name, "ok": false, "error": failure.error }));
                }
            }
        }
        Ok((values, text, worst))
    }
}
