//! `agent-spaces audit`
//!
//! - `component`: imports and exports of a component
//! - `space`: functions that a space can call
//! - `diff`: MCP servers compared with capabilities.lock
//! - `verify`: integrity of the audit log

mod component;
mod diff;
mod space;
mod verify;

use super::config_choice::ConfigChoice;
use super::output;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Show what a component or a space can call, compare MCP servers with capabilities.lock, or verify the audit log.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  agent-spaces compile agent.ts -o agent.wasm && agent-spaces audit agent.wasm
  agent-spaces audit support
  agent-spaces audit -             # global capabilities, without a space
  agent-spaces audit --diff
  agent-spaces audit verify

Exit status: 0 ok; 1 changed tools (--diff), changed or missing log entries (verify); 2 bad usage or configuration, no log (verify);
3 entries could not be written (verify); 4 a server is not accepted (--diff); 5 a server does not answer, log unreadable (verify)."
)]
pub(super) struct Audit {
    #[command(subcommand)]
    log: Option<Log>,

    /// Component file, or name of a space; - for the global capabilities
    #[arg(required_unless_present = "diff")]
    target: Option<PathBuf>,

    /// List the tools of the MCP servers and compare them with capabilities.lock
    #[arg(long, conflicts_with = "target")]
    diff: bool,

    #[command(flatten)]
    config: ConfigChoice,

    /// With --diff: print the messages exchanged with MCP servers to stderr
    #[arg(long, requires = "diff")]
    trace_mcp: bool,

    /// Print the findings as one JSON value
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Log {
    Verify(verify::Verify),
}

impl Audit {
    pub(super) fn execute(self) -> u8 {
        if let Some(Log::Verify(verify)) = self.log {
            return verify.execute();
        }
        let found = match &self.target {
            None => diff::audit(&self.config, self.trace_mcp),
            Some(target) if target.extension().is_none() && !target.exists() => {
                space::audit(&target.to_string_lossy(), &self.config).map(|(value, text)| (value, text, 0))
            }
            Some(target) => component::audit_file(target).map(|(value, text)| (value, text, 0)),
        };
        match found {
            Ok((value, _, status)) if self.json => output::print_line(&value).max(status),
            Ok((_, text, status)) => output::print(&text).max(status),
            Err(failure) => failure.report(self.json),
        }
    }
}
