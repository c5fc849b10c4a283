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

/// Prefixes of error codes reserved for the host, so that a provider cannot pretend that the script reached a limit, or
/// that the host refused the call.
pub const RESERVED_CODES: [&str; 9] = [
    "script.",
    "import.",
    "limit.",
    "run.",
    "host.",
    "config.",
    "call.denied",
    "call.approval_",
    "call.audit_unavailable",
];

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

#[cfg(test)]
mod tests {
    use super::RESERVED_CODES;
    use agent_spaces_types::code::Code;

    /// Of the codes of calls, those that the host alone decides are reserved; providers share the others.
    #[test]
    fn refusals_of_the_host_are_reserved() {
        for code in Code::ALL {
            let is_reserved = RESERVED_CODES.iter().any(|prefix| code.as_str().starts_with(prefix));
            let is_shared = code.as_str().starts_with("call.") && !code.is_refusal();
            assert_eq!(is_reserved, !is_shared, "{code}");
        }
    }
}
