//! Unique names for the types of a module.

use super::identity::Identity;
use crate::model::{Direction, Docs, Type, TypeDefinition, TypeId, Types};
use crate::names;
use std::collections::{HashMap, HashSet};

/// Global names of TypeScript, which a type of the same name would shadow.
const TAKEN: &[&str] = &[
    "Array",
    "ArrayBuffer",
    "Awaited",
    "BigInt",
    "Boolean",
    "Date",
    "Error",
    "Function",
    "Iterable",
    "Map",
    "Number",
    "Object",
    "Partial",
    "Promise",
    "Readonly",
    "ReadonlyArray",
    "Record",
    "RegExp",
    "Required",
    "Set",
    "String",
    "Symbol",
    "Uint8Array",
];

/// Longest title used as a name, in words and in characters: longer ones are sentences.
const MAX_TITLE: (usize, usize) = (4, 48);

/// The types named so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    definitions: Vec<TypeDefinition>,
    taken: HashSet<String>,
    counts: HashMap<String, usize>,
    known: HashMap<(Option<Direction>, String, Identity), TypeId>,
}

impl Names {
    /// Declares a type, to be defined later. A name already in use gets a number.
    pub(super) fn declare(&mut self, name: &str) -> TypeId {
        let mut wanted = names::pascal(name);
        if wanted.is_empty() {
            wanted.push_str("Unnamed");
        }
        let count = self.counts.entry(wanted.clone()).or_insert(0);
        let name = loop {
            *count += 1;
            let name = if *count == 1 { wanted.clone() } else { format!("{wanted}{count}") };
            if !TAKEN.contains(&name.as_str()) && self.taken.insert(name.clone()) {
                break name;
            }
        };
        self.definitions.push(TypeDefinition { name, docs: Docs::default(), ty: Type::Any });
        TypeId(self.definitions.len() - 1)
    }

    /// Returns the type with this name and hash, or declares a new one. The flag is set if it is new and must be
    /// defined.
    pub(super) fn shared(&mut self, direction: Option<Direction>, name: &str, identity: Identity) -> (TypeId, bool) {
        let key = (direction, name.to_owned(), identity);
        if let Some(id) = self.known.get(&key) {
            return (*id, false);
        }
        let id = self.declare(name);
        self.known.insert(key, id);
        (id, true)
    }

    /// Defines a declared type.
    pub(super) fn define(&mut self, id: TypeId, docs: Docs, ty: Type) {
        if let Some(definition) = self.definitions.get_mut(id.0) {
            definition.docs = docs;
            definition.ty = ty;
        }
    }

    /// Returns all types; an alias is replaced by its target's definition.
    pub(super) fn finish(self) -> Types {
        let mut definitions = self.definitions;
        for index in 0..definitions.len() {
            let mut seen = HashSet::new();
            let mut at = index;
            while let Some(Type::Named(next)) = definitions.get(at).map(|definition| &definition.ty) {
                if !seen.insert(at) {
                    break;
                }
                at = next.0;
            }
            if at != index {
                let ty = definitions.get(at).map(|definition| definition.ty.clone());
                definitions[index].ty = ty.filter(|ty| !matches!(ty, Type::Named(_))).unwrap_or(Type::Any);
            }
        }
        Types(definitions)
    }
}

/// A title short enough to be a type's name.
pub(super) fn type_title(title: &str) -> Option<&str> {
    let (max_words, max_characters) = MAX_TITLE;
    let is_word = |word: &str| word.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '-');
    let is_name = title.starts_with(|first: char| first.is_ascii_alphabetic())
        && title.len() <= max_characters
        && title.split(' ').count() <= max_words
        && title.split(' ').all(|word| !word.is_empty() && is_word(word));
    is_name.then_some(title)
}
