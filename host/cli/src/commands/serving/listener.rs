//! Listener of a server, its callers and access checks: `--http` of `mcp serve`, `--listen` of `serve`.

use super::token;
use crate::commands::failure::Failure;
use crate::commands::{output, terminal};
use agent_spaces::Caller;
use agent_spaces::Code;
use agent_spaces::project::Project;
use agent_spaces::serve::Client;
use agent_spaces::serve::http::{Callers, OriginCheck, PATH};
use capability_gen::shown;
use clap::Args;
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::TcpListener;

/// Default address.
pub(in crate::commands) const DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7878);

/// Time after a caller's last session until its processes end.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Environment variable of the address.
const VARIABLE: &str = "AGENT_SPACES_LISTEN";

/// Flags of `mcp serve`.
#[derive(Args)]
pub(in crate::commands) struct Http {
    /// Serve over HTTP instead of stdin and stdout, to callers with a token [default ADDRESS: 127.0.0.1:7878]
    #[arg(long = "http", value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:7878")]
    address: Option<SocketAddr>,

    /// File with the token [default: the variable AGENT_SPACES_TOKEN, then a generated token that is stored]
    #[arg(long, value_name = "FILE", requires = "address")]
    token_file: Option<PathBuf>,

    /// Accept connections from other machines; needs your own token, and TLS in front
    #[arg(long, requires = "address")]
    allow_remote: bool,

    /// Allow requests with this Origin header, besides those of this machine; may be repeated
    #[arg(long, value_name = "ORIGIN", requires = "address")]
    allow_origin: Vec<String>,

    /// Allow requests with this Host header, besides localhost; may be repeated
    #[arg(long, value_name = "NAME", requires = "address")]
    allow_host: Vec<String>,

    /// Print the URL as one line of JSON on stdout
    #[arg(long, requires = "address")]
    json: bool,

    /// Seconds from a caller's last session until its processes end; for tests
    #[arg(long, value_name = "SECONDS", requires = "address", default_value_t = 60, hide = true)]
    silence: u32,
}

/// Flags of `serve`.
#[derive(Args)]
pub(in crate::commands) struct Listener {
    /// Address to listen at; port 0 for any [default: the variable AGENT_SPACES_LISTEN, else 127.0.0.1:7878]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,

    /// File with the operator's token [default: the variable AGENT_SPACES_TOKEN, then a generated token that is stored]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Accept connections from other machines; needs your own token, and TLS in front
    #[arg(long)]
    allow_remote: bool,

    /// Allow requests with this Origin header, besides those of this machine; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,

    /// Allow requests with this Host header, besides localhost; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,

    /// Print the URL as one line of JSON on stdout
    #[arg(long)]
    json: bool,
}

/// Bound listener with its callers and access checks.
pub(in crate::commands) struct Bound {
    pub(in crate::commands) listener: TcpListener,
    pub(in crate::commands) callers: Callers,
    pub(in crate::commands) origin_check: OriginCheck,
    /// Time after a caller's last session until its processes end.
    pub(in crate::commands) idle_timeout: Duration,
}

impl Http {
    /// Returns true if `--http` was given.
    pub(in crate::commands) fn is_asked(&self) -> bool {
        self.address.is_some()
    }

    /// Returns the file of `--token-file`.
    pub(in crate::commands) fn token_file(&self) -> Option<PathBuf> {
        self.token_file.clone()
    }

    /// Binds the address and prints it. `own` is the caller with the process's token; others come from the
    /// configuration.
    pub(in crate::commands) async fn bind(&self, own: Client, project: Option<&Project>) -> Result<Bound, Failure> {
        let flags = Flags {
            address: self.address.unwrap_or(DEFAULT),
            token_file: self.token_file.as_deref(),
            allow_remote: self.allow_remote,
            allow_origin: &self.allow_origin,
            allow_host: &self.allow_host,
            is_json: self.json,
            path: PATH,
        };
        let idle_timeout = Duration::from_secs(self.silence.into());
        Ok(Bound { idle_timeout, ..flags.bind(own, project).await? })
    }
}

impl Listener {
    /// Returns the file of `--token-file`.
    pub(in crate::commands) fn token_file(&self) -> Option<PathBuf> {
        self.token_file.clone()
    }

    /// Binds the address and prints it. `own` is the operator; other callers come from the configuration.
    pub(in crate::commands) async fn bind(&self, own: Client, project: Option<&Project>) -> Result<Bound, Failure> {
        let flags = Flags {
            address: self.address()?,
            token_file: self.token_file.as_deref(),
            allow_remote: self.allow_remote,
            allow_origin: &self.allow_origin,
            allow_host: &self.allow_host,
            is_json: self.json,
            path: "",
        };
        flags.bind(own, project).await
    }

