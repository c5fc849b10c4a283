//! Schema document as found, with its references resolved. External references are refused.

use super::limits::MAX_VALUES;
use super::references::{Found, Index};
use super::{SchemaError, keywords};
use crate::definition::Place;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// Memory address of a value: distinguishes equal values of a document, and is never dereferenced.
pub(super) type Address = usize;

/// Name of the root in the normal form.
pub(super) const ROOT: &str = "#";

/// Schema document with resolved references.
#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) root: &'a Value,
    /// Every referenced schema with its new name, in the order of the first reference.
    pub(super) targets: Vec<(String, &'a Value)>,
    keys: HashMap<Address, usize>,
    references: HashMap<Address, Reference>,
}

/// Target of a `$ref`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// The definition with this index in `targets`.
    To(usize),
    /// Unresolved.
    Nowhere(String),
}

pub(super) fn address(value: &Value) -> Address {
    std::ptr::from_ref(value).addr()
}

/// The reference of a schema, in any draft's spelling.
pub(super) fn reference(schema: &Map<String, Value>) -> Option<&str> {
    ["$ref", "$dynamicRef", "$recursiveRef"].iter().find_map(|keyword| schema.get(*keyword)?.as_str())
}

pub(super) fn identifier(schema: &Map<String, Value>) -> Option<&str> {
    schema.get("$id").or_else(|| schema.get("id"))?.as_str()
}

impl<'a> Document<'a> {
    /// Checks its size, resolves its references, and refuses external ones.
    pub(super) fn open(root: &'a Value, place: &Place) -> Result<Self, SchemaError> {
        count(root, place)?;
        let index = Index::of(root);
        let mut document = Document { root, targets: Vec::new(), keys: HashMap::new(), references: HashMap::new() };
        let mut names = HashSet::new();
        let mut seen = HashSet::new();
        // Only referenced definitions are read.
        let mut waiting = vec![(root, root)];
        while let Some((value, base)) = waiting.pop() {
            let Value::Object(schema) = value else { continue };
            if !seen.insert(address(value)) {
                continue;
            }
            let base = if identifier(schema).is_some_and(|id| !id.starts_with('#')) { value } else { base };
            if let Some(text) = reference(schema) {
                let found = match index.find(text, base) {
                    Found::At(target, name) => {
                        waiting.push((target, index.base_of(target).unwrap_or(base)));
                        Reference::To(document.add_target(target, name, &mut names))
                    }
                    Found::Nowhere => Reference::Nowhere(text.to_owned()),
                    Found::Outside => return Err(outside(text, place)),
                };
                document.references.insert(address(value), found);
            }
            let children = schema.iter().filter(|(keyword, _)| !["$defs", "definitions"].contains(&keyword.as_str()));
            let children = children.flat_map(|(keyword, inside)| keywords::inside(keyword, inside));
            // The last one pushed is read first; names follow the source's order.
            let place = waiting.len();
            waiting.extend(children.map(|child| (child, base)));
            waiting[place..].reverse();
        }
        Ok(document)
    }

    /// The name of a referenced schema.
    pub(super) fn key(&self, value: &Value) -> Option<&str> {
        let number = *self.keys.get(&address(value))?;
        self.name(number)
    }

    /// The target of this schema's reference.
    pub(super) fn reference(&self, value: &Value) -> Option<&Reference> {
        self.references.get(&address(value))
    }

    /// The name of the definition with this index.
    pub(super) fn name(&self, number: usize) -> Option<&str> {
        Some(self.targets.get(number)?.0.as_str())
    }

    fn add_target(&mut self, target: &'a Value, name: String, names: &mut HashSet<String>) -> usize {
        if let Some(number) = self.keys.get(&address(target)) {
            return *number;
        }
        let number = self.targets.len();
        let key = if std::ptr::eq(target, self.root) {
            ROOT.to_owned()
        } else {
            let plain = plain_key(&name);
            if names.contains(&plain) { format!("{plain}.{number}") } else { plain }
        };
        names.insert(key.clone());
        self.keys.insert(address(target), number);
        self.targets.push((key, target));
        number
    }
}

/// A name that needs no escape in a JSON pointer or a URL.
fn plain_key(name: &str) -> String {
    let plain = name.chars().take(80).map(|it| if it.is_ascii_alphanumeric() || it == '_' { it } else { '_' });
    let plain: String = plain.collect();
    if plain.is_empty() { "definition".to_owned() } else { plain }
}

fn count(root: &Value, place: &Place) -> Result<(), SchemaError> {
    let mut values = 0;
    let mut waiting = vec![root];
    while let Some(value) = waiting.pop() {
        values += 1;
        if values > MAX_VALUES {
            return Err(SchemaError {
                place: place.clone(),
                message: format!("the schema has more than {MAX_VALUES} values"),
                fix: "remove what the function does not need".to_owned(),
            });
        }
        match value {
            Value::Array(list) => waiting.extend(list),
            Value::Object(map) => waiting.extend(map.values()),
            _ => {}
        }
    }
    Ok(())
}

fn outside(text: &str, place: &Place) -> SchemaError {
    let shown: String = text.chars().take(200).collect();
    SchemaError {
        place: place.clone(),
        message: format!("external `$ref` {shown:?} is not supported"),
        fix: "define it under `$defs` and refer to it as `#/$defs/…`".to_owned(),
    }
}
