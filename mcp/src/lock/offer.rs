//! What a server offers, brought into the bounds of the lock.

use super::package::package_of;
use super::server::{LockedEndpoint, LockedServer, ServerIdentity, name_of};
use crate::secrets::Redactor;
use crate::trace::one_line;
use serde_json::{Map, Value, json};

/// How many tools, and how many prompts, a server may have.
pub const MAX_TOOLS: usize = 5_000;
/// How much of a description or of instructions is kept, in bytes.
pub const MAX_DESCRIPTION: usize = 64 << 10;
/// How long the names and versions that a server gives itself may be.
const MAX_IDENTITY: usize = 256;
/// How large one tool may be as JSON, and all tools of a server.
const MAX_TOOL: usize = 1 << 20;
const MAX_SERVER: usize = 8 << 20;
/// How deep a tool may be nested. The file nests it a little deeper than the server did, and must be readable again.
const MAX_DEPTH: usize = 64;

/// What is kept of a tool, in the order in which it is written. `requiresApproval` is not MCP's, and only tightens.
const TOOL_MEMBERS: [&str; 7] =
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "requiresApproval"];
const PROMPT_MEMBERS: [&str; 4] = ["name", "title", "description", "arguments"];

/// What a server offers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offer<'a> {
    /// What it calls itself.
    pub identity: Option<&'a ServerIdentity>,
    /// The protocol that it speaks.
    pub protocol: Option<&'a str>,
    /// What it tells models about itself.
    pub instructions: Option<&'a str>,
    /// Whether it has resources.
    pub has_resources: bool,
    /// Its tools, of all pages of `tools/list`, as it sent them.
    pub tools: &'a [Value],
    /// Its prompts, of all pages of `prompts/list`, as it sent them.
    pub prompts: &'a [Value],
}

/// Why what a server offers cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OfferError {
    /// There is too much of it.
    #[error("it has {count} {what}s, and at most {MAX_TOOLS} are taken; let it offer fewer")]
    TooMany {
        /// A tool or prompt.
        what: &'static str,
        /// How many.
        count: usize,
    },
    /// One has no name.
    #[error("{what} number {} has no name; report this to the makers of the server", .index + 1)]
    NoName {
        /// A tool or prompt.
        what: &'static str,
        /// Which one, from 0.
        index: usize,
    },
    /// Two have the same name.
    #[error("it has two {what}s of the name `{name}`; report this to the makers of the server")]
    Twice {
        /// A tool or prompt.
        what: &'static str,
        /// Their name.
        name: String,
    },
    /// One is too large or too deep.
    #[error("its {what} `{name}` {problem}; report this to the makers of the server")]
    Unreasonable {
        /// A tool or prompt.
        what: &'static str,
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// All of it is too large.
    #[error("its tools and prompts take more than {MAX_SERVER} bytes; let it offer fewer")]
    TooLarge,
}

impl LockedServer {
    /// What a server offers, without secrets and in bounds: what is not known here is left out, texts are cut.
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
        // Without secrets first: half of one that is cut would not be known.
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

/// Of `_meta` only the audience is kept: it says whether agents see the tool at all.
fn tool(raw: &Value) -> Map<String, Value> {
    let mut tool = kept(raw, &TOOL_MEMBERS);
    if let Some(visibility) = raw.pointer("/_meta/ui/visibility") {
        tool.insert("_meta".to_owned(), json!({ "ui": { "visibility": visibility } }));
    }
    tool
}

/// These members in this order; null is the same as absent.
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

/// Text of about so many bytes at most. How long it was stays visible, so that a change of the rest is not unseen.
fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let start = text.get(..text.floor_char_boundary(limit)).unwrap_or_default();
    format!("{start}… [cut: {} bytes in all]", text.len())
}

/// The name as errors show it.
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
