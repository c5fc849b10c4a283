//! Parts of the program that a resolved script becomes.

use crate::failure::ProgramSource;
use crate::resolve::Resolved;
use agent_spaces_sandbox::program::ProgramParts;
use std::sync::Arc;

/// Converts a resolved script into the parts of a program.
pub fn program_parts(resolved: Resolved, name: &str) -> ProgramParts {
    let Resolved { entry, modules, sources, calls, has_more_calls, uses_fetch, named, imports, warnings, .. } =
        resolved;
    ProgramParts {
        name: name.to_owned(),
        code: entry.code,
        call_default: entry.call_default,
        modules,
        source: Some(Arc::new(ProgramSource { sources, named, imports })),
        calls,
        has_more_calls,
        uses_fetch,
        warnings,
    }
}
