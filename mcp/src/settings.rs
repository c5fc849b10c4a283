//! All that must be known to reach a server.

use crate::secrets::Secret;
use agent_spaces_confine::Profile;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How long a call may take where nothing else is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long connecting may take where nothing else is said. Packages may have to be fetched first.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// The largest message that is taken from a server where nothing else is said.
pub const DEFAULT_MAX_MESSAGE: usize = 16 << 20;

/// One server, ready to be reached: every `${VAR}` is filled in.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Its name in the configuration: `slack`.
    pub name: String,
    /// Where it is.
    pub endpoint: Endpoint,
    /// How long connecting may take, the handshake included.
    pub connect_timeout: Duration,
    /// How long one call may take.
    pub timeout: Duration,
    /// How long one call of these tools may take, by the tool's own name.
    pub tool_timeouts: BTreeMap<String, Duration>,
    /// With progress from the server a call may take this long instead.
    pub progress_timeout: Option<Duration>,
    /// The largest message that is taken from it, in bytes.
    pub max_message: usize,
    /// Folders that it is told of when it asks for roots; without any it is refused.
    pub roots: Vec<PathBuf>,
    /// What to do when it asks the user something.
    pub elicitation: Elicitation,
    /// Which protocol it speaks, where the configuration says so.
    pub protocol: Protocol,
    /// Which protocol it spoke before: tried first.
    pub expected: Protocol,
}

/// Where a server is.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// A child process, spoken to over its standard input and output.
    Stdio(StdioEndpoint),
    /// Streamable HTTP.
    Http(RemoteEndpoint),
    /// The older HTTP with server-sent events.
    Sse(RemoteEndpoint),
    /// A WebSocket.
    WebSocket(RemoteEndpoint),
}

/// A program to start.
#[derive(Clone, Debug)]
pub struct StdioEndpoint {
    /// The program, looked up in `PATH` unless it is a path. Never a shell's line.
    pub program: String,
    /// Its arguments.
    pub args: Vec<Secret>,
    /// Variables of its environment, beside the safe base set.
    pub env: BTreeMap<String, Secret>,
    /// The folder to start it in.
    pub cwd: Option<PathBuf>,
    /// What it may reach, where that is limited. A program that cannot be confined so is not started.
    pub confine: Option<Profile>,
}

/// A server somewhere else.
#[derive(Clone, Debug)]
pub struct RemoteEndpoint {
    /// Its address.
    pub url: Secret,
    /// Headers of every request, valid as such.
    pub headers: BTreeMap<String, Secret>,
    /// How to say who we are.
    pub auth: Auth,
}

/// How a remote server is told who we are.
#[derive(Clone, Debug, Default)]
pub enum Auth {
    /// By the tokens of an earlier login, if there are any.
    #[default]
    OAuth,
    /// As OAuth, with what the configuration says about this client.
    OAuthClient(OAuthClient),
    /// A bearer token.
    Bearer(BearerSource),
    /// Not at all: a 401 is an error.
    None,
}

/// A client that is registered with the authorization server beforehand.
#[derive(Clone, Debug, Default)]
pub struct OAuthClient {
    /// Its id.
    pub client_id: Option<String>,
    /// Its secret, where it has one.
    pub client_secret: Option<Secret>,
    /// The scopes to ask for, instead of what the server names.
    pub scopes: Vec<String>,
}

/// Where a bearer token comes from, each time a connection is opened.
#[derive(Clone, Debug)]
pub enum BearerSource {
    /// It is known.
    Token(Secret),
    /// The trimmed contents of a file.
    File(PathBuf),
    /// The trimmed output of a program. Its variables are the safe base set alone.
    Command(StdioEndpoint),
}

/// What to do when a server asks the user something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elicitation {
    /// Refuse.
    #[default]
    Refuse,
    /// Accept with the defaults that the question itself gives.
    Defaults,
}

/// Which generation of the protocol is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Find out.
    #[default]
    Auto,
    /// A session that begins with `initialize`: 2025-11-25 and before.
    Session,
    /// Self-contained requests: 2026-07-28.
    Stateless,
}

impl Protocol {
    /// The generation that a version of the protocol belongs to.
    pub fn of_version(version: &str) -> Protocol {
        // Versions are dates.
        if version < "2026-07-28" { Protocol::Session } else { Protocol::Stateless }
    }
}

impl ServerSettings {
    /// Settings with every default.
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

    /// How long a call of a tool may take.
    pub fn timeout_of(&self, tool: &str) -> Duration {
        self.tool_timeouts.get(tool).copied().unwrap_or(self.timeout)
    }
}
