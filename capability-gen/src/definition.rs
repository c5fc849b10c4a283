//! A capability as its source has it: what every parser in [`crate::sources`] gives.
//!
//! Schemas are still as they were found; [`crate::schema`] reads them.

use crate::implementation::Implementation;
use crate::server::ServerPart;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// A named group of functions with schemas, owned by one provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// As the source has it: `trainSchedule`, `slack`, `get_weather`.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// From the definition; servers do not choose it.
    pub version: Option<String>,
    /// What kind of source it came from.
    pub source: SourceKind,
    /// Who owns it, where the source says.
    pub owner: Option<String>,
    /// Words by which people sort it; they hold for all its functions.
    pub tags: Vec<String>,
    /// At least one, unless a server has something else; names unique.
    pub functions: Vec<FunctionDefinition>,
    /// Holds for all functions unless one says otherwise.
    pub config: Config,
    /// Where it was found.
    pub place: Place,
    /// What was tolerated or left out on the way.
    pub notes: Vec<Note>,
    /// A source of one bare function (`get_weather`): its module exports the function itself.
    pub is_single_function: bool,
    /// Whether it is written in a format of this project's, in whose schemas slips are errors. In those of others they
    /// are notes: whoever uses them cannot mend them.
    pub is_own_format: bool,
    /// What an MCP server has besides its tools.
    pub server: Option<ServerExtras>,
    /// The Wasm component that exports its interface, as a path from the definition's file.
    pub component: Option<String>,
}

/// What an MCP server says when it is first asked, besides its tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerExtras {
    /// How to use it: part of the capability's documentation.
    pub instructions: Option<String>,
    /// Whether it offers resources.
    pub has_resources: bool,
    /// Whether it offers prompts.
    pub has_prompts: bool,
}

impl ServerExtras {
    /// The parts that it has, in a fixed order.
    pub fn parts(&self) -> impl Iterator<Item = ServerPart> {
        let all = [(self.has_resources, ServerPart::Resources), (self.has_prompts, ServerPart::Prompts)];
        all.into_iter().filter_map(|(has, part)| has.then_some(part))
    }
}

/// One operation of a capability, as its source has it.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDefinition {
    /// The name that goes on the wire.
    pub name: String,
    /// A title for people.
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// JSON Schema of the parameters, an object's; as found.
    pub parameters: Value,
    /// JSON Schema of the result, where the source has one; as found.
    pub returns: Option<Value>,
    /// Whether the provider wraps the result as `{"result": …}` and `returns` is what is inside.
    pub is_result_wrapped: bool,
    /// What the source says of its effects. Hints: they may only tighten a policy.
    pub annotations: Annotations,
    /// Words by which people sort it, beside the capability's.
    pub tags: Vec<String>,
    /// Overrides the capability's.
    pub config: Config,
    /// What answers it, where the definition says that itself.
    pub implementation: Option<Implementation>,
    /// Where it was found.
    pub place: Place,
}

/// Where a definition came from.
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
    /// The file as it was named.
    pub file: String,
    /// A JSON path: `$.functions[0].parameters`.
    pub path: String,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.file, self.path)
    }
}

/// Something a reader should know that stops nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Where.
    pub place: Place,
    /// What was done, and why.
    pub message: String,
}

/// What is asked before and counted at each call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// Whether a person must approve each call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_approval: Option<bool>,
    /// What the person is asked; `{{name}}` stands for a parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_message: Option<String>,
    /// How often it may be called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    /// Scopes that a caller must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

/// So many requests in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// At least one.
    pub requests: u64,
    /// In which time.
    pub period: Period,
}

/// The period of a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Period {
    Second,
    Minute,
    Hour,
    Day,
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
