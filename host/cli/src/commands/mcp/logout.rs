//! `agent-spaces mcp logout`

use crate::commands::failure::Failure;
use crate::commands::output;
use crate::commands::session::Session;
use agent_spaces::Code;
use clap::Args;
use serde_json::json;

/// Delete the stored tokens of a server.
#[derive(Args)]
#[command(after_help = "Example:
  agent-spaces mcp logout github")]
pub(super) struct Logout {
    /// The server
    server: String,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl Logout {
    pub(super) fn execute(self) -> u8 {
        match self.logout() {
            Ok(was_known) if self.json => output::print_line(&json!({ "ok": true, "removed": was_known })),
            Ok(true) => output::print(&"logged out\n".into()),
            Ok(false) => output::print(&"not logged in\n".into()),
            Err(failure) => failure.report(self.json),
        }
    }

    fn logout(&self) -> Result<bool, Failure> {
        let session = Session::without_project()?;
        let removed = session.wait(session.context().tokens.remove(&self.server));
        removed.map_err(|error| Failure::new(Code::HostTokens, error.to_string(), None))
    }
}
