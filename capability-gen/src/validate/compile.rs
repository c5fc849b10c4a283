//! Compiler from a schema to a [`Program`], without recursion: subschemas are queued and read once, references are
//! resolved at the end.

use super::equal::{is_deeper_than, size};
use super::keywords;
use super::program::{Keyword, Node, NodeId, Program};
use serde_json::Value;
use std::collections::HashMap;

/// Maximum number of subschemas. Real schemas have a few thousand; each takes memory as long as the tool is known.
const MAX_SUBSCHEMAS: usize = 50_000;
/// Maximum size of the document, including descriptions and examples.
const MAX_SIZE: u64 = 4_000_000;
/// Maximum nesting, as in a JSON parser.
const MAX_NESTING: usize = 128;

/// Schema error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Invalid value of a keyword.
    #[error("schema: `{keyword}` at `{pointer}` must be {expected}")]
    Keyword {
        /// The keyword.
        keyword: String,
        /// JSON pointer to the subschema; empty for the whole schema.
        pointer: String,
        /// `a number`
        expected: &'static str,
    },
    /// A subschema that is neither an object nor a boolean.
    #[error("schema: `{pointer}` is not a schema")]
    NotASchema {
        /// JSON pointer to it.
        pointer: String,
    },
    /// External reference, which is never followed.
    #[error("schema: external reference `{reference}`; only references within the schema are followed")]
    Remote {
        /// The reference as written.
        reference: String,
    },
    /// Unresolved reference.
    #[error("schema: unresolved reference `{reference}`")]
    Dangling {
        /// The reference as written.
        reference: String,
    },
    /// A `$dynamicRef` whose target depends on the dynamic scope.
    #[error("schema: `$dynamicRef` in a schema of several parts with an `$id` is not supported")]
    Dynamic,
    /// Size limit exceeded.
    #[error("schema: {0}")]
    TooLarge(&'static str),
}

pub(super) fn compile(schema: &Value) -> Result<Program, SchemaError> {
    if is_deeper_than(schema, MAX_NESTING) {
        return Err(SchemaError::TooLarge("nested too deeply"));
    }
    if size(schema) > MAX_SIZE {
        return Err(SchemaError::TooLarge("too large"));
    }
    let mut compiler = Compiler { pattern_room: super::pattern::ROOM, ..Compiler::default() };
    compiler.node(schema, schema, &Pointer::default())?;
    loop {
        while let Some(waiting) = compiler.waiting.pop() {
            compiler.read(waiting)?;
        }
        let Some(reference) = compiler.references.pop() else { break };
        compiler.resolve(reference)?;
    }
    if compiler.is_dynamic && compiler.has_parts {
        return Err(SchemaError::Dynamic);
    }
    for node in &mut compiler.program.nodes {
        node.keywords.sort_by_key(keywords::rank);
    }
    Ok(compiler.program)
}

#[derive(Default)]
pub(super) struct Compiler<'s> {
    pub(super) program: Program,
    /// By address, so that a subschema with several references is compiled once.
    known: HashMap<*const Value, NodeId>,
    waiting: Vec<Waiting<'s>>,
    references: Vec<Unresolved<'s>>,
    /// Resources by `$id`.
    resources: HashMap<&'s str, &'s Value>,
    /// By the resource's address and the anchor.
    anchors: HashMap<(*const Value, &'s str), &'s Value>,
    /// True if there is a `$dynamicRef`; in a schema with a single resource it is equivalent to `$ref`.
    is_dynamic: bool,
    /// True if a subschema has its own `$id`.
    has_parts: bool,
    pub(super) pattern_room: usize,
}

struct Waiting<'s> {
    id: NodeId,
    schema: &'s Value,
    /// Target of `#`: the schema, or the nearest enclosing subschema with an `$id`.
    base: &'s Value,
    pointer: Pointer,
}

struct Unresolved<'s> {
    from: NodeId,
    reference: &'s str,
    base: &'s Value,
}

