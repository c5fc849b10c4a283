//! Source of the state of MCP servers, which the program around this crate implements.

use agent_spaces_project::mcp::ReviewedChange;
use std::pin::Pin;
use std::time::SystemTime;

/// Boxed future of an acceptance.
pub type Accepting<'a> = Pin<Box<dyn Future<Output = Result<(), AcceptError>> + Send + 'a>>;

/// MCP servers of the configuration.
pub trait ServerSource: Send + Sync + 'static {
    /// Returns the servers in the order of their names. Starts none, and waits for none. Blocks while changes are
    /// compared.
    fn servers(&self) -> Vec<ServerState>;

    /// Lists the tools of a server, and accepts them. `offer` is [`ServerState::offer`] of what its operator saw: another
    /// one is not accepted.
    ///
    /// # Errors
    /// The server does not answer, may not be started, or offers something else.
    fn accept<'a>(&'a self, name: &'a str, offer: Option<&'a str>) -> Accepting<'a>;
}

/// State of a server, as it was last seen.
#[derive(Clone, Debug)]
pub struct ServerState {
    /// Name.
    pub name: String,
    /// Configured spaces that have it; `None` is the space of the global capabilities.
    pub spaces: Vec<Option<String>>,
    /// `stdio`, `http`, `sse` or `websocket`.
    pub transport: &'static str,
    /// State.
    pub status: ServerStatus,
    /// Why it cannot be used.
    pub error: Option<ServerFault>,
    /// Number of its tools.
    pub tools: Option<usize>,
    /// Time at which it was last seen.
    pub checked_at: Option<SystemTime>,
    /// Hash of what it offers, if that is not what was accepted.
    pub offer: Option<String>,
    /// Changes since it was accepted.
    pub changes: Vec<ReviewedChange>,
}

/// State of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerStatus {
    /// A session is open.
    Connected,
    /// No session is open: the next call opens one.
    Idle,
    /// It did not start, or may not be started.
    Failed,
    /// It is not what was accepted: changed tools are refused until they are accepted.
    Changed,
    /// Somebody has to log in.
    NeedsLogin,
}

/// Reason why a server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerFault {
    /// For the operator: it may name files and commands.
    pub detail: String,
    /// For callers.
    pub brief: String,
}

/// Reason why a server was not accepted. The texts are for the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AcceptError {
    /// There is no such server.
    #[error("there is no such server")]
    Unknown,
    /// It may not be started: its configuration is not accepted, or it is switched off.
    #[error("{0}")]
    Refused(String),
    /// Somebody has to log in.
    #[error("{0}")]
    NeedsLogin(String),
    /// It does not answer, or what it offers cannot be accepted.
    #[error("{0}")]
    Failed(String),
    /// It offers something else than what its operator saw.
    #[error("its tools changed again")]
    Changed,
    /// The lock cannot be written, or the project cannot be loaded.
    #[error("{0}")]
    Host(String),
}