    fn address(&self) -> Result<SocketAddr, Failure> {
        self.listen.map_or_else(default_address, Ok)
    }
}

/// Returns the address of the variable, else the default one.
pub(in crate::commands) fn default_address() -> Result<SocketAddr, Failure> {
    match std::env::var(VARIABLE) {
        Ok(text) if !text.trim().is_empty() => text.trim().parse().map_err(|_| {
            let message = format!("{VARIABLE}: `{}` is not an address", terminal::clean_line(&text));
            Failure::new(Code::ConfigVariable, message, Some("set it to an address such as 127.0.0.1:7878"))
        }),
        _ => Ok(DEFAULT),
    }
}

/// Flags of either command.
struct Flags<'a> {
    address: SocketAddr,
    token_file: Option<&'a Path>,
    allow_remote: bool,
    allow_origin: &'a [String],
    allow_host: &'a [String],
    is_json: bool,
    /// Path of the printed URL.
    path: &'a str,
}

impl Flags<'_> {
    async fn bind(&self, own: Client, project: Option<&Project>) -> Result<Bound, Failure> {
        let address = self.address;
        if !address.ip().is_loopback() && !self.allow_remote {
            let message = format!("{address} can be reached from other machines");
            return Err(refused(message, "use an address of 127.0.0.1, or add --allow-remote"));
        }
        let origin_check = self.origin_check()?;
        let mut callers = configured(project)?;
        let has_callers = !callers.is_empty();
        let (token, file) = match token::given(self.token_file)? {
            Some(given) => given,
            None if self.allow_remote && !has_callers => {
                let hint = "name one with --token-file or AGENT_SPACES_TOKEN, or add callers to the configuration";
                return Err(refused("--allow-remote needs a token".to_owned(), hint));
            }
            None => token::kept()?,
        };
        callers.add(token, own).map_err(|error| refused(error.to_string(), "give each caller a token of their own"))?;
        let busy = |error| {
            let hint = "name another port, or `127.0.0.1:0` for any";
            Failure::new(Code::HostServe, format!("{address}: {error}"), Some(hint))
        };
        let listener = TcpListener::bind(address).await.map_err(busy)?;
        let url = format!("http://{}{}", listener.local_addr().map_err(busy)?, self.path);
        terminal::note(shown!("serving at {}", terminal::clean_line(&url)));
        if let Some(file) = &file {
            terminal::note(shown!("the token is in {}", terminal::clean_path(file)));
        }
        if self.is_json {
            output::print_line(&json!({ "url": url, "tokenFile": file }));
        }
        Ok(Bound { listener, callers, origin_check, idle_timeout: IDLE_TIMEOUT })
    }

    fn origin_check(&self) -> Result<OriginCheck, Failure> {
        let mut origin_check = OriginCheck::new(self.allow_remote);
        let wrong = |error: agent_spaces::serve::http::OriginCheckError| {
            Failure::new(Code::ConfigUsage, error.to_string(), None)
        };
        self.allow_origin.iter().try_for_each(|origin| origin_check.allow_origin(origin)).map_err(wrong)?;
        self.allow_host.iter().try_for_each(|host| origin_check.allow_host(host)).map_err(wrong)?;
        Ok(origin_check)
    }
}

/// Returns the callers of the configuration; none if it is not accepted.
fn configured(project: Option<&Project>) -> Result<Callers, Failure> {
    let mut callers = Callers::default();
    let Some(project) = project.filter(|project| !project.config().serve.callers.is_empty()) else {
        return Ok(callers);
    };
    if let Some(obstacle) = project.acceptance().and_then(|acceptance| acceptance.obstacle()) {
        terminal::warn(&format!("the callers of the configuration are refused: {obstacle}"));
        return Ok(callers);
    }
    for (name, caller) in &project.config().serve.callers {
        let place = format!("{}: $.serve.callers.{name}", project.config().file);
        let token = token::of(&caller.token, project, &place)?;
        let known = Caller { name: Some(name.clone()), scopes: caller.scopes.clone(), ..Caller::default() };
        let client = Client::named(name, known);
        let client = if caller.may_approve { client.approving() } else { client };
        let client = match &caller.tenant {
            Some(tenant) => client.of_tenant(tenant),
            None => client,
        };
        callers
            .add(token, client)
            .map_err(|error| refused(format!("{place}: {error}"), "give each caller a token of their own"))?;
    }
    Ok(callers)
}

fn refused(message: String, hint: &str) -> Failure {
    Failure::new(Code::ConfigUsage, message, Some(hint))
}
