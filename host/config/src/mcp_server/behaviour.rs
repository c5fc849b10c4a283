//! Connection settings of an MCP server: scope, elicitation, protocol.

use super::super::reader::{Node, Result};

/// Sharing of one connection to a server. Callers never share one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// One run.
    Run,
    /// All runs of one caller.
    Caller,
    /// All runs of one caller in one space.
    #[default]
    Space,
    /// Everything in the host that belongs to one caller.
    Host,
}

/// Answer to a server's elicitation requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elicitation {
    /// Refuse.
    #[default]
    Refuse,
    /// Accept with the defaults of the request.
    Defaults,
}

/// Protocol generation of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Detected.
    #[default]
    Auto,
    /// Session that begins with `initialize`.
    Session,
    /// Independent requests.
    Stateless,
}

impl Scope {
    pub(super) fn read(node: Node<'_>) -> Result<Scope> {
        let scopes = [("run", Scope::Run), ("caller", Scope::Caller), ("space", Scope::Space), ("host", Scope::Host)];
        node.choice("scope", &scopes)
    }
}

impl Elicitation {
    pub(super) fn read(node: Node<'_>) -> Result<Elicitation> {
        node.choice("elicitation", &[("refuse", Elicitation::Refuse), ("defaults", Elicitation::Defaults)])
    }
}

impl Protocol {
    pub(super) fn read(node: Node<'_>) -> Result<Protocol> {
        let protocols = [("auto", Protocol::Auto), ("session", Protocol::Session), ("stateless", Protocol::Stateless)];
        node.choice("protocol", &protocols)
    }
}
