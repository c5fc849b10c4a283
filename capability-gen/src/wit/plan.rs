//! Result of [`super::plan()`].

use super::fallback::Fallback;
use crate::model::ServerInterface;
use crate::names::is_wit_keyword;
use std::collections::BTreeMap;

/// The WIT package of a module.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// `capabilities`
    pub namespace: String,
    /// `train-schedule`
    pub name: String,
    /// `1.0.0`
    pub version: String,
    /// One per capability, in the module's order.
    pub interfaces: Vec<Interface>,
    /// Fixed interfaces of MCP servers, in the module's order.
    pub server: Vec<ServerInterface>,
}

/// The WIT interface of a capability.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Kebab-case: `train-schedule`.
    pub name: String,
    /// Local name of the shared type `json`, which differs only if a function has that name.
    pub json_name: String,
    /// Local name of the shared type `capability-error`.
    pub error_name: String,
    /// In the capability's order.
    pub functions: Vec<FunctionPlan>,
    /// In the order in which functions first use them, a type before those inside it.
    pub definitions: Vec<Definition>,
    /// The positions that are `json`.
    pub fallbacks: Vec<Fallback>,
    /// Number of positions with an exact type.
    pub exact: usize,
}

/// JSON marks of the members of each record, enum and variant, by type and member name.
pub type Marks = BTreeMap<String, BTreeMap<String, String>>;

impl Interface {
    /// The table for converting values.
    pub fn marks(&self) -> Marks {
        let members = |definition: &Definition| {
            definition.members.iter().map(|member| (member.name.clone(), member.mark.clone())).collect()
        };
        self.definitions.iter().map(|definition| (definition.name.clone(), members(definition))).collect()
    }
}

/// The WIT signature of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionPlan {
    /// Kebab-case: `get-schedule`.
    pub name: String,
    /// The parameter `params`, if it takes any.
    pub params: Option<WitType>,
    /// Success type of the `result`.
    pub result: WitType,
    /// True if its parameters contain no `json`.
    pub is_params_exact: bool,
    /// True if its result contains no `json`, except the extras of open records.
    pub is_result_exact: bool,
}

/// A named type of an interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Kebab-case, unique in the interface.
    pub name: String,
    /// Record, enum or variant.
    pub kind: Kind,
    /// Free text from the source.
    pub description: String,
    /// Index in [`Interface::functions`] of the first function that uses it.
    pub function: usize,
    /// Fields or cases, at least one.
    pub members: Vec<Member>,
}

/// Kinds of named types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "WIT's own names")]
pub enum Kind {
    Record,
    Enum,
    Variant,
}

/// A record's field, or an enum's or variant's case.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Kebab-case, unique in its type.
    pub name: String,
    /// Type of a field or a variant's case.
    pub ty: Option<WitType>,
    /// JSON mark; see [the table](super#marks).
    pub mark: String,
    /// Free text from the source.
    pub description: String,
}

/// WIT type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "WIT's own names")]
pub enum WitType {
    Bool,
    S64,
    F64,
    String,
    /// The shared alias of `string` for values without an exact type.
    Json,
    Option(Box<WitType>),
    List(Box<WitType>),
    Tuple(Vec<WitType>),
    /// By its name in the interface.
    Defined(String),
}

impl Interface {
    /// The WIT text of a type in this interface.
    pub fn written(&self, ty: &WitType) -> String {
        let mut text = String::new();
        self.write(ty, &mut text);
        text
    }

    fn write(&self, ty: &WitType, text: &mut String) {
        let mut around = |kind: &str, inside: &[&WitType]| {
            text.push_str(kind);
            for (index, ty) in inside.iter().enumerate() {
                text.push_str(if index == 0 { "<" } else { ", " });
                self.write(ty, text);
            }
            text.push('>');
        };
        match ty {
            WitType::Bool => text.push_str("bool"),
            WitType::S64 => text.push_str("s64"),
            WitType::F64 => text.push_str("f64"),
            WitType::String => text.push_str("string"),
            WitType::Json => text.push_str(&self.json_name),
            WitType::Option(inner) => around("option", &[inner]),
            WitType::List(item) => around("list", &[item]),
            WitType::Tuple(items) => around("tuple", &items.iter().collect::<Vec<_>>()),
            WitType::Defined(name) => {
                if is_wit_keyword(name) {
                    text.push('%');
                }
                text.push_str(name);
            }
        }
    }
}
