//! `@capabilities/serde` 1.0.0: its types, and functions that make calls to it.
//!
//! Generated: changes are lost.
#![allow(clippy::all, clippy::pedantic, rustdoc::all, dead_code, missing_docs, unreachable_pub, unused_imports)]

use agent_spaces::TypedCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// */ " \
/// ''
/// fn evil() { panic!() }
/// ''
/// std::process::exit(1);
/// ~~
/// - indented
/// #![feature(x)] pub fn evil() {}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Default)]
pub struct Option2 {
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(rename = "self", default, skip_serializing_if = "Option::is_none")]
    pub n_self: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(rename = "", default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(rename = "If-Match", default, skip_serializing_if = "Option::is_none")]
    pub if_match: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(rename = "a b", default, skip_serializing_if = "Option::is_none")]
    pub a_b: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(rename = "aB", default, skip_serializing_if = "Option::is_none")]
    pub a_b2: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(rename = "a_b", default, skip_serializing_if = "Option::is_none")]
    pub a_b3: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(rename = "extras", default, skip_serializing_if = "Option::is_none")]
    pub extras2: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(rename = "\"; } fn evil() {", default, skip_serializing_if = "Option::is_none")]
    pub quote_fn_evil: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(rename = "\u{202e}x", default, skip_serializing_if = "Option::is_none")]
    pub u202e_x: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(rename = "*/", default, skip_serializing_if = "Option::is_none")]
    pub star: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(rename = "日本", default, skip_serializing_if = "Option::is_none")]
    pub u65e5_u672c: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(rename = "1", default, skip_serializing_if = "Option::is_none")]
    pub n1: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(rename = "Self", default, skip_serializing_if = "Option::is_none")]
    pub n_self2: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(rename = "crate", default, skip_serializing_if = "Option::is_none")]
    pub n_crate: Option<i64>,
    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#async: Option<i64>,
    /// All other members.
    #[serde(flatten)]
    pub extras: serde_json::Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Value2 {
    #[serde(rename = "")]
    Empty,
    #[serde(rename = "a")]
    A,
    #[serde(rename = "A")]
    A2,
    #[serde(rename = "self")]
    NSelf,
    #[serde(rename = "reactions-+1")]
    ReactionsPlus1,
    #[serde(rename = "reactions--1")]
    Reactions1,
    #[serde(rename = "\"\\\u{a}")]
    QuoteBackslash,
    #[serde(rename = "日本")]
    U65e5U672c,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// What children is.
    pub children: Vec<Tree>,
    /// What parent is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Box<Tree>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Expression {
    Text(String),
    List(Vec<Expression>),
    Object(BTreeMap<String, Expression>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nested(pub Vec<Nested>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Left {
    /// What right is.
    #[serde(deserialize_with = "required")]
    pub right: Option<Box<Right>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct Right {
    /// What left is.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub left: Option<Option<Box<Left>>>,
}

pub type MaybeText = Option<String>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ShapeObjectKind {
    #[serde(rename = "circle")]
    Circle,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShapeObject {
    /// What kind is.
    pub kind: ShapeObjectKind,
    /// What value is.
    #[serde(deserialize_with = "required")]
    pub value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ShapeObject2Kind {
    #[serde(rename = "square")]
    Square,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShapeObject2 {
    /// What kind is.
    pub kind: ShapeObject2Kind,
    /// What value is.
    #[serde(deserialize_with = "required")]
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Shape {
    Object(ShapeObject),
    Object2(ShapeObject2),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum EverythingMapValueDeepItem {
    #[serde(rename = "x")]
    X,
    #[serde(rename = "y")]
    Y,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EverythingMapValue {
    /// What deep is.
    pub deep: Vec<EverythingMapValueDeepItem>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EverythingUnionObject {
    /// What x is.
    pub x: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EverythingUnion {
    Text(String),
    Number(i64),
    List(Vec<bool>),
    Object(EverythingUnionObject),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EverythingNullableUnion {
    Boolean(bool),
    Number(i64),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Everything {
    /// What any is.
    #[serde(deserialize_with = "required")]
    pub any: Value,
    /// What anyOptional is.
    #[serde(rename = "anyOptional", default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub any_optional: Option<Value>,
    /// What never is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub never: Option<Never>,
    /// What null is.
    #[serde(deserialize_with = "required")]
    pub null: (),
    /// What nullOptional is.
    #[serde(rename = "nullOptional", default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub null_optional: Option<()>,
    /// What boolean is.
    pub boolean: bool,
    /// What number is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
    /// What numbers is.
    pub numbers: i64,
    /// What mixed is.
    pub mixed: Value,
    /// What pair is.
    pub pair: (String, i64),
    /// What loose is.
    pub loose: Vec<Value>,
    /// What map is.
    pub map: BTreeMap<String, EverythingMapValue>,
    /// What union is.
    pub r#union: EverythingUnion,
    /// What nullableUnion is.
    #[serde(rename = "nullableUnion", default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub nullable_union: Option<Option<EverythingNullableUnion>>,
    /// What overlapping is.
    pub overlapping: Value,
    /// What textual is.
    pub textual: String,
    /// What maybe is.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub maybe: Option<MaybeText>,
    /// What maybeRequired is.
    #[serde(rename = "maybeRequired", deserialize_with = "required")]
    pub maybe_required: MaybeText,
    /// What shape is.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub shape: Option<Option<Shape>>,
    /// What expression is.
    pub expression: Expression,
    /// What left is.
    pub left: Left,
    /// What nested is.
    pub nested: Nested,
    /// All other members.
    #[serde(flatten)]
    pub extras: BTreeMap<String, i64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NSelfResult {
    /// What ok is.
    pub ok: bool,
    /// All other members.
    #[serde(flatten)]
    pub extras: serde_json::Map<String, Value>,
}

/// No value at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Never {}

/// A member that is there, `null` or not: so that `null` and absent stay apart.
fn present<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// A member that must be there, `null` or not.
fn required<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::deserialize(from)
}

/// */ " \
/// ''
/// fn evil() { panic!() }
/// ''
/// std::process::exit(1);
/// ~~
/// - indented
/// #![feature(x)] pub fn evil() {}
pub mod serde2 {
    use super::*;

    /// */ " \
    /// ''
    /// fn evil() { panic!() }
    /// ''
    /// std::process::exit(1);
    /// ~~
    /// - indented
    /// #![feature(x)] pub fn evil() {}
    pub fn r#type(params: &Everything) -> Result<TypedCall<Value>, serde_json::Error> {
        TypedCall::new("every\"thing", "slack_\"quoted\"\\", params)
    }

    /// Does self.
    pub fn n_self(params: &BTreeMap<String, String>) -> Result<TypedCall<NSelfResult>, serde_json::Error> {
        TypedCall::new("every\"thing", "self", params)
    }

    /// Does nothing.
    pub fn nothing() -> Result<TypedCall<Option<i64>>, serde_json::Error> {
        TypedCall::new("every\"thing", "nothing", &serde_json::Map::new())
    }

    /// What the server offers to be read, each under a URI.
    pub mod resources {
        use ::agent_spaces::TypedCall;
        use ::serde::{Deserialize, Serialize};
        use ::serde_json::{Error, Map, Value, json};

        const PART: &str = "every\"thing.$resources";

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

    /// Prompts that the server has written, to be filled in.
    pub mod prompts {
        use ::agent_spaces::TypedCall;
        use ::serde::{Deserialize, Serialize};
        use ::serde_json::{Error, Map, Value, json};

        const PART: &str = "every\"thing.$prompts";

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
}
