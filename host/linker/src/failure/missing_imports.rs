//! Hints for missing imports: of a name that a script uses, and of a module whose import was left out.

use super::unknown_function::NOT_IMPORTED;
use crate::failure::ProgramSource;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::run_error::RunError;
use agent_spaces_types::script_error::IMPORT_DENIED;

pub(super) fn hint(source: &ProgramSource, caller: &Caller, error: &RunError) -> Option<String> {
    if error.code == IMPORT_DENIED {
        let (function, _) = error.message.split_once(NOT_IMPORTED)?;
        return source.imports.left_out(function);
    }
    let is_missing = error.name.as_deref() == Some("ReferenceError");
    let name = error.message.strip_suffix(" is not defined").filter(|_| is_missing)?;
    source.imports.import_of(name.trim_matches('\''), &caller.scopes)
}
