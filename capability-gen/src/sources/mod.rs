//! Tool definitions as people and servers write them, one parser to a format: text → [`Definition`].
//!
//! ```text
//! detect      which format a document is in
//! tool        the project's own: a capability with functions and configuration
//! openai      function tools, bare or wrapped
//! anthropic   tools with an `input_schema`
//! mcp         what a server answers to `tools/list`
//! flat        parameters as a plain map of names; also what the other formats use to read such maps
//! openapi/    OpenAPI 3.0 and 3.1 documents
//!
//! document    text → value, by the file's name
//! json        text → value, refusing what JSON parsers drop in silence
//! node        a value and its place, so that every error can name it
//! listed      one bare function or a list of them
//! function    one function's own keys
//! config      approvals, rate limits, scopes
//! command     programs that are started for each call
//! parameters  templates whose placeholders must be parameters
//! implementation, http/    what answers a function
//! tags        words by which functions are sorted
//! collect     functions of one capability: unique names
//! ```
//!
//! Schemas stay as they were found, except where a format has no JSON Schema of its own (flat maps, OpenAPI
//! operations) or where a server wraps its result. Reading them is for [`crate::schema`].

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

/// The largest document that is read. The largest tool list seen is 0.3 MiB and OpenAPI documents of big services
/// have 1 to 7 MiB; what is read grows to several times its size in memory.
pub const MAX_SOURCE_BYTES: usize = 8 * 1024 * 1024;

/// The largest OpenAPI document of which some operations are selected. That of GitHub has 12 MiB, the largest seen are
/// twice that.
pub const MAX_SELECTED_BYTES: usize = 32 * 1024 * 1024;

/// The most functions in one document. The largest services have about 2,000; each becomes types, stubs and schemas
/// in every output.
pub const MAX_FUNCTIONS: usize = 10_000;

/// The longest name of a capability or function. MCP's limit is 128, and every name gets a short one besides its own;
/// this is only so that a document of names alone cannot fill every message.
pub const MAX_NAME_BYTES: usize = 64 * 1024;

/// A document with tool definitions.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// As errors should name it.
    pub file: &'a str,
    /// Its content.
    pub text: &'a str,
    /// The server's name or the file's stem: what a capability is called where the format has no name for it.
    /// The stem of `file` when absent.
    pub name: Option<&'a str>,
    /// Found out from the content when absent.
    pub format: Option<Format>,
}

/// How tools are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `{name, description, version, functions, config}`, or an array of these.
    Tool,
    /// `{name, description, parameters}`, bare, wrapped as `{type: "function", function}`, or an array of these.
    OpenAi,
    /// `{name, description, input_schema}` or an array of these.
    Anthropic,
    /// What an MCP server answers to `tools/list`.
    Mcp,
    /// `{name, description, parameters: {message: {type: "string"}}}` or an array of these.
    Flat,
    /// An OpenAPI 3.0 or 3.1 document.
    OpenApi,
}

/// Reads a document.
///
/// Where no format is given it is the first of these that holds:
///
/// 1. `openapi` or `swagger`: OpenAPI.
/// 2. `functions`, or something one slip of the pen away: the tool format; so is a list of such tools.
/// 3. `jsonrpc`, `result` or `nextCursor`: MCP.
/// 4. A function, or a list of them as an array or under `tools`. The first element that shows its format decides, and
///    any that shows MCP's decides for all: `inputSchema`: MCP; `input_schema`: Anthropic; a `parameters` that is
///    a plain map of names: flat; another `parameters`: OpenAI; `outputSchema`, `annotations` or `title`: MCP;
///    `function` or `type: "function"`: OpenAI; another `type`: Anthropic.
///    A list under `tools` in which nothing shows is MCP's; a function or an array in which nothing shows is OpenAI's
///    (functions without parameters).
///
/// A tool list with the legacy `parameters` and nothing else of MCP looks like OpenAI's: whoever knows better gives
/// the format.
///
/// Names that are empty or blank are refused, since nobody could call them; so are two functions of one name.
/// An MCP server without tools, resources and prompts gives no definition; every other source has at least one function or is refused.
///
/// # Errors
///
/// The first thing that is wrong, with its place and what to do.
pub fn parse(source: &Source<'_>) -> Result<Vec<Definition>, SourceError> {
    parse_selected(source, &OperationFilter::default())
}

/// The same of an OpenAPI document, whose selected operations become functions. Such a document may be larger.
///
/// # Errors
///
/// As [`parse`]'s; also where it is another document, and where a pattern selects nothing.
pub fn parse_selected(source: &Source<'_>, filter: &OperationFilter) -> Result<Vec<Definition>, SourceError> {
    let most = if filter.is_empty() { MAX_SOURCE_BYTES } else { MAX_SELECTED_BYTES };
    let value = document::read(source.file, source.text, most)?;
    parse_known(source.file, &value, (source.name, source.format), filter)
}

/// Reads a document that is JSON already, such as a live server's answer. See [`parse`].
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
