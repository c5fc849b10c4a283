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

/// Show what a compiled component or a space can reach, or how MCP servers differ from what was accepted.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  agent-spaces compile agent.ts -o agent.wasm && agent-spaces audit agent.wasm
  agent-spaces audit support
  agent-spaces audit -             # what all scripts have, in no space
  agent-spaces audit --diff
  agent-spaces audit verify

Exit status: 0 ok, 1 with --diff: something changed; verify: the log was changed, or entries are missing, 2 bad usage or configuration; verify:
there is no log, 3 verify: unchanged, but entries could not be written, 4 with --diff: a server is not accepted, 5 a server does not answer;
verify: the log cannot be read."
)]
pub(super) struct Audit {
    #[command(subcommand)]
    log: Option<Log>,

    /// A component's file, or the name of a space; - for what scripts have without one
    #[arg(required_unless_present = "diff")]
    target: Option<PathBuf>,

    /// Ask the MCP servers what they offer and compare that with capabilities.lock
    #[arg(long, conflicts_with = "target")]
    diff: bool,

    #[command(flatten)]
    config: ConfigChoice,

    /// With --diff: show what is said to the servers and what they say, on stderr
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
