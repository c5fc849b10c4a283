//! Fixed interfaces for MCP resources and prompts, the same for every server.
//!
//! Scripts see them as members of the server's export (`everything.$resources`), auditors as interfaces of its package.
//! Their types are hand-written WIT, since JSON Schema has no bytes. Values are encoded with the same marks as those of
//! tools, so undeclared members that a server sends are kept.

use crate::names::kebab;
use crate::wit::Marks;
pub use agent_spaces_types::server_part::ServerPart;

/// Function of a server part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartFunction {
    /// Name in WIT and JavaScript: `read`.
    pub name: &'static str,
    /// MCP method: `resources/read`.
    pub method: &'static str,
    /// JSON Schema of its parameters, by name. An omitted parameter is null.
    pub schema: &'static str,
}

const NO_PARAMETERS: &str = r#"{"type":"object","properties":{},"additionalProperties":false}"#;

const RESOURCES: [PartFunction; 3] = [
    PartFunction {
        name: "read",
        method: "resources/read",
        schema: concat!(
            r#"{"type":"object","properties":{"uri":{"type":"string","minLength":1}},"#,
            r#""required":["uri"],"additionalProperties":false}"#
        ),
    },
    PartFunction { name: "list", method: "resources/list", schema: NO_PARAMETERS },
    PartFunction { name: "templates", method: "resources/templates/list", schema: NO_PARAMETERS },
];

const PROMPTS: [PartFunction; 2] = [
    PartFunction { name: "list", method: "prompts/list", schema: NO_PARAMETERS },
    PartFunction {
        name: "get",
        method: "prompts/get",
        schema: concat!(
            r#"{"type":"object","properties":{"name":{"type":"string","minLength":1},"#,
            r#""arguments":{"type":["object","null"],"additionalProperties":{"type":"string"}}},"#,
            r#""required":["name"],"additionalProperties":false}"#
        ),
    },
];

/// The marks of a record's fields, by its name.
type Records = [(&'static str, &'static [&'static str])];

const RESOURCE_RECORDS: &Records = &[
    ("resource-entry", &["=uri", "=name", "?title", "?description", "?mimeType", "?size", "*"]),
    ("resource-template", &["=uriTemplate", "=name", "?title", "?description", "?mimeType", "*"]),
    ("resource-content", &["=uri", "?mimeType", "?text", "?blob", "*"]),
    ("resource-answer", &["=contents", "*"]),
];

const PROMPT_RECORDS: &Records = &[
    ("prompt-argument", &["=name", "?title", "?description", "?required", "*"]),
    ("prompt", &["=name", "?title", "?description", "?arguments", "*"]),
    ("prompt-answer", &["?description", "=messages", "*"]),
];

/// Its functions, in the order of its WIT.
pub fn functions(part: ServerPart) -> &'static [PartFunction] {
    match part {
        ServerPart::Resources => &RESOURCES,
        ServerPart::Prompts => &PROMPTS,
    }
}

/// Returns the JSON mapping of the members of its types.
pub fn marks(part: ServerPart) -> Marks {
    let records = match part {
        ServerPart::Resources => RESOURCE_RECORDS,
        ServerPart::Prompts => PROMPT_RECORDS,
    };
    let field = |mark: &&str| match mark.get(1..) {
        None | Some("") => ("extras".to_owned(), (*mark).to_owned()),
        Some(name) => (kebab(name), (*mark).to_owned()),
    };
    records.iter().map(|(name, fields)| ((*name).to_owned(), fields.iter().map(field).collect())).collect()
}

/// The interface in WIT, under this name.
pub(crate) fn wit(part: ServerPart, name: &str) -> String {
    let text = match part {
        ServerPart::Resources => include_str!("resources.wit"),
        ServerPart::Prompts => include_str!("prompts.wit"),
    };
    text.replacen(&format!("interface {} {{", part.name()), &format!("interface {name} {{"), 1)
}
