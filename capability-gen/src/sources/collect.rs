//! Functions of one capability, with unique names.

use super::error::{SourceError, quoted};
use super::node::Node;
use crate::definition::{Config, Definition, FunctionDefinition, Note, Place, SourceKind};
use std::collections::HashMap;

/// Builder of a [`Definition`]'s functions.
#[derive(Debug, Default)]
pub(super) struct Collected {
    functions: Vec<FunctionDefinition>,
    places: HashMap<String, Place>,
    pub(super) notes: Vec<Note>,
}

impl Collected {
    pub(super) fn add(&mut self, function: FunctionDefinition) -> Result<(), SourceError> {
        if let Some(first) = self.places.get(&function.name) {
            let message = format!("the function {} is defined twice, first at {first}", quoted(&function.name));
            let fix = "Rename or remove one of the two.".to_owned();
            return Err(SourceError { place: function.place, message, fix });
        }
        self.places.insert(function.name.clone(), function.place.clone());
        self.functions.push(function);
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.functions.len()
    }

    /// A definition without version, owner and configuration.
    pub(super) fn into_definition(self, name: &str, source: SourceKind, node: &Node<'_>) -> Definition {
        Definition {
            name: name.to_owned(),
            description: String::new(),
            version: None,
            source,
            owner: None,
            tags: Vec::new(),
            functions: self.functions,
            config: Config::default(),
            place: node.place(),
            notes: self.notes,
            is_single_function: false,
            is_own_format: false,
            server: None,
            component: None,
        }
    }
}

/// Refuses a capability without functions; the error names what was left out.
pub(super) fn check_any(node: &Node<'_>, collected: &Collected) -> Result<(), SourceError> {
    if collected.len() > 0 {
        return Ok(());
    }
    let message = match collected.notes.first() {
        Some(note) => format!("no functions; {}: {}", note.place.path, note.message),
        None => "no functions".to_owned(),
    };
    Err(node.error(message, "Define at least one function."))
}
