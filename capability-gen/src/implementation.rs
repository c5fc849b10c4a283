//! Implementations declared in a definition: HTTP request, command or script.
//!
//! Templates use `{{name}}` for a parameter. A definition says what is sent or started; credentials, allowed hosts and
//! environment variables come only from the configuration.

mod command;
mod http;

pub use command::{CommandArgument, CommandInput, CommandOutput, CommandTemplate, ExitMeaning};
pub use http::{
    CONNECTION_HEADERS, HttpBody, HttpContent, HttpError, HttpMember, HttpNext, HttpOperation, HttpPages,
    HttpPathStyle, HttpResponse, HttpStyle,
};

pub use agent_spaces_types::provider_kind::ProviderKind;
use serde::{Deserialize, Serialize};

/// Prefixes of error codes reserved for the host, so that a provider cannot pretend that the script reached a limit.
pub const RESERVED_CODES: [&str; 6] = ["script.", "import.", "limit.", "run.", "host.", "config."];

/// Implementation of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Implementation {
    /// HTTP request.
    Http(Box<HttpOperation>),
    /// Program started for each call.
    Command(CommandTemplate),
    /// A script that runs in a space.
    Script(ScriptReference),
}

/// Script whose default export implements the function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScriptReference {
    /// The script, as a path from the definition's file.
    pub file: String,
    /// The space that it runs in; the capabilities of all scripts if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
}
