//! Parsers of tool definitions, one per format: text → [`Definition`].
//!
//! ```text
//! detect      format detection
//! tool        the project's own: a capability with functions and configuration
//! openai      function tools, bare or wrapped
//! anthropic   tools with an `input_schema`
//! mcp         MCP `tools/list` results
//! flat        flat parameter maps, a format of their own and allowed in others
//! openapi/    OpenAPI 3.0 and 3.1 documents
//!
//! document    text → value, JSON or YAML by the file's extension
//! json        JSON parser that refuses duplicate keys
//! node        JSON value with its path, for errors
//! listed      one bare function or a list of functions
//! function    keys of one function
//! config      approvals, rate limits, scopes
//! command     programs started for each call
//! parameters  templates, checked against the function's parameters
//! implementation, http/    implementations of functions
//! tags        tags of functions
//! collect     functions of one capability, with unique names
//! ```
//!
//! Schemas are kept as found, except where a format has no JSON Schema of its own (flat maps, OpenAPI operations) or a
//! server wraps its result. [`crate::schema`] reads them.

mod anthropic;
mod collect;
mod command;
mod config;
pub mod define_tool;
mod detect;
mod document;
mod error;
mod flat;
mod function;
mod http;
mod implementation;
mod json;
mod listed;
mod mcp;
mod node;
mod openai;
mod openapi;
mod parameters;
mod tags;
mod tool;
mod version;
mod wrapped_result;

pub use error::SourceError;
pub use openapi::{OperationFilter, TOO_LARGE};
pub use wrapped_result::is_result_wrapped;

use crate::definition::Definition;
use node::Node;
use serde_json::Value;

/// Maximum size of a document. The largest tool list seen has 0.3 MiB, OpenAPI documents of big services have 1 to
/// 7 MiB; a parsed document takes several times its size in memory.
pub const MAX_SOURCE_BYTES: usize = 8 * 1024 * 1024;

/// Maximum size of an OpenAPI document with selected operations. GitHub's has 12 MiB, the largest seen are twice that.
pub const MAX_SELECTED_BYTES: usize = 32 * 1024 * 1024;

/// Maximum number of functions in one document. The largest services have about 2,000; each becomes types, stubs and
/// schemas in every output.
pub const MAX_FUNCTIONS: usize = 10_000;

/// Maximum length of the name of a capability or function. MCP's limit is 128, and every name gets a short identifier;
/// this only keeps names from filling every message.
pub const MAX_NAME_BYTES: usize = 64 * 1024;

/// A document with tool definitions.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// File name for errors.
    pub file: &'a str,
    /// Content.
    pub text: &'a str,
    /// Name of the capability if the format has none: the server's name or the file's stem. Defaults to the stem of
    /// `file`.
    pub name: Option<&'a str>,
    /// Format; detected from the content if absent.
    pub format: Option<Format>,
}

/// Format of tool definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `{name, description, version, functions, config}`, or an array of these.
    Tool,
    /// `{name, description, parameters}`, bare, wrapped as `{type: "function", function}`, or an array of these.
    OpenAi,
    /// `{name, description, input_schema}` or an array of these.
    Anthropic,
    /// MCP `tools/list` result.
    Mcp,
    /// `{name, description, parameters: {message: {type: "string"}}}` or an array of these.
    Flat,
    /// An OpenAPI 3.0 or 3.1 document.
    OpenApi,
}

/// Parses a document.
///
/// Without a given format, the first of these rules that matches decides:
///
/// 1. `openapi` or `swagger`: OpenAPI.
/// 2. `functions`, or a misspelling of it: the tool format; so is a list of such tools.
/// 3. `jsonrpc`, `result` or `nextCursor`: MCP.
/// 4. A function, or a list of them as an array or under `tools`. The first element that shows its format decides, and
///    any that shows MCP's decides for all: `inputSchema`: MCP; `input_schema`: Anthropic; a `parameters` that is
///    a plain map of names: flat; another `parameters`: OpenAI; `outputSchema`, `annotations` or `title`: MCP;
///    `function` or `type: "function"`: OpenAI; another `type`: Anthropic.
///    A list under `tools` in which nothing shows is MCP's; a function or an array in which nothing shows is OpenAI's
///    (functions without parameters).
///
/// A tool list with the legacy `parameters` and nothing else of MCP looks like OpenAI's; state the format to override.
///
/// Empty or blank names and duplicate functions are refused. An MCP server without tools, resources and prompts yields
/// no definition; every other source must have at least one function.
///
/// # Errors
///
/// The first error found, with its place and fix.
pub fn parse(source: &Source<'_>) -> Result<Vec<Definition>, SourceError> {
    parse_selected(source, &OperationFilter::default())
}

/// Parses an OpenAPI document, of which only the selected operations become functions. Such a document may be larger.
///
/// # Errors
///
/// As for [`parse`]; also if it is not an OpenAPI document, or if a pattern selects nothing.
pub fn parse_selected(source: &Source<'_>, filter: &OperationFilter) -> Result<Vec<Definition>, SourceError> {
    let most = if filter.is_empty() { MAX_SOURCE_BYTES } else { MAX_SELECTED_BYTES };
    let value = document::read(source.file, source.text, most)?;
    parse_known(source.file, &value, (source.name, source.format), filter)
}

/// Parses a document that is already JSON, such as the response of a running server. See [`parse`].
///
/// # Errors
///
/// As [`parse`]'s.
pub fn parse_value(
    file: &str,
    value: &Value,
    name: Option<&str>,
    format: Option<Format>,
) -> Result<Vec<Definition>, SourceError> {
    parse_known(file, value, (name, format), &OperationFilter::default())
}

fn parse_known(
    file: &str,
    value: &Value,
    (name, format): (Option<&str>, Option<Format>),
    filter: &OperationFilter,
) -> Result<Vec<Definition>, SourceError> {
    let root = Node::root(file, value);
    let name = name.unwrap_or_else(|| stem(file));
    let format = match format {
        Some(format) => format,
        None => detect::format(&root)?,
    };
    if !filter.is_empty() && format != Format::OpenApi {
        let message = "\"operations\" selects operations of an OpenAPI document, and this is none";
        return Err(root.error(message, "Remove \"operations\" from the configuration's entry."));
    }
    match format {
        Format::Tool => tool::parse(&root),
        Format::OpenAi => openai::parse(&root, name),
        Format::Anthropic => anthropic::parse(&root, name),
        Format::Mcp => mcp::parse(&root, name),
        Format::Flat => flat::parse(&root, name),
        Format::OpenApi => openapi::parse(&root, name, filter),
    }
}

fn stem(file: &str) -> &str {
    let last = file.rsplit(['/', '\\']).next().unwrap_or(file);
    match last.split_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => last,
    }
}
