//! `$defs`: one for each named type, built when first needed.
//!
//! A reference only reserves its definition, which is built later, so that a chain of a thousand interfaces takes no
//! stack. Where the definition itself is needed (`Partial<T>`, `extends`), it is built at once.

use super::{Scope, Types, check_depth, schema};
use crate::sources::define_tool::fault::Fault;
use crate::sources::define_tool::files::MAIN;
use crate::sources::define_tool::names::Declared;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Maximum nesting of generic types as arguments. A type that is its own argument (`Next<Next<T>>` inside `Next<T>`)
/// would expand forever.
const MAX_GENERIC_LEVEL: u32 = 16;

/// Maximum length of a name built from a generic type and its arguments.
const MAX_TITLE_BYTES: usize = 100;

/// Requested definitions, in the order of their first request.
#[derive(Default)]
pub(super) struct Definitions<'a> {
    list: Vec<Definition<'a>>,
    /// By the type's name and the schemas of its arguments.
    by_identity: HashMap<String, usize>,
    by_key: HashMap<String, usize>,
    /// Last number appended to each key.
    numbers: HashMap<String, usize>,
}

struct Definition<'a> {
    /// Its name in `$defs`, and its title.
    key: String,
    title: String,
    at: u32,
    /// Nesting of generic types as arguments.
    level: u32,
    state: State<'a>,
}

enum State<'a> {
    Waiting { declared: Declared<'a>, scope: Scope<'a> },
    Making,
    Made(Value),
}

impl<'a> Types<'a, '_, '_> {
    /// A `$ref` to a declared type with these arguments; `None` if it expands forever.
    pub(super) fn reserve(
        &mut self,
        declared: Declared<'a>,
        at: u32,
        scope: Scope<'a>,
        arguments: &[Value],
    ) -> Option<Value> {
        let (name, is_own) = (declared.name, declared.file == MAIN);
        let mut identity = format!("{}\n{name}", declared.file);
        for argument in arguments {
            identity.push('\n');
            identity.push_str(&argument.to_string());
        }
        let index = match self.definitions.by_identity.get(&identity) {
            Some(index) => *index,
            None => {
                let level = arguments.iter().map(|argument| self.level(argument)).max().map_or(0, |level| level + 1);
                if level > MAX_GENERIC_LEVEL {
                    return None;
                }
                let title = arguments.iter().fold(name.to_owned(), |title, argument| title + &label(argument));
                let title = if title.len() > MAX_TITLE_BYTES { name.to_owned() } else { title };
                let key = self.free_key(name, &title, is_own && arguments.is_empty());
                let index = self.definitions.list.len();
                self.definitions.by_identity.insert(identity, index);
                self.definitions.by_key.insert(key.clone(), index);
                let state = State::Waiting { declared, scope };
                self.definitions.list.push(Definition { key, title, at, level, state });
                index
            }
        };
        let key = &self.definitions.list.get(index)?.key;
        Some(json!({ "$ref": format!("#/$defs/{key}") }))
    }

