//! Schemas made self-contained: each component that one refers to, through others too, is copied into its `$defs`.

use super::super::error::SourceError;
use super::super::node::Node;
use super::reference::{Document, pointer};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet, VecDeque};

/// What the copied schemas of one document may cost together, in bytes of JSON or thereabouts. Some documents have
/// components that all lead to each other, and would be copied whole into each of hundreds of functions.
pub(super) const MAX_COST: usize = 32 * 1024 * 1024;

/// What one schema may cost at most, and at least, however many there are.
const MAX_SCHEMA_COST: usize = 512 * 1024;
const MIN_SCHEMA_COST: usize = 4 * 1024;

/// What a value costs besides its text.
const VALUE_COST: usize = 8;

/// Deeper than text can be nested; for values that did not come from text.
const MAX_DEPTH: usize = 200;

/// What one of the schemas of so many operations may cost.
pub(super) fn cost_of_one(operations: usize) -> usize {
    // Each has one of parameters and one of the result.
    (MAX_COST / (2 * operations.max(1))).clamp(MIN_SCHEMA_COST, MAX_SCHEMA_COST)
}

/// Copies schemas that will be parts of one. What does not fit is left open: it allows any value.
pub(super) struct Copier<'d, 'a> {
    document: &'d Document<'a>,
    left: usize,
    /// Definitions by what they are copied from.
    names: HashMap<String, String>,
    taken: HashSet<String>,
    /// How often a name was wanted.
    wanted: HashMap<String, usize>,
    waiting: VecDeque<(String, Node<'a>)>,
    /// Whether something did not fit.
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

    /// A schema that is to be the whole.
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

    /// A schema that is to be a part; [`Self::definitions`] are for the whole.
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
                // Halved, so that trying again and again comes to an end; smaller ones may still fit.
                self.left /= 2;
                self.is_cut = true;
                Ok(json!({}))
            }
        }
    }

    /// Pays for something that is put beside the copies, where that is possible.
    pub(super) fn afford(&mut self, cost: usize) -> bool {
        let is_affordable = cost <= self.left;
        self.left -= if is_affordable { cost } else { 0 };
        is_affordable
    }

    /// Whether a value could be copied now.
    pub(super) fn fits(&self, value: &Value) -> bool {
        cost(value, self.left).is_some()
    }

    /// What the copied schemas refer to, nearest first.
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
                // These would change what references mean.
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

    /// The reference in the copy; nothing where this one names nothing.
    fn definition(&mut self, reference: &str, at: &Node<'a>) -> Result<Option<String>, SourceError> {
        let pointer = pointer(at, reference)?;
        if let Some(name) = self.names.get(&pointer) {
            return Ok(Some(format!("#/$defs/{name}")));
        }
        let Some(target) = self.document.target(&pointer) else {
            self.document.lose(at, &pointer, "this is any value");
            return Ok(None);
        };
        let name = self.free_name(&pointer);
        self.names.insert(pointer, name.clone());
        let reference = format!("#/$defs/{name}");
        self.waiting.push_back((name, target));
        Ok(Some(reference))
    }

    /// The last part of a pointer, in characters that need no escape in a pointer.
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

/// Whether a keyword's value is data, where `$ref` is a name like any other.
fn holds_no_schema(key: &str) -> bool {
    let data = ["enum", "const", "default", "example", "examples", "discriminator", "xml", "externalDocs"];
    data.contains(&key) || ["type", "required", "dependentRequired"].contains(&key) || key.starts_with("x-")
}

/// What copying a value costs; nothing where it is more than `limit`.
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
