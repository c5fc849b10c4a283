//! The kinds of providers.

use serde::Serialize;
use std::fmt;

/// What kind of thing answers a function. Nothing but registries and audits tells kinds apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// Rust of the program that hosts the space.
    Native,
    /// Handlers in TypeScript, in a sandbox of their own.
    TypeScript,
    /// An MCP server.
    Mcp,
    /// Requests to a web server.
    Http,
    /// A program that is started for each call.
    Command,
    /// A Wasm component.
    Component,
    /// A script that runs in a space.
    Space,
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
        })
    }
}
