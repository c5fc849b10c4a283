//! What to use instead of a member of `Intl` that the sandbox does not have.
//!
//! Using one is a call of `undefined`, and the engine says no more than that. What was written is in the script.

use super::misnamed::statement;
use crate::absent;
use crate::error_report::RunError;
use crate::program::Program;

const OBJECT: &str = "Intl.";

pub(super) fn hint(program: &Program, error: &RunError) -> Option<String> {
    if error.name.as_deref() != Some("TypeError") {
        return None;
    }
    let statement = statement(program, error)?;
    statement.match_indices(OBJECT).find_map(|(at, _)| {
        let rest = &statement[at + OBJECT.len()..];
        let end = rest.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(rest.len());
        absent::intl_member(&rest[..end]).map(str::to_owned)
    })
}