impl<'s> Compiler<'s> {
    /// The node of a subschema, which is queued for compilation.
    pub(super) fn node(
        &mut self,
        schema: &'s Value,
        base: &'s Value,
        pointer: &Pointer,
    ) -> Result<NodeId, SchemaError> {
        let address: *const Value = schema;
        if let Some(id) = self.known.get(&address) {
            return Ok(*id);
        }
        if !(schema.is_object() || schema.is_boolean()) {
            return Err(SchemaError::NotASchema { pointer: pointer.0.clone() });
        }
        let id = NodeId(self.program.nodes.len());
        if id.0 >= MAX_SUBSCHEMAS {
            return Err(SchemaError::TooLarge("too many subschemas"));
        }
        self.program.nodes.push(Node::default());
        self.known.insert(address, id);
        self.waiting.push(Waiting { id, schema, base, pointer: pointer.clone() });
        Ok(id)
    }

    fn read(&mut self, waiting: Waiting<'s>) -> Result<(), SchemaError> {
        let Waiting { id, schema, mut base, pointer } = waiting;
        let Value::Object(object) = schema else {
            if schema == &Value::Bool(false) {
                self.program.nodes[id.0].keywords.push(Keyword::Never);
            }
            return Ok(());
        };
        if let Some(Value::String(resource)) = object.get("$id") {
            base = schema;
            self.has_parts |= id != super::ROOT;
            self.resources.insert(resource.trim_end_matches('#'), schema);
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(Value::String(anchor)) = object.get(keyword) {
                self.anchors.insert((base, anchor), schema);
            }
        }
        for keyword in ["$ref", "$dynamicRef"] {
            if let Some(reference) = object.get(keyword) {
                let reference = reference.as_str().ok_or_else(|| pointer.expected(keyword, "a string"))?;
                self.is_dynamic |= keyword == "$dynamicRef";
                self.references.push(Unresolved { from: id, reference, base });
            }
        }
        let keywords = keywords::read(self, object, base, &pointer)?;
        let node = &mut self.program.nodes[id.0];
        node.keywords = keywords;
        node.default = object.get("default").cloned();
        Ok(())
    }

    fn resolve(&mut self, unresolved: Unresolved<'s>) -> Result<(), SchemaError> {
        let Unresolved { from, reference, base } = unresolved;
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if resource.is_empty() {
            base
        } else {
            self.resources.get(resource).ok_or_else(|| SchemaError::Remote { reference: reference.to_owned() })?
        };
        let dangling = || SchemaError::Dangling { reference: reference.to_owned() };
        let fragment = decode(fragment).ok_or_else(dangling)?;
        let target = if fragment.is_empty() || fragment.starts_with('/') {
            base.pointer(&fragment)
        } else {
            let address: *const Value = base;
            self.anchors.get(&(address, fragment.as_str())).copied()
        };
        let pointer = Pointer(format!("#{fragment}"));
        let to = self.node(target.ok_or_else(dangling)?, base, &pointer)?;
        self.program.nodes[from.0].keywords.push(Keyword::Reference(to));
        Ok(())
    }
}

/// JSON pointer to a subschema, for messages; truncated if long.
#[derive(Clone, Default)]
pub(super) struct Pointer(pub(super) String);

impl Pointer {
    pub(super) fn join(&self, name: &str) -> Pointer {
        if self.0.len() > 160 {
            return if self.0.ends_with('…') { self.clone() } else { Pointer(format!("{}/…", self.0)) };
        }
        Pointer(format!("{}/{}", self.0, super::text::clean(name, 40)))
    }

    pub(super) fn expected(&self, keyword: &str, expected: &'static str) -> SchemaError {
        SchemaError::Keyword { keyword: keyword.to_owned(), pointer: self.0.clone(), expected }
    }
}

/// Percent-decodes a fragment.
fn decode(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}
