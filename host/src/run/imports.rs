//! Imports that a failed script lacks: of a name that it uses, and of a module whose import was left out.

use super::Caller;
use super::misnamed::NOT_IMPORTED;
use crate::error_report::RunError;
use crate::program::Program;
use crate::script::IMPORT_DENIED;

pub(super) fn hint(program: &Program, caller: &Caller, error: &RunError) -> Option<String> {
    if error.code == IMPORT_DENIED {
        let (function, _) = error.message.split_once(NOT_IMPORTED)?;
        return program.imports().left_out(function);
    }
    let is_missing = error.name.as_deref() == Some("ReferenceError");
    let name = error.message.strip_suffix(" is not defined").filter(|_| is_missing)?;
    program.imports().import_of(name.trim_matches('\''), &caller.scopes)
}
