//! Content hash of definitions: equal if the definitions and all that they refer to are equal.

use super::cycles::{components, graph};
use super::normal::Normal;
use data_encoding::HEXLOWER;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// Hash of a definition, independent of its document.
pub(super) type Identity = [u8; 32];

/// Hashes of all definitions of a document, and which of them are recursive.
#[derive(Debug, Default)]
pub(super) struct Identities {
    by_key: HashMap<String, Identity>,
    recursive: HashSet<String>,
}

impl Identities {
    /// Computes hashes bottom-up, from definitions without references; mutually recursive definitions are hashed
    /// together.
    pub(super) fn of(normal: &Normal) -> Self {
        let (keys, edges) = graph(normal, references);
        let components = components(&edges);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); keys.len()];
        for (number, component) in components.iter().enumerate() {
            members[*component].push(number);
        }
        let mut identities = Identities::default();
        for mut group in members {
            group.sort_by_key(|number| &keys[*number]);
            let mut hash = Sha256::new();
            for number in &group {
                let mut text = String::new();
                if let Some(schema) = normal.get(&keys[*number]) {
                    identities.write(schema, &mut text);
                }
                hash.update(keys[*number].as_bytes());
                hash.update(b"\0");
                hash.update(text.as_bytes());
                hash.update(b"\0");
            }
            let piece: Identity = hash.finalize().into();
            let is_recursive = |number: usize| edges[number].iter().any(|to| components[*to] == components[number]);
            for number in group {
                let identity = Sha256::new().chain_update(piece).chain_update(keys[number].as_bytes()).finalize();
                if is_recursive(number) {
                    identities.recursive.insert(keys[number].clone());
                }
                identities.by_key.insert(keys[number].clone(), identity.into());
            }
        }
        identities
    }

    /// Hash of a schema that is not a definition.
    pub(super) fn inline(&self, schema: &Value) -> Identity {
        let mut text = String::new();
        self.write(schema, &mut text);
        Sha256::digest(text.as_bytes()).into()
    }

    /// Hash of a definition.
    pub(super) fn get(&self, key: &str) -> Option<Identity> {
        self.by_key.get(key).copied()
    }

    /// Returns true if a definition refers to itself, directly or indirectly.
    pub(super) fn is_recursive(&self, key: &str) -> bool {
        self.recursive.contains(key)
    }

    /// Writes canonical JSON: without titles and descriptions, members sorted by name, references as hashes of their
    /// target.
    fn write(&self, value: &Value, out: &mut String) {
        match value {
            Value::Object(map) => {
                out.push('{');
                let mut names: Vec<&String> = map.keys().filter(|name| !is_text(map, name)).collect();
                names.sort_unstable();
                for name in names {
                    out.push_str(&format!("{name:?}:"));
                    match map.get(name) {
                        Some(Value::String(key)) if name == "$ref" => match self.by_key.get(key) {
                            Some(identity) => HEXLOWER.encode_append(identity, out),
                            None => out.push_str(key),
                        },
                        Some(inside) => self.write(inside, out),
                        None => {}
                    }
                    out.push(',');
                }
                out.push('}');
            }
            Value::Array(list) => {
                out.push('[');
                for inside in list {
                    self.write(inside, out);
                    out.push(',');
                }
                out.push(']');
            }
            scalar => out.push_str(&scalar.to_string()),
        }
    }
}

/// Returns true for a title or description; properties with these names hold schemas instead.
fn is_text(map: &Map<String, Value>, name: &str) -> bool {
    ["title", "description"].contains(&name) && map.get(name).is_some_and(Value::is_string)
}

fn references(schema: &Value, found: &mut dyn FnMut(&str)) {
    let mut waiting = vec![schema];
    while let Some(value) = waiting.pop() {
        let Value::Object(map) = value else { continue };
        if let Some(Value::String(key)) = map.get("$ref") {
            found(key);
        }
        waiting.extend(super::keywords::children(map));
    }
}
