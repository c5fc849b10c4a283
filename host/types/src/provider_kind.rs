//! Kinds of providers.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Kind of provider. Only registries and audits distinguish kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ProviderKind {
    /// Rust handler of the program that hosts the space.
    Native,
    /// TypeScript handler in a sandbox of its own.
    TypeScript,
    /// MCP server.
    Mcp,
    /// HTTP requests.
    Http,
    /// Command executed for each call.
    Command,
    /// Wasm component.
    Component,
    /// Script run in a space.
    Space,
    /// Agent: a model that answers with tools.
    Agent,
}

impl fmt::Display for ProviderKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            ProviderKind::Native => "native",
            ProviderKind::TypeScript => "typescript",
            ProviderKind::Mcp => "mcp",
            ProviderKind::Http => "http",
            ProviderKind::Command => "command",
            ProviderKind::Component => "component",
            ProviderKind::Space => "space",
            ProviderKind::Agent => "agent",
        })
    }
}
