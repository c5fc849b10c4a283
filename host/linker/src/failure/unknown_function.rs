//! "Did you mean" for calls of functions that a capability does not have.
//!
//! For a module's own object, and for a member that is no function, the engine says only that `undefined` was called.
//! The name is read from the script.

use crate::failure::ProgramSource;
use agent_spaces_policy::not_callable;
use agent_spaces_sandbox::program::Program;
use agent_spaces_types::code::Code;
use agent_spaces_types::nearest::nearest;
use agent_spaces_types::run_error::RunError;
use agent_spaces_types::script_error::IMPORT_DENIED;

/// The engine's message for a call of a value that is no function.
const NOT_A_FUNCTION: &str = "not a function";

/// Characters of the script that are searched, from the statement on.
const MAX_TEXT: usize = 4_000;

/// The engine's words after the name of a function that is called by name and not imported.
pub(super) const NOT_IMPORTED: &str = " is not among what this script imports";

/// Returns the missing function and the most similar ones that the caller may call.
pub(super) fn hint(source: &ProgramSource, program: &Program, error: &RunError) -> Option<String> {
    if error.code == Code::CallDenied {
        return program.sandbox().exports(program.hidden()).find_map(|(export, functions)| {
            let name = error.message.strip_prefix(export)?.strip_prefix('.')?;
            let written = &name[..name.find(':')?];
            let is_missing = !written.contains('.') && !functions.iter().any(|name| name == written);
            (is_missing && error.message == not_callable(&format!("{export}.{written}")))
                .then(|| missing(export, written, &functions))
        });
    }
    if let Some((written, _)) = error.message.split_once(NOT_IMPORTED).filter(|_| error.code == IMPORT_DENIED) {
        let labels: Vec<String> = program
            .sandbox()
            .exports(program.hidden())
            .flat_map(|(export, functions)| functions.into_iter().map(move |function| format!("{export}.{function}")))
            .collect();
        return nearest(written, labels.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
    }
    if !error.message.ends_with(NOT_A_FUNCTION) {
        return None;
    }
    let statement = statement(source, error)?;
    program.sandbox().exports(program.hidden()).find_map(|(export, functions)| {
        let written = called(&statement, export).find(|name| !functions.iter().any(|function| function == name))?;
        Some(missing(export, written, &functions))
    })
}

fn missing(export: &str, written: &str, functions: &[String]) -> String {
    match nearest(written, functions.iter().map(String::as_str)) {
        Some(near) => format!("{export} has no function `{written}`; did you mean `{near}`?"),
        None if functions.is_empty() => format!("{export} has no functions"),
        None => format!("{export} has no function `{written}`; it has {}", listed(functions)),
    }
}

/// Returns the script from the line of an error on, about as much as a statement has.
pub(super) fn statement(source: &ProgramSource, error: &RunError) -> Option<String> {
    let location = error.location.as_ref()?;
    let text = &source.sources.0.get(&location.file)?.text;
    let lines = text.lines().skip(location.line.checked_sub(1)? as usize);
    Some(lines.flat_map(|line| line.chars().chain(['\n'])).take(MAX_TEXT).collect())
}

/// Returns the methods of an object that a text calls: `getSchedule` of `trainSchedule.getSchedule(…)`.
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

/// Joins the first few names.
fn listed(names: &[String]) -> String {
    const MAX_LISTED: usize = 12;
    let mut text = names.iter().take(MAX_LISTED).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MAX_LISTED {
        text.push_str(", …");
    }
    text
}
