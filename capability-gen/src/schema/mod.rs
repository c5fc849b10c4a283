//! JSON Schema as found in the wild → one clean schema for the validator, and types for everything else.
//!
//! ```text
//! document   the schema as found; references: what each `$ref` leads to, and that it is nothing outside
//! normal     every dialect (drafts 4 to 2020-12, OpenAPI 3.0, shorthand flags) → one
//! cycles     references that go round without content, cut
//! unfolding  references that multiply, refused
//! flatten    `allOf` of objects → one object
//! filled     required members that have a default: a call may leave them out
//! clean      normal form → what the validator compiles: closed where parameters are, no prose
//! types      normal form → Type, with names from naming and texts from docs
//! ```
//!
//! What cannot be understood becomes `Any` with a note. Only what is dangerous is refused; in the project's own formats
//! also slips of the pen (`slips`), which are notes in those of others.

mod clean;
mod cycles;
mod defaults;
mod docs;
mod document;
mod filled;
mod flatten;
mod identity;
mod keywords;
mod limits;
mod members;
mod merge;
mod naming;
mod normal;
mod notes;
mod object;
mod patterns;
mod references;
mod roots;
mod slips;
mod types;
mod unfolding;
mod unions;
mod words;

use crate::definition::{Note, Place};
use crate::model::{Direction, Type, Types};
use naming::Names;
use patterns::Patterns;
use serde_json::Value;
pub(crate) use words::array_of;

/// Reads the schemas of one module's functions into types whose names are unique in it.
#[derive(Debug, Default)]
pub struct Reader {
    names: Names,
    patterns: Patterns,
    /// Whether slips are errors.
    is_strict: bool,
}

/// What a schema says.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Clean JSON Schema 2020-12, self-contained.
    pub schema: Value,
    /// What TypeScript and WIT can say of it.
    pub ty: Type,
    /// What was tolerated.
    pub notes: Vec<Note>,
}

/// A schema that must not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}; {fix}")]
pub struct SchemaError {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub fix: String,
}

impl Reader {
    /// For one module.
    pub fn new() -> Reader {
        Reader::default()
    }

    /// Whether slips in the schemas to come (`requird`, a type that JSON has not) are errors rather than notes.
    pub fn set_strict(&mut self, is_strict: bool) {
        self.is_strict = is_strict;
    }

    /// The parameters of a function, by its source's name: always an object's schema, closed unless it says otherwise.
    pub fn params(&mut self, function: &str, raw: &Value, place: &Place) -> Result<Reading, SchemaError> {
        self.read(function, raw, place, Direction::Params)
    }

    /// The result of a function, by its source's name: open unless it says otherwise.
    pub fn result(&mut self, function: &str, raw: &Value, place: &Place) -> Result<Reading, SchemaError> {
        self.read(function, raw, place, Direction::Result)
    }

    /// The named types of all that was read.
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
        unfolding::check(&normal, place)?;
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
