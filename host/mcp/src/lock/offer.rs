//! Conversion of what a server offers to a lock entry, with size limits.

use super::package::package_of;
use super::server::{LockedEndpoint, LockedServer, ServerIdentity, name_of};
use crate::trace::one_line;
use agent_spaces_secrets::Redactor;
use serde_json::{Map, Value, json};

/// Limit on tools, and on prompts, of a server.
pub const MAX_TOOLS: usize = 5_000;
/// Length limit of a description or of instructions, in bytes; longer ones are truncated.
pub const MAX_DESCRIPTION: usize = 64 << 10;
/// Length limit of the name and version that a server reports.
const MAX_IDENTITY: usize = 256;
/// Size limits of one tool as JSON, and of all tools of a server.
const MAX_TOOL: usize = 1 << 20;
const MAX_SERVER: usize = 8 << 20;
/// Nesting limit of a tool. The file nests it a little deeper, and must remain parseable.
const MAX_DEPTH: usize = 64;

/// Members of a tool that are kept, in the order of the file. `requiresApproval` is not part of MCP and can only tighten.
const TOOL_MEMBERS: [&str; 7] =
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "requiresApproval"];
const PROMPT_MEMBERS: [&str; 4] = ["name", "title", "description", "arguments"];

/// Everything a server offers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offer<'a> {
    /// Name and version that it reports.
    pub identity: Option<&'a ServerIdentity>,
    /// Protocol version.
    pub protocol: Option<&'a str>,
    /// Instructions for models.
    pub instructions: Option<&'a str>,
    /// True if it has resources.
    pub has_resources: bool,
    /// Its tools from all pages of `tools/list`, as it sent them.
    pub tools: &'a [Value],
    /// Its prompts from all pages of `prompts/list`, as it sent them.
    pub prompts: &'a [Value],
}

/// Error in what a server offers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OfferError {
    /// Too many tools or prompts.
    #[error("it has {count} {what}s (limit {MAX_TOOLS}); configure it to offer fewer")]
    TooMany {
        /// A tool or prompt.
        what: &'static str,
        /// Their number.
        count: usize,
    },
    /// An item without a name.
    #[error("{what} number {} has no name; report this to the author of the server", .index + 1)]
    NoName {
        /// A tool or prompt.
        what: &'static str,
        /// Its index, from 0.
        index: usize,
    },
    /// Two items with the same name.
    #[error("it has two {what}s named `{name}`; report this to the author of the server")]
    Twice {
        /// A tool or prompt.
        what: &'static str,
        /// Their name.
        name: String,
    },
    /// An item that is too large or nested too deeply.
    #[error("its {what} `{name}` {problem}; report this to the author of the server")]
    Unreasonable {
        /// A tool or prompt.
        what: &'static str,
        /// Its name.
        name: String,
        /// The fault.
        problem: String,
    },
    /// The total size is over the limit.
    #[error("its tools and prompts take more than {MAX_SERVER} bytes; configure it to offer fewer")]
    TooLarge,
}

impl LockedServer {
    /// Creates the lock entry for what a server offers: redacts secrets, drops unknown members, truncates texts.
    pub fn of(endpoint: LockedEndpoint, offer: &Offer<'_>, redactor: &Redactor) -> Result<LockedServer, OfferError> {
        let package = match &endpoint {
            LockedEndpoint::Stdio { command, args } => package_of(command, args),
            LockedEndpoint::Remote { .. } => None,
        };
        let mut left = MAX_SERVER;
        let tools = take(offer.tools, "tool", tool, &mut left, redactor)?;
        let prompts = take(offer.prompts, "prompt", |prompt| kept(prompt, &PROMPT_MEMBERS), &mut left, redactor)?;
        let short = |text: &str| cut(&redactor.text(text), MAX_IDENTITY);
        Ok(LockedServer {
            endpoint,
            package,
            server: offer.identity.map(|identity| ServerIdentity {
                name: short(&identity.name),
                version: short(&identity.version),
                title: identity.title.as_deref().map(short),
            }),
            protocol: offer.protocol.map(short),
            instructions: offer.instructions.map(|text| cut(&redactor.text(text), MAX_DESCRIPTION)),
            has_resources: offer.has_resources,
            prompts,
            tools,
        })
    }
}

fn take(
    items: &[Value],
    what: &'static str,
    keep: impl Fn(&Value) -> Map<String, Value>,
    left: &mut usize,
    redactor: &Redactor,
) -> Result<Vec<Value>, OfferError> {
    if items.len() > MAX_TOOLS {
        return Err(OfferError::TooMany { what, count: items.len() });
    }
    let mut taken = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        // Redact before truncating: half a secret would not be found.
        let mut item = item.clone();
        redactor.value(&mut item);
        let item = Value::Object(keep(&item));
        let name = shown_name(&item);
        if name.is_empty() {
            return Err(OfferError::NoName { what, index });
        }
        if is_deeper(&item, MAX_DEPTH) {
            let problem = format!("is nested more than {MAX_DEPTH} levels deep");
            return Err(OfferError::Unreasonable { what, name, problem });
        }
        let size = item.to_string().len();
        if size > MAX_TOOL {
            let problem = format!("takes more than {MAX_TOOL} bytes");
            return Err(OfferError::Unreasonable { what, name, problem });
        }
        *left = left.checked_sub(size).ok_or(OfferError::TooLarge)?;
        taken.push(item);
    }
    taken.sort_by(|one, other| name_of(one).cmp(name_of(other)));
    match taken.array_windows().find(|[one, other]| name_of(one) == name_of(other)) {
        Some([twice, _]) => Err(OfferError::Twice { what, name: shown_name(twice) }),
        None => Ok(taken),
    }
}

/// Returns the kept members of a tool. Of `_meta` only the audience is kept: it decides whether agents see the tool.
fn tool(raw: &Value) -> Map<String, Value> {
    let mut tool = kept(raw, &TOOL_MEMBERS);
    if let Some(visibility) = raw.pointer("/_meta/ui/visibility") {
        tool.insert("_meta".to_owned(), json!({ "ui": { "visibility": visibility } }));
    }
    tool
}

/// Returns these members in this order, without nulls.
fn kept(raw: &Value, members: &[&str]) -> Map<String, Value> {
    let mut kept = Map::new();
    for member in members {
        match raw.get(member) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) if *member == "description" => {
                kept.insert((*member).to_owned(), cut(text, MAX_DESCRIPTION).into());
            }
            Some(value) => {
                kept.insert((*member).to_owned(), value.clone());
            }
        }
    }
    kept
}

/// Truncates text to about `limit` bytes. Its full length is appended, so that a change of the rest may still show.
fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let start = text.get(..text.floor_char_boundary(limit)).unwrap_or_default();
    format!("{start}… [cut: {} bytes in all]", text.len())
}

/// Returns the name as errors show it.
fn shown_name(item: &Value) -> String {
    one_line(&cut(name_of(item), MAX_IDENTITY))
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(members) => levels == 0 || members.values().any(|member| is_deeper(member, levels - 1)),
        _ => false,
    }
}

#[cfg(test)]
#[path = "offer_tests.rs"]
mod tests;
