//! Calls whose promise is taken for their result: `if (fs.exists(path))` is always so. Compilers say it of some; nobody
//! needs one for it.

use super::diagnostic::{Diagnostic, Diagnostics};
use super::members::{functions_of, position};
use crate::modules::{Binding, ModuleSource};
use crate::program::{Program, ProgramCall};
use crate::script::{CallKind, Habits};
use crate::values::camel_case;

/// Such calls of a program.
pub(super) fn check(program: &Program, habits: &Habits) -> Diagnostics {
    let calls = program.call_sites().filter(|call| {
        call.location.file == program.name()
            && call.kind == CallKind::Call
            && habits.unawaited.contains(&position(call))
            && gives_promise(program, call)
    });
    let found = calls.map(|call| {
        let path = &call.path;
        let message =
            format!("`{path}(…)` gives a promise, which is taken for its value here: write `await {path}(…)`");
        Diagnostic::new(position(call), Diagnostic::AWAIT_MISSING, &message)
    });
    found.collect()
}

fn gives_promise(program: &Program, call: &ProgramCall) -> bool {
    let Some(ModuleSource::Bindings(bindings)) = program.modules().get(&call.module) else { return false };
    let is_called = |binding: &Binding, name: &str| match binding.interface.split_once('#') {
        Some((_, function)) => binding.name == call.path && function == name,
        None => {
            let member = call.path.strip_prefix(binding.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
            member.is_some_and(|member| member == camel_case(name))
        }
    };
    bindings
        .iter()
        .any(|binding| functions_of(program, binding).any(|shape| shape.is_async && is_called(binding, &shape.name)))
}
