//! `agent-spaces doctor`
//!
//! - `check`: one check, and the report of all of them
//! - `machine`: engine, folders, TypeScript compiler
//! - `confinement`: Landlock and seccomp of the kernel, and their use
//! - `configuration`: the configuration and its warnings
//! - `network`: proxy and certificate variables that servers do not get
//! - `spaces`: errors and warnings of each space
//! - `servers`: MCP servers, from their settings to their tools
//! - `agents`: other programs that start this one, or the same servers

mod agents;
mod check;
mod configuration;
mod confinement;
mod machine;
mod network;
mod servers;
mod spaces;

use super::config_choice::ConfigChoice;
use super::failure::Failure;
use super::session::Session;
use super::{output, units};
use check::{Check, Report};
use clap::Args;
use servers::Probe;
use std::path::Path;
use std::time::Duration;

/// Check the installation, the configuration and the MCP servers, and suggest fixes.
///
/// Runs a script, checks the folders and the configuration, and starts every MCP server that may be started, to list
/// its tools.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces doctor
  agent-spaces doctor --offline
  agent-spaces doctor --config ~/.config/agent-spaces/agent-spaces.config.json --json

Exit status: 0 no errors, warnings or not; 2 the configuration cannot be used; 5 another check failed.")]
pub(super) struct Doctor {
    #[command(flatten)]
    config: ConfigChoice,

    /// Do not start MCP servers
    #[arg(long)]
    offline: bool,

    /// Timeout of listing the tools of each MCP server [default: its `connectTimeout` (60s if absent) plus its
    /// `timeout`]
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    deadline: Option<Duration>,

    /// Print the messages exchanged with MCP servers to stderr
    #[arg(long)]
    trace_mcp: bool,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(super) fn execute(self) -> u8 {
        let report = self.examine();
        let written = match self.json {
            true => output::print_line(&report.data()),
            false => output::print(&report.text()),
        };
        report.exit_status().max(written)
    }

    fn examine(&self) -> Report {
        let mut report = Report::default();
        let (engine, check) = machine::engine();
        report.add(check);
        report.extend(machine::folders());
        let Some(engine) = engine else { return report };
        match self.config.open_beside(Some(Path::new(".")), &engine) {
            Ok(project) => {
                report.add(machine::typescript(project.as_ref()));
                report.add(confinement::check(project.as_ref()));
                report.extend(configuration::checks(project.as_ref(), &self.config));
                if let Some(project) = &project {
                    report.extend(spaces::checks(project, &engine));
                    report.extend(network::check(project));
                    match Session::new(project, self.trace_mcp) {
                        Ok(session) => report.extend(self.servers(project, &session)),
                        Err(failure) => report.add(failed("servers", &failure)),
                    }
                }
                report.extend(agents::checks(project.as_ref()));
            }
            Err(failure) => {
                report.add(confinement::check(None));
                report.add(failed("configuration", &failure));
                report.extend(agents::checks(None));
            }
        }
        report
    }

    fn servers(&self, project: &agent_spaces::project::Project, session: &Session) -> Vec<Check> {
        let probe = match (self.offline, self.deadline) {
            (true, _) => Probe::Skip,
            (false, Some(deadline)) => Probe::Timeout(deadline),
            (false, None) => Probe::ConfiguredTimeout,
        };
        servers::checks(project, session, probe, &self.config.argument())
    }
}

fn failed(subject: &str, failure: &Failure) -> Check {
    let check = Check::broken(subject, &failure.error.message, failure.error.exit_status());
    match &failure.error.hint {
        Some(hint) => check.fix(hint),
        None => check,
    }
}
