//! Compiled schema: numbered nodes, each a list of keywords, cheap ones first.

use super::pattern::Pattern;
use serde_json::{Number, Value};
use std::collections::{HashMap, HashSet};

/// Index of a subschema in [`Program::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodeId(pub(super) usize);

/// Compiled schema.
#[derive(Debug, Default)]
pub(super) struct Program {
    /// Nodes, the root first.
    pub(super) nodes: Vec<Node>,
    /// Unchecked parts, with the reason.
    pub(super) notes: Vec<String>,
}

/// One subschema.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) keywords: Vec<Keyword>,
    /// The default; after [`super::defaults`] has processed it, complete and valid, or removed.
    pub(super) default: Option<Value>,
}

/// Compiled keyword, or a group of keywords that depend on each other.
#[derive(Debug)]
pub(super) enum Keyword {
    Never,
    Type(TypeSet),
    Const(Value),
    Enum(Choices),
    Limit(Limit, Number),
    MultipleOf(Number),
    Length { least: usize, most: usize },
    ItemCount { least: usize, most: usize },
    MemberCount { least: usize, most: usize },
    Required(Vec<String>),
    DependentRequired(Vec<(String, Vec<String>)>),
    Pattern(Pattern),
    UniqueItems,
    PropertyNames(NodeId),
    Members(Members),
    Items { prefix: Vec<NodeId>, rest: Option<NodeId> },
    Contains { item: NodeId, least: usize, most: usize },
    DependentSchemas(Vec<(String, NodeId)>),
    Reference(NodeId),
    AllOf(Vec<NodeId>),
    If { condition: NodeId, then: Option<NodeId>, otherwise: Option<NodeId> },
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not(NodeId),
    UnevaluatedItems(NodeId),
    UnevaluatedMembers(NodeId),
}

/// Kind of a numeric bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
}

/// `properties`, `patternProperties` and `additionalProperties`.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// In the schema's order.
    pub(super) named: Vec<(String, NodeId)>,
    pub(super) index: HashMap<String, usize>,
    /// A pattern that could not be compiled matches every name and constrains nothing.
    pub(super) patterned: Vec<(Pattern, NodeId)>,
    pub(super) rest: Option<NodeId>,
}

/// `enum`; strings are looked up, other values compared.
#[derive(Debug, Default)]
pub(super) struct Choices {
    pub(super) all: Vec<Value>,
    pub(super) texts: HashSet<String>,
    /// Cost of comparing with the other values.
    pub(super) cost: u64,
}

/// A set of JSON types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TypeSet(u8);

const TYPES: [(&str, &str); 7] = [
    ("string", "a string"),
    ("integer", "an integer"),
    ("number", "a number"),
    ("boolean", "a boolean"),
    ("array", "an array"),
    ("object", "an object"),
    ("null", "null"),
];

impl TypeSet {
    /// Adds a type; returns false for an unknown type.
    pub(super) fn add(&mut self, name: &str) -> bool {
        let position = TYPES.iter().position(|(known, _)| *known == name);
        self.0 |= position.map_or(0, |position| 1 << position);
        position.is_some()
    }

    /// Union of both.
    pub(super) fn union(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    pub(super) fn admits(self, value: &Value) -> bool {
        let has =
            |name: &str| TYPES.iter().position(|(known, _)| *known == name).is_some_and(|at| self.0 & (1 << at) != 0);
        match value {
            Value::Null => has("null"),
            Value::Bool(_) => has("boolean"),
            Value::String(_) => has("string"),
            Value::Array(_) => has("array"),
            Value::Object(_) => has("object"),
            Value::Number(number) => has("number") || has("integer") && super::equal::is_integer(number),
        }
    }

    /// Description for messages: `a string or null`.
    pub(super) fn describe(self) -> String {
        let names: Vec<&str> =
            TYPES.iter().enumerate().filter(|(at, _)| self.0 & (1 << at) != 0).map(|(_, (_, text))| *text).collect();
        match names.as_slice() {
            [] => "nothing".to_owned(),
            [one] => (*one).to_owned(),
            [first @ .., last] => format!("{} or {last}", first.join(", ")),
        }
    }
}

/// Kind of a value for messages: `a string`.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
