//! What an MCP server has besides tools: interfaces that are the same for every server and stand beside its own.
//!
//! Scripts find them as members of the server's export (`everything.$resources`), auditors as interfaces of its
//! package. Their types are hand-written WIT, since JSON Schema has no bytes; values cross by the same marks as
//! those of tools, so that what a server sends beyond the protocol arrives too.

use crate::names::kebab;
use crate::wit::Marks;
use serde::{Deserialize, Serialize};

/// A part of an MCP server besides its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerPart {
    /// What it offers to be read.
    Resources,
    /// Prompts that it has written.
    Prompts,
}

/// A function of such a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartFunction {
    /// In WIT and in JavaScript: `read`.
    pub name: &'static str,
    /// What MCP calls it: `resources/read`.
    pub method: &'static str,
    /// JSON Schema of its parameters, by name. One that a script leaves out is null.
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

impl ServerPart {
    /// Its interface, where no capability has that name: `resources`.
    pub fn name(self) -> &'static str {
        match self {
            ServerPart::Resources => "resources",
            ServerPart::Prompts => "prompts",
        }
    }

    /// Its name on the server's export. No tool has one with a `$`.
    pub fn member(self) -> &'static str {
        match self {
            ServerPart::Resources => "$resources",
            ServerPart::Prompts => "$prompts",
        }
    }

    /// Its functions, in the order of its WIT.
    pub fn functions(self) -> &'static [PartFunction] {
        match self {
            ServerPart::Resources => &RESOURCES,
            ServerPart::Prompts => &PROMPTS,
        }
    }

    /// What JSON the members of its types are.
    pub fn marks(self) -> Marks {
        let records = match self {
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
    pub(crate) fn wit(self, name: &str) -> String {
        let text = match self {
            ServerPart::Resources => include_str!("resources.wit"),
            ServerPart::Prompts => include_str!("prompts.wit"),
        };
        text.replacen(&format!("interface {} {{", self.name()), &format!("interface {name} {{"), 1)
    }
}
