//! What [`super::plan()`] gives.

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
    /// One to each capability, in the module's order.
    pub interfaces: Vec<Interface>,
    /// What MCP servers have besides tools, in the module's order.
    pub server: Vec<ServerInterface>,
}

/// The WIT interface of a capability.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Kebab-case: `train-schedule`.
    pub name: String,
    /// What the shared `json` is called here: another name only where a function has that one.
    pub json_name: String,
    /// What the shared `capability-error` is called here.
    pub error_name: String,
    /// In the capability's order.
    pub functions: Vec<FunctionPlan>,
    /// In the order in which functions first use them, a type before those inside it.
    pub definitions: Vec<Definition>,
    /// The positions that are `json`.
    pub fallbacks: Vec<Fallback>,
    /// How many positions have a type of their own.
    pub exact: usize,
}

/// What JSON the members of each record, enum and variant are, by type and member name.
pub type Marks = BTreeMap<String, BTreeMap<String, String>>;

impl Interface {
    /// The table by which values are converted.
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
    /// The one parameter, `params`, where it takes any.
    pub params: Option<WitType>,
    /// What is in the `result`.
    pub result: WitType,
    /// Whether no `json` is anywhere in its parameters.
    pub is_params_exact: bool,
    /// Whether no `json` is anywhere in its result. What an open record carries along does not count.
    pub is_result_exact: bool,
}

/// A named type of an interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Kebab-case, unique in the interface.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Free text of the source's.
    pub description: String,
    /// The first function that uses it, by its place in [`Interface::functions`].
    pub function: usize,
    /// Fields or cases, at least one.
    pub members: Vec<Member>,
}

/// The kinds of types that have names.
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
    /// Of a field or a variant's case.
    pub ty: Option<WitType>,
    /// What it is in JSON; see [the table](super#marks).
    pub mark: String,
    /// Free text of the source's.
    pub description: String,
}

/// A type as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "WIT's own names")]
pub enum WitType {
    Bool,
    S64,
    F64,
    String,
    /// The shared alias of `string` for what has no type of its own.
    Json,
    Option(Box<WitType>),
    List(Box<WitType>),
    Tuple(Vec<WitType>),
    /// By its name in the interface.
    Defined(String),
}

impl Interface {
    /// A type as this interface writes it.
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
