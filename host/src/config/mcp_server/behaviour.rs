//! How a connection to a server behaves: settings that are one word of a few.

use super::super::reader::{Node, Result};

/// Who shares one connection to a server. Never two callers, whatever it says.
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

/// What to do when a server asks the user something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elicitation {
    /// Refuse.
    #[default]
    Refuse,
    /// Accept with the defaults that the question itself gives.
    Defaults,
}

/// Which generation of the protocol a server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Find out.
    #[default]
    Auto,
    /// A session that begins with `initialize`.
    Session,
    /// Requests that each stand for themselves.
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
