//! `agent-spaces mcp`: one file or folder per verb.

mod accept;
mod call;
mod list;
mod login;
mod logout;
mod ping;
mod serve;
mod tools;

use super::config_choice::ConfigChoice;
use super::failure::Failure;
use super::folders;
use super::session::Session;
use agent_spaces::Code;
use agent_spaces::Engine;
use agent_spaces::mcp::ConfiguredServer;
use agent_spaces::project::Project;
use capability_gen::names::nearest;
use clap::{Args, Subcommand};
use std::sync::Arc;

/// Inspect, test and log in to MCP servers, or serve as one.
#[derive(Args)]
pub(super) struct Mcp {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    List(list::List),
    Tools(tools::Tools),
    Ping(ping::Ping),
    Call(call::Call),
    Accept(accept::Accept),
    Login(login::Login),
    Logout(logout::Logout),
    Serve(serve::Serve),
}

impl Mcp {
    pub(super) fn execute(self) -> u8 {
        match self.verb {
            Verb::List(list) => list.execute(),
            Verb::Tools(tools) => tools.execute(),
            Verb::Ping(ping) => ping.execute(),
            Verb::Call(call) => call.execute(),
            Verb::Accept(accept) => accept.execute(),
            Verb::Login(login) => login.execute(),
            Verb::Logout(logout) => logout.execute(),
            Verb::Serve(serve) => serve.execute(),
        }
    }
}

/// Flags of every verb.
#[derive(Args)]
struct Options {
    #[command(flatten)]
    config: ConfigChoice,

    /// Print the messages exchanged with MCP servers to stderr
    #[arg(long)]
    trace_mcp: bool,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl Options {
    /// Opens the project, and a session for its servers.
    fn open(&self) -> Result<(Engine, Project, Session), Failure> {
        let engine = folders::engine(true)?;
        let project = self.config.open(&engine)?.ok_or_else(|| {
            let hint = "add agent-spaces.config.json or .mcp.json, or name a file with --config";
            Failure::new(Code::ConfigFile, "no configuration was found", Some(hint))
        })?;
        for warning in project.warnings() {
            super::terminal::warn(warning);
        }
        let session = Session::new(&project, self.trace_mcp)?;
        Ok((engine, project, session))
    }
}

/// Finds a server of a project by name.
fn server<'a>(project: &'a Project, name: &str) -> Result<&'a Arc<ConfiguredServer>, Failure> {
    project.server(name).ok_or_else(|| {
        let known = || project.servers().keys().map(String::as_str);
        let hint = match nearest(name, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if project.servers().is_empty() => "there are none; add it to `mcpServers`".into(),
            None => format!("known servers: {}", known().collect::<Vec<_>>().join(", ")),
        };
        Failure::new(Code::ConfigUnknown, format!("there is no MCP server `{name}`"), Some(&hint))
    })
}
