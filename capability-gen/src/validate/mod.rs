//! Values against a clean JSON Schema 2020-12, in bounded time, and defaults.
//!
//! Schemas and values both come from strangers, so a check has fuel: each subschema tried, each byte matched and
//! each item compared costs some, and a check that runs out gives [`Invalid::Budget`] rather than going on.
//! The libraries that check JSON Schema have no such thing, and cannot be given one from outside: a keyword that
//! counts can only end a check by unwinding, knows nothing of how deep the stack is, and is not called in the
//! loops over branches and items that collect errors; compiling has no bound at all. Hence a small checker of our
//! own, which also knows why it said no. Tests compare it with such a library over real and made-up schemas.
//!
//! What it takes: every assertion and applicator of 2020-12, references within the schema (pointers, anchors,
//! `$id`s of its own parts), `$dynamicRef` where it is no more than `$ref`. `format` and `content*` are annotations and not checked.
//! Patterns are ECMA-262's as far as two engines know them ([`Validator::notes`] says which are not checked).
//! Equal schemas and values give equal answers, on any machine and at any load: fuel is counted, not timed.
//!
//! ```text
//! compile     schema → program: every subschema once, references resolved
//! keywords    what each keyword of a subschema says
//! check       is it valid: stops at the first thing wrong
//! evaluated   what `unevaluated…` needs to know
//! explain     what is wrong, for people and language models
//! defaults    absent members that have a default
//! fuel, pattern, equal, text: what these need
//! ```

mod check;
mod compile;
mod defaults;
mod equal;
mod evaluated;
mod explain;
mod fuel;
mod keywords;
mod pattern;
mod program;
mod text;

pub use compile::SchemaError;
pub use defaults::apply_defaults;

use check::Checker;
use fuel::Fuel;
use program::{NodeId, Program};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Deeper values are refused: what a JSON parser admits.
const MAX_NESTING: usize = 128;
const ROOT: NodeId = NodeId(0);

/// Whether a text is a regular expression that is checked. Finding out takes of the room, as compiling does; when
/// there is none left, every text counts as one.
pub fn is_pattern(source: &str, room: &mut usize) -> bool {
    let before = *room;
    let is_checked = pattern::Pattern::new(source, room).0.is_checked();
    is_checked || before < pattern::LARGEST
}

/// A compiled schema. Cheap to clone, usable from any thread.
#[derive(Clone, Debug)]
pub struct Validator {
    program: Arc<Program>,
}

/// Why a value is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// What is wrong with it: at least one; beyond a few dozen the last says how many more there are.
    #[error("{}", join(.0))]
    Issues(Vec<Issue>),
    /// Whether it is valid is too costly to find out.
    #[error("checking this value against its schema takes too long; send a smaller or simpler one")]
    Budget,
}

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Where, as a script writes it: `trips[3].stops`, `["odd name"]`; empty for the whole value.
    /// Of a member that is missing or unknown it is that member's.
    pub path: String,
    /// What is wrong and what was expected.
    pub message: String,
    /// What kind of thing it is.
    pub kind: IssueKind,
}

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IssueKind {
    /// A required member is not there.
    Missing,
    /// A member that the schema does not know.
    Unknown,
    /// Another type than expected.
    Type,
    /// The right type, and a value that is not allowed.
    Value,
    /// Not a thing of its own: says how many more there are.
    More,
}

impl fmt::Display for Issue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => formatter.write_str(&self.message),
            path => write!(formatter, "{path}: {}", self.message),
        }
    }
}

impl Validator {
    /// Compiles a schema.
    pub fn new(schema: &Value) -> Result<Validator, SchemaError> {
        let mut program = compile::compile(schema)?;
        defaults::settle(&mut program);
        Ok(Validator { program: Arc::new(program) })
    }

    /// What of the schema is not checked, and why.
    pub fn notes(&self) -> &[String] {
        &self.program.notes
    }

    /// Checks a value.
    pub fn validate(&self, value: &Value) -> Result<(), Invalid> {
        if equal::is_deeper_than(value, MAX_NESTING) {
            let message = format!("nested more than {MAX_NESTING} levels deep");
            return Err(Invalid::Issues(vec![Issue { path: String::new(), message, kind: IssueKind::Value }]));
        }
        match self.checker(value).check(ROOT, value) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Invalid::Issues(explain::explain(self.checker(value), value))),
            Err(fuel::Exhausted) => Err(Invalid::Budget),
        }
    }

    /// Fills in absent members that have a default: see [`apply_defaults`].
    pub fn apply_defaults(&self, value: &mut Value) {
        defaults::apply(&self.program, value);
    }

    fn checker(&self, value: &Value) -> Checker<'_> {
        Checker { program: &self.program, fuel: Fuel::for_value(value) }
    }
}

fn join(issues: &[Issue]) -> String {
    issues.iter().map(Issue::to_string).collect::<Vec<_>>().join("; ")
}
