//! Self-contained schemas: each component that a schema refers to, also indirectly, is copied into its `$defs`.

use super::super::error::SourceError;
use super::super::node::Node;
use super::reference::{Document, pointer};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet, VecDeque};

/// Total cost of the copied schemas of one document, roughly in bytes of JSON. In some documents all components refer
/// to each other, and would be copied completely into each of hundreds of functions.
pub(super) const MAX_COST: usize = 32 * 1024 * 1024;

/// Maximum cost of one schema, and the minimum guaranteed to each, however many there are.
const MAX_SCHEMA_COST: usize = 512 * 1024;
const MIN_SCHEMA_COST: usize = 4 * 1024;

/// Cost of a value besides its text.
const VALUE_COST: usize = 8;

/// Maximum depth; beyond the limit of the JSON parser, for values that were not parsed from text.
const MAX_DEPTH: usize = 200;

/// Cost limit of one schema in a document with this number of operations.
pub(super) fn cost_of_one(operations: usize) -> usize {
    // Each operation has a schema of parameters and one of the result.
    (MAX_COST / (2 * operations.max(1))).clamp(MIN_SCHEMA_COST, MAX_SCHEMA_COST)
}

/// Copies schemas into one. Parts beyond the cost limit allow any value.
pub(super) struct Copier<'d, 'a> {
    document: &'d Document<'a>,
    left: usize,
    /// Names of definitions, by the pointer they are copied from.
    names: HashMap<String, String>,
    taken: HashSet<String>,
    /// Number of definitions that wanted each name.
    wanted: HashMap<String, usize>,
    waiting: VecDeque<(String, Node<'a>)>,
    /// True if something exceeded the cost limit.
    pub(super) is_cut: bool,
}

impl<'d, 'a> Copier<'d, 'a> {
    pub(super) fn new(document: &'d Document<'a>, cost: usize) -> Self {
        Self {
            document,
            left: cost,
            names: HashMap::new(),
            taken: HashSet::new(),
            wanted: HashMap::new(),
            waiting: VecDeque::new(),
            is_cut: false,
        }
    }

    /// Copies a schema with its definitions. The flag is set if something exceeded the cost limit.
    pub(super) fn whole(mut self, node: &Node<'a>) -> Result<(Value, bool), SourceError> {
        for key in node.value.get("$defs").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
            self.taken.insert(key.clone());
        }
        let mut schema = self.copy(node)?;
        let definitions = self.definitions()?;
        if let (Value::Object(schema), false) = (&mut schema, definitions.is_empty())
            && let Value::Object(own) = schema.entry("$defs").or_insert_with(|| json!({}))
        {
            own.extend(definitions);
        }
        Ok((schema, self.is_cut))
    }

    /// Copies a schema as a part; [`Self::definitions`] returns the definitions of all parts.
    pub(super) fn copy(&mut self, node: &Node<'a>) -> Result<Value, SourceError> {
        if !node.value.is_object() && !node.value.is_boolean() {
            return Err(node.mistyped("a schema", "an object"));
        }
        match cost(node.value, self.left) {
            Some(cost) => {
                self.left -= cost;
                self.schema(node.value, node, 0)
            }
            None => {
                // Halved, so that repeated attempts end; smaller schemas may still fit.
                self.left /= 2;
                self.is_cut = true;
                Ok(json!({}))
            }
        }
    }

    /// Charges the cost of something added to the copies. Returns false if it exceeds the limit.
    pub(super) fn afford(&mut self, cost: usize) -> bool {
        let is_affordable = cost <= self.left;
        self.left -= if is_affordable { cost } else { 0 };
        is_affordable
    }

    /// Returns true if copying a value is within the cost limit.
    pub(super) fn fits(&self, value: &Value) -> bool {
        cost(value, self.left).is_some()
    }

