//! Capability definitions as parsed from a source: the output of every parser in [`crate::sources`].
//!
//! Schemas are still in the source's dialect; [`crate::schema`] normalizes them.

use crate::implementation::Implementation;
pub use agent_spaces_types::rate_limit::{Period, RateLimit};
use agent_spaces_types::server_part::ServerPart;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// A named group of functions with schemas, owned by one provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// As the source has it: `trainSchedule`, `slack`, `get_weather`.
    pub name: String,
    /// Description of its purpose.
    pub description: String,
    /// Version stated in the definition. A server's own version is ignored.
    pub version: Option<String>,
    /// Kind of source it came from.
    pub source: SourceKind,
    /// Owner, if the source states one.
    pub owner: Option<String>,
    /// Tags, which apply to all its functions.
    pub tags: Vec<String>,
    /// Functions with unique names; at least one, unless an MCP server has only resources or prompts.
    pub functions: Vec<FunctionDefinition>,
    /// Settings of all functions, unless a function overrides them.
    pub config: Config,
    /// Place of the definition.
    pub place: Place,
    /// Warnings: what was tolerated or left out.
    pub notes: Vec<Note>,
    /// A source of one bare function (`get_weather`): its module exports the function itself.
    pub is_single_function: bool,
    /// True if it is written in one of this project's own formats, where misspelt keywords in schemas are errors. In
    /// third-party formats they are warnings, since the user cannot fix them.
    pub is_own_format: bool,
    /// Features of an MCP server besides tools.
    pub server: Option<ServerExtras>,
    /// The Wasm component that exports its interface, as a path from the definition's file.
    pub component: Option<String>,
}

/// Features that an MCP server announces besides tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerExtras {
    /// The server's usage instructions, added to the capability's documentation.
    pub instructions: Option<String>,
    /// True if it offers resources.
    pub has_resources: bool,
    /// True if it offers prompts.
    pub has_prompts: bool,
}

impl ServerExtras {
    /// The parts that the server offers, in a fixed order.
    pub fn parts(&self) -> impl Iterator<Item = ServerPart> {
        let all = [(self.has_resources, ServerPart::Resources), (self.has_prompts, ServerPart::Prompts)];
        all.into_iter().filter_map(|(has, part)| has.then_some(part))
    }
}

/// One function of a capability, as parsed from its source.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDefinition {
    /// Name sent to the provider.
    pub name: String,
    /// A title for people.
    pub title: Option<String>,
    /// Description.
    pub description: String,
    /// JSON Schema of the parameters (an object), not yet normalized.
    pub parameters: Value,
    /// JSON Schema of the result, if the source has one; not yet normalized.
    pub returns: Option<Value>,
    /// True if the provider wraps the result as `{"result": …}` and `returns` is what is inside.
    pub is_result_wrapped: bool,
    /// Side-effect hints of the source. They may only tighten a policy.
    pub annotations: Annotations,
    /// Tags, in addition to the capability's.
    pub tags: Vec<String>,
    /// Settings that override the capability's.
    pub config: Config,
    /// Implementation, if the definition declares one.
    pub implementation: Option<Implementation>,
    /// Place of the definition.
    pub place: Place,
}

/// Kind of source of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// A tool definition in JSON or TypeScript.
    Tool,
    /// An MCP server's tool list.
    Mcp,
    /// A library or an OpenAPI document.
    Sdk,
}

/// A file and a place in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// File name as given.
    pub file: String,
    /// A JSON path: `$.functions[0].parameters`.
    pub path: String,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.file, self.path)
    }
}

/// Warning with its place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Place in the source.
    pub place: Place,
    /// The change, or the ignored part, with the reason.
    pub message: String,
}

/// Approval, rate limit and scopes of a function or capability.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// True if a person must approve each call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_approval: Option<bool>,
    /// Text of the approval request; `{{name}}` is replaced by a parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_message: Option<String>,
    /// Rate limit of its calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    /// Scopes that a caller needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

/// MCP's hints about a tool's effects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "MCP's own names")]
pub struct Annotations {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}
