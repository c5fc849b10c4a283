//! JSON Schema reader: any dialect → one clean schema for the validator, and types for everything else.
//!
//! ```text
//! document   the schema as found, with resolved references; refuses external ones
//! normal     normalization of every dialect (drafts 4 to 2020-12, OpenAPI 3.0, shorthand flags)
//! lint       misspelt keywords, unknown types, missing references, contradictory bounds
//! cycles     cuts circular references
//! expansion  refuses references that expand exponentially
//! flatten    `allOf` of objects → one object
//! filled     required members with a default, which a call may omit
//! clean      normal form → schema for the validator: closed parameters, no documentation
//! types      normal form → Type, with names from naming and documentation from docs
//! ```
//!
//! Unsupported parts become `Any` with a note. Only dangerous schemas are refused. Likely mistakes (`lint`) are errors
//! in the project's own formats, and notes in others.

mod clean;
mod cycles;
mod defaults;
mod docs;
mod document;
mod expansion;
mod filled;
mod flatten;
mod identity;
mod keywords;
mod limits;
mod lint;
mod members;
mod merge;
mod naming;
mod normal;
mod notes;
mod object;
mod patterns;
mod references;
mod roots;
mod type_names;
mod types;
mod unions;

use crate::definition::{Note, Place};
use crate::model::{Direction, Type, Types};
use naming::Names;
use patterns::Patterns;
use serde_json::Value;
pub(crate) use type_names::array_of;

/// Reads the schemas of one module's functions into types whose names are unique in it.
#[derive(Debug, Default)]
pub struct Reader {
    names: Names,
    patterns: Patterns,
    /// True if likely mistakes are errors.
    is_strict: bool,
}

/// Result of reading one schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Clean JSON Schema 2020-12, self-contained.
    pub schema: Value,
    /// Its type in TypeScript and WIT.
    pub ty: Type,
    /// Warnings.
    pub notes: Vec<Note>,
}

/// Refused schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}; {fix}")]
pub struct SchemaError {
    /// Place of the error.
    pub place: Place,
    /// Description of the error.
    pub message: String,
    /// Suggested fix.
    pub fix: String,
}

impl Reader {
    /// Creates a reader for one module.
    pub fn new() -> Reader {
        Reader::default()
    }

    /// Sets whether likely mistakes in later schemas (`requird`, an unknown type) are errors rather than notes.
    pub fn set_strict(&mut self, is_strict: bool) {
        self.is_strict = is_strict;
    }

    /// Reads the parameters of a function: always an object, closed unless the schema says otherwise.
    pub fn params(&mut self, function: &str, raw: &Value, place: &Place) -> Result<Reading, SchemaError> {
        self.read(function, raw, place, Direction::Params)
    }

    /// Reads the result of a function: open unless the schema says otherwise.
    pub fn result(&mut self, function: &str, raw: &Value, place: &Place) -> Result<Reading, SchemaError> {
        self.read(function, raw, place, Direction::Result)
    }

    /// Returns the named types of all schemas read.
    pub fn finish(self) -> Types {
        self.names.finish()
    }

    fn read(
        &mut self,
        function: &str,
        raw: &Value,
        place: &Place,
        direction: Direction,
    ) -> Result<Reading, SchemaError> {
        let mut notes = notes::Notes::new(place, self.is_strict);
        let shorthand = if direction == Direction::Params { roots::shorthand(raw) } else { None };
        let document = document::Document::open(shorthand.as_ref().unwrap_or(raw), place)?;
        let mut normal = normal::read(&document, &mut self.patterns, &mut notes);
        notes.check()?;
        cycles::cut(&mut normal, &mut notes);
        expansion::check(&normal, place)?;
        if direction == Direction::Params {
            roots::params(&mut normal, place, &mut notes)?;
        }
        flatten::flatten(&mut normal, &mut notes);
        defaults::check(&mut normal, &mut notes);
        if direction == Direction::Params {
            roots::require_object(&normal, place)?;
            filled::mark(&mut normal);
        }
        let schema = clean::clean(&normal, direction);
        let ty = types::read(&normal, direction, function, &mut self.names, &mut notes);
        Ok(Reading { schema, ty, notes: notes.finish() })
    }
}

#[cfg(test)]
mod tests;