    /// Copies the definitions that the copied schemas refer to, nearest first.
    pub(super) fn definitions(&mut self) -> Result<Map<String, Value>, SourceError> {
        let mut definitions = Map::new();
        while let Some((name, node)) = self.waiting.pop_front() {
            let schema = self.copy(&node)?;
            definitions.insert(name, schema);
        }
        Ok(definitions)
    }

    fn schema(&mut self, value: &'a Value, at: &Node<'a>, depth: usize) -> Result<Value, SourceError> {
        if depth > MAX_DEPTH {
            return Err(at.error(format!("the schema is nested more than {MAX_DEPTH} deep"), "Flatten it."));
        }
        let Value::Object(members) = value else { return Ok(value.clone()) };
        let mut copied = Map::new();
        for (key, value) in members {
            let value = match (key.as_str(), value) {
                ("$ref", Value::String(reference)) => match self.definition(reference, at)? {
                    Some(reference) => reference.into(),
                    None => continue,
                },
                // These would change the base of references.
                ("$id" | "$anchor" | "$dynamicAnchor" | "$schema", Value::String(_)) => continue,
                (
                    "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" | "dependencies",
                    Value::Object(schemas),
                ) => {
                    let mut copies = Map::new();
                    for (name, schema) in schemas {
                        copies.insert(name.clone(), self.schema(schema, at, depth + 1)?);
                    }
                    copies.into()
                }
                (key, value) if holds_no_schema(key) => value.clone(),
                (_, Value::Object(_)) => self.schema(value, at, depth + 1)?,
                (_, Value::Array(items)) => {
                    let copies = items.iter().map(|item| self.schema(item, at, depth + 1));
                    copies.collect::<Result<Vec<_>, _>>()?.into()
                }
                _ => value.clone(),
            };
            copied.insert(key.clone(), value);
        }
        Ok(copied.into())
    }

    /// The reference in the copy; `None` if unresolved.
    fn definition(&mut self, reference: &str, at: &Node<'a>) -> Result<Option<String>, SourceError> {
        let pointer = pointer(at, reference)?;
        if let Some(name) = self.names.get(&pointer) {
            return Ok(Some(format!("#/$defs/{name}")));
        }
        let Some(target) = self.document.target(&pointer) else {
            self.document.note_unresolved(at, &pointer, "this is any value");
            return Ok(None);
        };
        let name = self.free_name(&pointer);
        self.names.insert(pointer, name.clone());
        let reference = format!("#/$defs/{name}");
        self.waiting.push_back((name, target));
        Ok(Some(reference))
    }

    /// Unique name from the last part of a pointer, in characters that need no escape in a pointer.
    fn free_name(&mut self, pointer: &str) -> String {
        let last = pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "_.-".contains(character);
        let wanted: String = last.chars().map(|character| if is_plain(character) { character } else { '_' }).collect();
        let wanted = if wanted.is_empty() { "_".to_owned() } else { wanted };
        let count = self.wanted.entry(wanted.clone()).or_default();
        loop {
            *count += 1;
            let name = if *count == 1 { wanted.clone() } else { format!("{wanted}_{count}") };
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// Returns true if a keyword's value is data, in which `$ref` has no meaning.
fn holds_no_schema(key: &str) -> bool {
    let data = ["enum", "const", "default", "example", "examples", "discriminator", "xml", "externalDocs"];
    data.contains(&key) || ["type", "required", "dependentRequired"].contains(&key) || key.starts_with("x-")
}

/// Cost of copying a value; `None` if it is more than `limit`.
pub(super) fn cost(value: &Value, limit: usize) -> Option<usize> {
    let mut cost = 0;
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        cost += VALUE_COST;
        match value {
            Value::String(text) => cost += text.len(),
            Value::Array(items) => {
                cost += items.len();
                if cost <= limit {
                    waiting.extend(items);
                }
            }
            Value::Object(members) => {
                for (key, value) in members {
                    cost += key.len();
                    if cost > limit {
                        break;
                    }
                    waiting.push(value);
                }
            }
            _ => {}
        }
        if cost > limit {
            return None;
        }
    }
    Some(cost)
}
