//! `agent-spaces mcp login`

use super::{Options, server};
use crate::commands::failure::Failure;
use crate::commands::{output, terminal};
use agent_spaces::Code;
use agent_spaces_mcp::auth::{Browser, LoginReport, SystemBrowser, login};
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::json;

/// Log in to a remote server with OAuth, in a browser.
///
/// Tokens are stored in a file that only this user can read, outside of every project, and are refreshed automatically.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces mcp login github
  agent-spaces mcp login github --no-browser   # prints the URL to open")]
pub(super) struct Login {
    /// The server
    server: String,

    /// Print the URL without opening a browser
    #[arg(long)]
    no_browser: bool,

    #[command(flatten)]
    options: Options,
}

impl Login {
    pub(super) fn execute(self) -> u8 {
        match self.login() {
            Ok(report) if self.options.json => output::print_line(&json!({
                "ok": true, "server": self.server, "scopes": report.scopes, "expires": report.expires.map(|when| humantime::format_rfc3339_seconds(when).to_string()),
            })),
            Ok(_) => output::print(&shown!("logged in to {}\n", terminal::clean_line(&self.server))),
            Err(failure) => failure.report(self.options.json),
        }
    }

    fn login(&self) -> Result<LoginReport, Failure> {
        let (_, project, session) = self.options.open()?;
        let configured = server(&project, &self.server)?;
        let settings = session.clients().settings(configured, None);
        let settings = settings.map_err(|error| Failure::new(Code::HostMcp, error.to_string(), None))?;
        let browser = Announced { opens: !self.no_browser };
        let report = session.wait(login(&settings, session.context(), &browser));
        report.map_err(|error| Failure::new(Code::HostUnauthorized, format!("{}: {error}", self.server), None))
    }
}

/// Browser that prints the address before it opens it.
struct Announced {
    opens: bool,
}

impl Browser for Announced {
    fn open(&self, url: &str) -> std::io::Result<()> {
        // Not cut: a partial address is useless.
        let address = Shown::line(url, usize::MAX);
        terminal::note(shown!("open this URL to log in, within five minutes:\n  {}", address));
        // Without a browser here, the user can open the address elsewhere.
        if self.opens {
            let _ = SystemBrowser.open(url);
        }
        Ok(())
    }
}
