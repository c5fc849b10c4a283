//! What answers a function, where its definition says that itself.
//!
//! Templates have `{{name}}` for a parameter. They say what is sent or started; what it is given for that
//! (credentials, hosts, variables) is the configuration's to say, never the definition's.

mod command;
mod http;

pub use command::{CommandArgument, CommandInput, CommandOutput, CommandTemplate, ExitMeaning};
pub use http::{
    CONNECTION_HEADERS, HttpBody, HttpContent, HttpError, HttpMember, HttpNext, HttpOperation, HttpPages,
    HttpPathStyle, HttpResponse, HttpStyle,
};

use serde::{Deserialize, Serialize};
use std::fmt;

/// Codes that only the host gives begin like this: what answers a call cannot pretend that the script itself reached a
/// limit.
pub const RESERVED_CODES: [&str; 6] = ["script.", "import.", "limit.", "run.", "host.", "config."];

/// What answers a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Implementation {
    /// A request to a web server.
    Http(Box<HttpOperation>),
    /// A program that is started for each call.
    Command(CommandTemplate),
    /// A script that runs in a space.
    Script(ScriptReference),
}

/// A script whose default export answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScriptReference {
    /// The script, as a path from the definition's file.
    pub file: String,
    /// The space that it runs in; what all scripts have, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
}

/// What kind of thing answers a function. Nothing but registries and audits tells kinds apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
