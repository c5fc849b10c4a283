//! The command line: one file to a verb.
//!
//! Each verb parses its flags into a plan, checks it, and runs it over the library; none has logic of
//! its own. stdout is data, stderr is talk: `output` and `terminal` alone write there, and take text of others only as
//! [`Shown`](agent_spaces::Shown).

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod approvals;
mod audit;
mod audit_trail;
mod capabilities;
mod clients;
mod compile;
mod completions;
mod config_choice;
mod confinement;
mod doctor;
mod failure;
mod folders;
mod init;
mod interrupt;
mod known_secrets;
mod manifest;
mod mcp;
mod network_variables;
mod output;
mod policy;
mod programs;
mod publish;
mod reach;
mod run;
mod script_file;
mod shell_word;
mod space_choice;
mod spaces;
mod terminal;
mod trust;
mod units;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// What `--version` says: the program's, and the JavaScript engine inside it, for who must know whether a fix is in it.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nengine: QuickJS-ng ",
    include_str!("../../../guest-js/prebuilt/engine.version"),
    "engine sha256: ",
    include_str!("../../../guest-js/prebuilt/engine.sha256"),
);

/// Run code that AI agents write, in WebAssembly components that reach only what they import.
#[derive(Parser)]
#[command(name = "agent-spaces", version, long_version = VERSION, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(init::Init),
    Doctor(doctor::Doctor),
    Run(run::Run),
    Manifest(manifest::ManifestCommand),
    Compile(compile::Compile),
    Capabilities(capabilities::Capabilities),
    Spaces(spaces::Spaces),
    Mcp(mcp::Mcp),
    Trust(trust::TrustCommand),
    Policy(policy::PolicyCommand),
    Publish(publish::Publish),
    Approvals(approvals::ApprovalsCommand),
    Audit(audit::Audit),
    Completions(completions::Completions),
}

/// Parses the arguments and runs the verb.
pub(crate) fn main() -> ExitCode {
    let status = match Cli::parse_from(confinement::arguments()).command {
        Command::Init(init) => init.execute(),
        Command::Doctor(doctor) => doctor.execute(),
        Command::Run(run) => run.execute(),
        Command::Manifest(manifest) => manifest.execute(),
        Command::Compile(compile) => compile.execute(),
        Command::Capabilities(capabilities) => capabilities.execute(),
        Command::Spaces(spaces) => spaces.execute(),
        Command::Mcp(mcp) => mcp.execute(),
        Command::Trust(trust) => trust.execute(),
        Command::Policy(policy) => policy.execute(),
        Command::Publish(publish) => publish.execute(),
        Command::Approvals(approvals) => approvals.execute(),
        Command::Audit(audit) => audit.execute(),
        Command::Completions(completions) => completions.execute(),
    };
    ExitCode::from(status)
}
