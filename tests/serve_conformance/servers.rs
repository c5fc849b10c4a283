//! Servers under test, in one home, and their addresses.

use crate::backend;
use crate::bridge::Bridge;
use crate::server_selection::{CODE, CODE_STDIO, PROXY, PROXY_STDIO};
use crate::token_proxy::TokenProxy;
use serde_json::json;
use std::collections::BTreeMap;
use std::error::Error;
use std::process::Stdio;
use std::sync::Arc;
use tokio::process::{Child, Command};

/// Configuration of proxy mode: all tools of the server behind.
const PROXY_OPTIONS: &[&str] = &["--mode", "proxy", "--expose", "behind"];

/// A project with the server behind, and a home of its own.
pub(crate) struct Home(tempfile::TempDir);

/// All servers, until this is dropped.
pub(crate) struct Servers {
    urls: BTreeMap<&'static str, String>,
    _servers: Vec<Child>,
}

impl Home {
    /// Its configuration is accepted, and so are the tools.
    async fn new() -> Result<Home, Box<dyn Error>> {
        let home = Home(tempfile::tempdir()?);
        let config = json!({
            "mcpServers": { "behind": { "command": std::env::current_exe()?, "args": [backend::ARGUMENT] } },
            "capabilities": { "global": ["mcp:behind"] },
        });
        std::fs::write(home.0.path().join("agent-spaces.config.json"), config.to_string())?;
        for arguments in [&["trust"][..], &["mcp", "accept"]] {
            let done = home.command(arguments).output().await?;
            if !done.status.success() {
                return Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&done.stderr)).into());
            }
        }
        Ok(home)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-spaces"));
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null()).kill_on_drop(true);
        for (variable, folder) in [
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_DATA_HOME", "data"),
        ] {
            command.env(variable, self.0.path().join(folder));
        }
        command
    }

    /// `agent-spaces mcp serve` with these options.
    pub(crate) fn serve(&self, options: &[&str]) -> Command {
        let mut command = self.command(&["mcp", "serve"]);
        command.args(options).stdout(Stdio::piped());
        command
    }
}

impl Servers {
    pub(crate) async fn start() -> Result<Servers, Box<dyn Error>> {
        let home = Arc::new(Home::new().await?);
        let (mut urls, mut servers) = (BTreeMap::new(), Vec::new());
        for (name, options) in [(CODE, &[][..]), (PROXY, PROXY_OPTIONS)] {
            let TokenProxy { url, server } = TokenProxy::start(&home, options).await?;
            urls.insert(name, url);
            servers.push(server);
        }
        for (name, options) in [(CODE_STDIO, &[][..]), (PROXY_STDIO, PROXY_OPTIONS)] {
            urls.insert(name, Bridge::start(home.clone(), options).await?);
        }
        Ok(Servers { urls, _servers: servers })
    }

    /// Returns the address of a server.
    pub(crate) fn url(&self, server: &str) -> Result<&str, String> {
        self.urls.get(server).map(String::as_str).ok_or_else(|| format!("there is no server {server}"))
    }
}
