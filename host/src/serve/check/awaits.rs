//! Calls whose promise is taken for their result: `if (fs.exists(path))` is always so, and `items.length` never there.
//! Compilers say it of some, each time in other words; nobody needs one for it.

use super::diagnostic::{Diagnostic, Diagnostics};
use super::members::{functions_of, position};
use crate::modules::{Binding, ModuleSource};
use crate::program::{Program, ProgramCall};
use crate::script::{CallKind, Habits, Position, Taken, Taker};
use crate::values::camel_case;
use std::collections::{HashMap, HashSet};

/// Such calls of a program: each once, in the order of the program.
pub(super) fn check(program: &Program, habits: &Habits) -> Diagnostics {
    let calls: HashMap<Position, &ProgramCall> = program
        .call_sites()
        .filter(|call| call.location.file == program.name() && call.kind == CallKind::Call)
        .map(|call| (position(call), call))
        .collect();
    let is_wrong = |taken: &&Taken| match taken.by {
        Taker::Anything => true,
        // Whether the promise is one of a list is not known here.
        Taker::ListMethod => false,
        Taker::Call(to) => calls.contains_key(&to),
    };
    let mut told = HashSet::new();
    let mut found: Vec<&Taken> = habits
        .unawaited
        .iter()
        .filter(is_wrong)
        .filter(|taken| calls.get(&taken.call).is_some_and(|call| gives_promise(program, call)))
        .filter(|taken| told.insert(taken.call))
        .collect();
    found.sort_by_key(|taken| taken.call);
    found.into_iter().map(diagnostic).collect()
}

/// What is said of a call that lacks its `await`.
pub(super) fn diagnostic(taken: &Taken) -> Diagnostic {
    let callee = &taken.callee;
    let message =
        format!("`{callee}(…)` gives a promise, which is taken for its value here: write `await {callee}(…)`");
    Diagnostic::new(taken.call, Diagnostic::AWAIT_MISSING, &message)
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
