//! Rust code for MCP resources and prompts, the same for every server.
//!
//! Each part is a module that imports nothing from its parent, so that a server's names cannot shadow anything in it.

use super::text::literal;
use crate::model::Capability;
use crate::server::ServerPart;

const RESOURCES: &str = r#"
    /// What the server offers to be read, each under a URI.
    pub mod resources {
        use ::agent_spaces::TypedCall;
        use ::serde::{Deserialize, Serialize};
        use ::serde_json::{Error, Map, Value, json};

        const PART: &str = PART_NAME;

        /// A resource that can be read.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct ResourceEntry {
            pub uri: String,
            pub name: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub title: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub description: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub mime_type: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub size: Option<i64>,
            #[serde(flatten)]
            pub extras: Map<String, Value>,
        }

        /// A family of resources: its URIs come from an RFC 6570 template.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct ResourceTemplate {
            pub uri_template: String,
            pub name: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub title: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub description: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub mime_type: Option<String>,
            #[serde(flatten)]
            pub extras: Map<String, Value>,
        }

        /// A part of what was read: text, or bytes in base64.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct ResourceContent {
            pub uri: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub mime_type: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub text: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub blob: Option<String>,
            #[serde(flatten)]
            pub extras: Map<String, Value>,
        }

        /// What was read.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub struct ResourceAnswer {
            pub contents: Vec<ResourceContent>,
            #[serde(flatten)]
            pub extras: Map<String, Value>,
        }

        /// Reads one.
        pub fn read(uri: &str) -> Result<TypedCall<ResourceAnswer>, Error> {
            TypedCall::new(PART, "read", &json!({ "uri": uri }))
        }

        /// Those that the server lists.
        pub fn list() -> Result<TypedCall<Vec<ResourceEntry>>, Error> {
            TypedCall::new(PART, "list", &json!({}))
        }

        /// Those that the server makes by URI.
        pub fn templates() -> Result<TypedCall<Vec<ResourceTemplate>>, Error> {
            TypedCall::new(PART, "templates", &json!({}))
        }
    }
"#;

const PROMPTS: &str = r#"
    /// Prompts that the server has written, to be filled in.
    pub mod prompts {
        use ::agent_spaces::TypedCall;
        use ::serde::{Deserialize, Serialize};
        use ::serde_json::{Error, Map, Value, json};

        const PART: &str = PART_NAME;

        /// What a prompt is filled in with.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub struct PromptArgument {
            pub name: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub title: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub description: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub required: Option<bool>,
            #[serde(flatten)]
            pub extras: Map<String, Value>,
        }

        /// A prompt that can be filled in.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub struct Prompt {
            pub name: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub title: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub description: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub arguments: Option<Vec<PromptArgument>>,
            #[serde(flatten)]
            pub extras: Map<String, Value>,
        }

        /// A prompt filled in.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub struct PromptAnswer {
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub description: Option<String>,
            /// Objects with `role` and `content`.
            pub messages: Value,
            #[serde(flatten)]
            pub extras: Map<String, Value>,
        }

        /// Those that the server lists.
        pub fn list() -> Result<TypedCall<Vec<Prompt>>, Error> {
            TypedCall::new(PART, "list", &json!({}))
        }

        /// Fills one in.
        pub fn get(name: &str, arguments: &Map<String, Value>) -> Result<TypedCall<PromptAnswer>, Error> {
            TypedCall::new(PART, "get", &json!({ "name": name, "arguments": arguments }))
        }
    }
"#;

/// Writes a module for each part of a server.
pub(super) fn write(out: &mut String, capability: &Capability) {
    for part in [ServerPart::Resources, ServerPart::Prompts] {
        if capability.server.iter().any(|of| of.part == part) {
            let text = match part {
                ServerPart::Resources => RESOURCES,
                ServerPart::Prompts => PROMPTS,
            };
            let name = literal(&capability.part_export(part));
            out.push_str(&text.replacen("PART_NAME", &name, 1));
        }
    }
}
