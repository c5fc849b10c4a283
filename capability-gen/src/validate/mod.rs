//! JSON Schema 2020-12 validator with bounded time, and default values.
//!
//! Schemas and values are both untrusted, so a check has fuel: each subschema tried, each byte matched and each item
//! compared costs some, and a check that runs out returns [`Invalid::Budget`]. JSON Schema libraries have no such
//! limit, and it cannot be added from outside: a custom keyword can only end a check by unwinding, does not know the
//! depth of the stack, and is not called in the loops over branches and items that collect errors; compilation has no
//! limit at all. Hence this small validator, which also explains its errors. Tests compare it with such a library on
//! real and generated schemas.
//!
//! Supported: every assertion and applicator of 2020-12, references within the schema (pointers, anchors, `$id`s of its
//! own parts), `$dynamicRef` if equivalent to `$ref`. `format` and `content*` are annotations and not checked. Patterns
//! are ECMA-262, as far as two engines support it ([`Validator::notes`] lists unchecked ones). Results are
//! deterministic on any machine and under any load: fuel is counted, not timed.
//!
//! ```text
//! compile     schema → program: every subschema once, with resolved references
//! keywords    compilation of keywords
//! check       validity check, stops at the first error
//! evaluated   evaluated members and items, for `unevaluated…`
//! explain     error messages for people and language models
//! defaults    default values of absent members
//! fuel, pattern, equal, text: helpers of these
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

/// Maximum nesting of values, as in a JSON parser.
const MAX_NESTING: usize = 128;
const ROOT: NodeId = NodeId(0);

/// Returns true if a text is a supported regular expression. The check is charged to `room`, like compilation; when
/// `room` is exhausted, every text is accepted.
pub fn is_pattern(source: &str, room: &mut usize) -> bool {
    let before = *room;
    let is_checked = pattern::Pattern::new(source, room).0.is_checked();
    is_checked || before < pattern::LARGEST
}

/// Compiled schema. Cheap to clone, usable from any thread.
#[derive(Clone, Debug)]
pub struct Validator {
    program: Arc<Program>,
}

/// Validation error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// Issues, at least one; beyond a few dozen, the last one gives the number of the rest.
    #[error("{}", join(.0))]
    Issues(Vec<Issue>),
    /// Validation exceeded its fuel.
    #[error("checking this value against its schema takes too long; send a smaller or simpler one")]
    Budget,
}

/// One validation issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Path in JavaScript notation: `trips[3].stops`, `["odd name"]`; empty for the whole value. For a missing or
    /// unknown member, the path of that member.
    pub path: String,
    /// Description of the issue, and what was expected.
    pub message: String,
    /// Kind of issue.
    pub kind: IssueKind,
}

/// Kind of a validation issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IssueKind {
    /// Missing required member.
    Missing,
    /// Unknown member.
    Unknown,
    /// Wrong type.
    Type,
    /// Right type, but a value that is not allowed.
    Value,
    /// Not an issue of its own: gives the number of further issues.
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

    /// Unchecked parts of the schema, with the reason.
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
