//! Command line: one file or folder per verb. Parses flags, validates them, and calls the library; logic lives there.
//!
//! stdout is data, stderr is for people. Only `output` and `terminal` write to them, and they take untrusted text only
//! as [`Shown`](agent_spaces::Shown).
//!
//! # Layout
//! - Verbs: `agent`, `approvals`, `audit`, `capabilities`, `compile`, `completions`, `console`, `doctor`, `init`, `manifest`,
//!   `mcp`, `policy`, `publish`, `replay`, `run`, `runs`, `serve`, `spaces`, `trust`
//! - Shared flags: `config_choice`, `space_choice`, `confinement`, `units`
//! - `session`: the runtime, MCP clients and audit log of one command; `audit_trail`: opens that log
//! - `run_output`: events and report of a run; `durable_run`: its durable execution; `run_command`: its recorded flags;
//!   `journal`: the store of durable runs; `store_choice`: its address; `host_key`: secret of hosts that share one;
//!   `host_name`: name of this one
//! - `serving`: shared parts of `serve` and `mcp serve`
//! - `log_events`: `tracing` events for the operator
//! - `folders`: the user's folders, and the engine with its cache; `script_file`: the script to run
//! - `foreign_configs`: MCP configurations of other programs, for `init` and `doctor`
//! - `output`, `terminal`, `spinner`, `failure`, `known_secrets`, `shell_word`: stdout, stderr, progress, errors,
//!   redaction, quoting
//! - `reach`, `network_variables`: text and JSON that several verbs print
//! - `interrupt`: SIGINT and SIGTERM during `run --json`

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod agent;
mod approvals;
mod audit;
mod audit_trail;
mod capabilities;
mod compile;
mod completions;
mod config_choice;
mod confinement;
mod console;
mod doctor;
mod durable_run;
mod failure;
mod folders;
mod foreign_configs;
mod host_key;
mod host_name;
mod init;
mod interrupt;
mod journal;
mod known_secrets;
mod log_events;
mod manifest;
mod mcp;
mod network_variables;
mod output;
mod policy;
mod publish;
mod reach;
mod replay;
mod run;
mod run_command;
mod run_output;
mod runs;
mod script_file;
mod serve;
mod serving;
mod session;
mod shell_word;
mod space_choice;
mod spaces;
mod spinner;
mod store_choice;
mod terminal;
mod trust;
mod units;

use agent_spaces::{ENGINE_SHA256, ENGINE_VERSION};
use clap::{Parser, Subcommand};
use std::process::ExitCode;
use std::sync::LazyLock;

/// Text of `--version`: the versions of the program and of its JavaScript engine, to look up fixes.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    format!("{version}\nengine: QuickJS-ng {ENGINE_VERSION}\nengine sha256: {ENGINE_SHA256}\n")
});

/// Run code written by AI agents in WebAssembly sandboxes that can call only the interfaces they import.
#[derive(Parser)]
#[command(name = "agent-spaces", version, long_version = LONG_VERSION.as_str(), propagate_version = true, max_term_width = 100)]
struct Cli {
    /// Store of durable runs: postgres://USER@HOST/DATABASE, file:PATH or env:NAME with such an address, or sqlite
    /// [default: AGENT_SPACES_STORE, then `store` of the configuration, then the user's SQLite file]
    #[arg(long, global = true, value_name = "ADDRESS")]
    store: Option<String>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(init::Init),
    Doctor(doctor::Doctor),
    Agent(agent::AgentCommand),
    Run(run::Run),
    Runs(runs::RunsCommand),
    Replay(replay::ReplayCommand),
    Manifest(manifest::ManifestCommand),
    Compile(compile::Compile),
    Capabilities(capabilities::Capabilities),
    Spaces(spaces::Spaces),
    Serve(serve::ServeCommand),
    Console(console::Console),
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
    let Cli { store, command } = Cli::parse_from(confinement::arguments());
    store_choice::choose(store);
    let status = match command {
        Command::Init(init) => init.execute(),
        Command::Doctor(doctor) => doctor.execute(),
        Command::Agent(agent) => agent.execute(),
        Command::Run(run) => run.execute(),
        Command::Runs(runs) => runs.execute(),
        Command::Replay(replay) => replay.execute(),
        Command::Manifest(manifest) => manifest.execute(),
        Command::Compile(compile) => compile.execute(),
        Command::Capabilities(capabilities) => capabilities.execute(),
        Command::Spaces(spaces) => spaces.execute(),
        Command::Serve(serve) => serve.execute(),
        Command::Console(console) => console.execute(),
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