    fn level(&self, schema: &Value) -> u32 {
        if let Some(index) = reference(schema).and_then(|key| self.definitions.by_key.get(key)) {
            return self.definitions.list.get(*index).map_or(0, |definition| definition.level);
        }
        match schema {
            Value::Array(items) => items.iter().map(|item| self.level(item)).max().unwrap_or(0),
            Value::Object(members) => members.values().map(|member| self.level(member)).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// A key used neither by another definition nor by another type of the definition file; a plain type of that file
    /// keeps its name. Only ASCII, because it is part of a URI.
    fn free_key(&mut self, name: &str, title: &str, is_plain: bool) -> String {
        let mut ascii = String::with_capacity(title.len());
        for character in title.chars() {
            match character {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => ascii.push(character),
                other => ascii.push_str(&format!("_u{:x}", u32::from(other))),
            }
        }
        if is_plain && ascii == name && !self.definitions.by_key.contains_key(name) {
            return ascii;
        }
        let main = self.reader.files.get(MAIN);
        let is_own_type = |name: &str| main.as_ref().is_some_and(|main| main.file().type_named(name).is_some());
        let number = self.definitions.numbers.entry(ascii.clone()).or_insert(0);
        loop {
            *number += 1;
            let key = if *number == 1 { ascii.clone() } else { format!("{ascii}{number}") };
            if !is_own_type(&key) && !self.definitions.by_key.contains_key(&key) {
                return key;
            }
        }
    }

    /// Resolves a schema's `$ref`s; `None` if the definition is still being built.
    pub(super) fn resolve(&mut self, schema: &Value, at: u32, depth: u32) -> Result<Option<Value>, Fault> {
        self.reader.charge(at, schema::measure(schema).0)?;
        let mut current = schema.clone();
        // Chain of aliases; a longer or circular one counts as unknown.
        for _ in 0..super::MAX_TYPE_DEPTH {
            let Some(key) = reference(&current) else { return Ok(Some(current)) };
            let Some(index) = self.definitions.by_key.get(key).copied() else { return Ok(None) };
            self.make(index, at, depth + 1)?;
            let Some(Definition { state: State::Made(made), .. }) = self.definitions.list.get(index) else {
                return Ok(None);
            };
            self.reader.charge(at, schema::measure(made).0)?;
            current = made.clone();
        }
        Ok(None)
    }

    fn make(&mut self, index: usize, at: u32, depth: u32) -> Result<(), Fault> {
        check_depth(at, depth)?;
        let Some(definition) = self.definitions.list.get_mut(index) else { return Ok(()) };
        let State::Waiting { .. } = definition.state else { return Ok(()) };
        let State::Waiting { declared, scope } = std::mem::replace(&mut definition.state, State::Making) else {
            return Ok(());
        };
        let title = definition.title.clone();
        let body = self.body(&declared, &scope, depth)?;
        let mut made = Map::new();
        made.insert("title".to_owned(), Value::String(title));
        if let Value::Object(body) = body {
            made.extend(body.into_iter().filter(|(key, _)| key != "title"));
        }
        if let Some(definition) = self.definitions.list.get_mut(index) {
            definition.state = State::Made(Value::Object(made));
        }
        Ok(())
    }

    /// Builds the pending definitions, and returns all.
    pub(super) fn finish(&mut self) -> Result<Map<String, Value>, Fault> {
        let mut index = 0;
        while let Some(definition) = self.definitions.list.get(index) {
            let at = definition.at;
            self.make(index, at, 0)?;
            index += 1;
        }
        self.refuse_circles()?;
        let definitions = std::mem::take(&mut self.definitions.list);
        let made = definitions.into_iter().map(|definition| match definition.state {
            State::Made(schema) => (definition.key, schema),
            State::Waiting { .. } | State::Making => (definition.key, json!({})),
        });
        Ok(made.collect())
    }

    /// Refuses circular types such as `type A = A | string`: a type may contain itself only inside an object or array.
    fn refuse_circles(&self) -> Result<(), Fault> {
        let edges = |index: usize| {
            let mut keys = Vec::new();
            if let Some(Definition { state: State::Made(made), .. }) = self.definitions.list.get(index) {
                immediate(made, &mut keys);
            }
            keys.into_iter().filter_map(|key| self.definitions.by_key.get(key).copied()).collect::<Vec<_>>()
        };
        let mut done = HashSet::new();
        for start in 0..self.definitions.list.len() {
            if done.contains(&start) {
                continue;
            }
            let mut on_path = HashSet::from([start]);
            let mut path = vec![(start, edges(start))];
            while let Some((index, next)) = path.last_mut() {
                let index = *index;
                match next.pop() {
                    Some(target) if on_path.contains(&target) => {
                        let definition = self.definitions.list.get(target);
                        let (at, name) = definition.map_or((0, ""), |it| (it.at, it.title.as_str()));
                        return Err(Fault::new(
                            at,
                            format!("the type `{name}` is defined as itself"),
                            "let it contain itself only inside an object or an array",
                        ));
                    }
                    Some(target) if done.contains(&target) => {}
                    Some(target) => {
                        on_path.insert(target);
                        path.push((target, edges(target)));
                    }
                    None => {
                        done.insert(index);
                        on_path.remove(&index);
                        path.pop();
                    }
                }
            }
        }
        Ok(())
    }
}

/// The definition that a schema refers to.
pub(super) fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

/// Definitions that apply to the value itself rather than to a part of it.
fn immediate<'s>(schema: &'s Value, keys: &mut Vec<&'s str>) {
    keys.extend(reference(schema));
    for keyword in ["anyOf", "allOf"] {
        for part in schema.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            immediate(part, keys);
        }
    }
}

/// Part of a generic type's name that comes from an argument: `Page<Trip>` is `PageTrip`.
fn label(schema: &Value) -> String {
    if let Some(key) = reference(schema) {
        return key.to_owned();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("array") => schema.get("items").map(label).unwrap_or_default() + "List",
        Some(ty) => {
            let mut characters = ty.chars();
            characters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(characters).collect()
        }
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_generic_type_contains_its_arguments() {
        assert_eq!(label(&json!({ "$ref": "#/$defs/Trip" })), "Trip");
        assert_eq!(label(&json!({ "type": "array", "items": { "type": "string" } })), "StringList");
        assert_eq!(label(&json!({ "type": "object", "properties": {} })), "Object");
    }
}
