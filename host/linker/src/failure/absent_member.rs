//! Hints for members of `Intl` that the sandbox does not have.
//!
//! Using one is a call of `undefined`, and the engine's message has no name. The name is read from the script.

use super::unknown_function::statement;
use crate::failure::ProgramSource;
use agent_spaces_script::absent;
use agent_spaces_types::run_error::RunError;

const OBJECT: &str = "Intl.";

pub(super) fn hint(source: &ProgramSource, error: &RunError) -> Option<String> {
    if error.name.as_deref() != Some("TypeError") {
        return None;
    }
    let statement = statement(source, error)?;
    statement.match_indices(OBJECT).find_map(|(at, _)| {
        let rest = &statement[at + OBJECT.len()..];
        let end = rest.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(rest.len());
        absent::intl_member(&rest[..end]).map(str::to_owned)
    })
}
