//! The function that was probably meant, where a script calls one that a capability does not have.
//!
//! In JavaScript that is a call of `undefined`, and the engine says no more than that. What was written is in the
//! script.

use crate::error_report::RunError;
use crate::program::Program;
use capability_gen::names::nearest;

/// What the engine says of a call of something else than a function.
const NOT_A_FUNCTION: &str = "not a function";

/// How much of the script, from the statement on, is looked at.
const MAX_TEXT: usize = 4_000;

/// Says what is missing, and what is there instead.
pub(super) fn hint(program: &Program, error: &RunError) -> Option<String> {
    if error.message != NOT_A_FUNCTION {
        return None;
    }
    let location = error.location.as_ref()?;
    let text = &program.sources().0.get(&location.file)?.text;
    let lines = text.lines().skip(location.line.checked_sub(1)? as usize);
    let statement: String = lines.flat_map(|line| line.chars().chain(['\n'])).take(MAX_TEXT).collect();
    program.sandbox().exports().find_map(|(export, functions)| {
        let written = called(&statement, export).find(|name| !functions.iter().any(|function| function == name))?;
        let near = nearest(written, functions.iter().map(String::as_str));
        Some(match near {
            Some(near) => format!("{export} has no function `{written}`; did you mean `{near}`?"),
            None if functions.is_empty() => format!("{export} has no functions"),
            None => format!("{export} has no function `{written}`; it has {}", listed(&functions)),
        })
    })
}

/// The names that a text calls of an object: `getSchedule` of `trainSchedule.getSchedule(…)`.
fn called<'t>(text: &'t str, object: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(object).filter_map(move |(at, _)| {
        let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '.');
        if text[..at].ends_with(is_part) {
            return None;
        }
        let rest = text[at + object.len()..].trim_start().strip_prefix('.')?.trim_start();
        let end = rest.find(|character: char| !character.is_alphanumeric() && !matches!(character, '_' | '$'))?;
        rest[end..].trim_start().starts_with('(').then_some(&rest[..end])
    })
}

/// As many names as a message bears.
fn listed(names: &[String]) -> String {
    const MAX_LISTED: usize = 12;
    let mut text = names.iter().take(MAX_LISTED).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MAX_LISTED {
        text.push_str(", …");
    }
    text
}
