//! Connection settings of a server.

use agent_spaces_process::ProcessSpec;
use agent_spaces_secrets::Secret;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Default timeout of a call.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Default timeout of connecting. Long enough for a package to be downloaded first.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// Default size limit of a message from a server.
pub const DEFAULT_MAX_MESSAGE: usize = 16 << 20;

/// Settings of one server, with every `${VAR}` expanded.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Name in the configuration: `slack`.
    pub name: String,
    /// Program or address of the server.
    pub endpoint: Endpoint,
    /// Timeout of connecting, including the handshake.
    pub connect_timeout: Duration,
    /// Timeout of one call.
    pub timeout: Duration,
    /// Timeouts of single tools, by the server's name of the tool.
    pub tool_timeouts: BTreeMap<String, Duration>,
    /// Timeout of a call for which the server reports progress.
    pub progress_timeout: Option<Duration>,
    /// Size limit of a message from the server, in bytes.
    pub max_message: usize,
    /// Folders returned for `roots/list`; if empty, the request is refused.
    pub roots: Vec<PathBuf>,
    /// Answer to elicitation requests.
    pub elicitation: Elicitation,
    /// Protocol generation set in the configuration.
    pub protocol: Protocol,
    /// Protocol generation that the server spoke before: tried first.
    pub expected: Protocol,
}

/// Program or address of a server.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// Child process, over its standard input and output.
    Stdio(ProcessSpec),
    /// Streamable HTTP.
    Http(RemoteEndpoint),
    /// HTTP+SSE (protocol 2024-11-05).
    Sse(RemoteEndpoint),
    /// WebSocket.
    WebSocket(RemoteEndpoint),
}

/// Remote server.
#[derive(Clone, Debug)]
pub struct RemoteEndpoint {
    /// URL of the server.
    pub url: Secret,
    /// Headers sent with every request.
    pub headers: BTreeMap<String, Secret>,
    /// Authentication method.
    pub auth: Auth,
}

/// Authentication method for a remote server.
#[derive(Clone, Debug, Default)]
pub enum Auth {
    /// OAuth tokens of an earlier login, if there are any.
    #[default]
    OAuth,
    /// OAuth with a client from the configuration.
    OAuthClient(OAuthClient),
    /// Bearer token.
    Bearer(BearerSource),
    /// No authentication: a 401 is an error.
    None,
}

/// Client registered with the authorization server beforehand.
#[derive(Clone, Debug, Default)]
pub struct OAuthClient {
    /// Client id.
    pub client_id: Option<String>,
    /// Client secret, if it has one.
    pub client_secret: Option<Secret>,
    /// Scopes to request, instead of those that the server names.
    pub scopes: Vec<String>,
}

/// Source of a bearer token, read each time a connection is opened.
#[derive(Clone, Debug)]
pub enum BearerSource {
    /// The token itself.
    Token(Secret),
    /// Trimmed contents of a file.
    File(PathBuf),
    /// Trimmed output of a program. Its environment is the safe base set only.
    Command(ProcessSpec),
}

/// Answer to elicitation requests of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elicitation {
    /// Refuse.
    #[default]
    Refuse,
    /// Accept with the defaults of the requested schema.
    Defaults,
}

/// Protocol generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Detect it.
    #[default]
    Auto,
    /// Session that begins with `initialize`: 2025-11-25 and earlier.
    Session,
    /// Self-contained requests: 2026-07-28.
    Stateless,
}

impl Protocol {
    /// Returns the generation of a protocol version.
    pub fn of_version(version: &str) -> Protocol {
        // Versions are dates.
        if version < "2026-07-28" { Protocol::Session } else { Protocol::Stateless }
    }
}

impl ServerSettings {
    /// Creates settings with all defaults.
    pub fn new(name: impl Into<String>, endpoint: Endpoint) -> ServerSettings {
        ServerSettings {
            name: name.into(),
            endpoint,
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            timeout: DEFAULT_TIMEOUT,
            tool_timeouts: BTreeMap::new(),
            progress_timeout: None,
            max_message: DEFAULT_MAX_MESSAGE,
            roots: Vec::new(),
            elicitation: Elicitation::default(),
            protocol: Protocol::default(),
            expected: Protocol::default(),
        }
    }

    /// Returns the timeout of a tool.
    pub fn timeout_of(&self, tool: &str) -> Duration {
        self.tool_timeouts.get(tool).copied().unwrap_or(self.timeout)
    }
}
