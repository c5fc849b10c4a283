//! When two definitions are the same: they say the same, and so does all that they refer to.

use super::cycles::{components, graph};
use super::normal::Normal;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// What tells definitions apart, whatever document they stand in.
pub(super) type Identity = [u8; 32];

/// The identity of each definition of a document, and which of them refer to themselves.
#[derive(Debug, Default)]
pub(super) struct Identities {
    by_key: HashMap<String, Identity>,
    recursive: HashSet<String>,
}

impl Identities {
    /// Works from the definitions that refer to nothing upwards; those that refer to each other are one piece.
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

    /// Of a schema that is no definition.
    pub(super) fn inline(&self, schema: &Value) -> Identity {
        let mut text = String::new();
        self.write(schema, &mut text);
        Sha256::digest(text.as_bytes()).into()
    }

    /// Of a definition.
    pub(super) fn get(&self, key: &str) -> Option<Identity> {
        self.by_key.get(key).copied()
    }

    /// Whether a definition refers to itself, by whatever way.
    pub(super) fn is_recursive(&self, key: &str) -> bool {
        self.recursive.contains(key)
    }

    /// JSON without texts, members in order of their names, references by what they lead to.
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
                            Some(identity) => identity.iter().for_each(|byte| out.push_str(&format!("{byte:02x}"))),
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

/// Titles and descriptions are texts; members that go by these names hold schemas.
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
