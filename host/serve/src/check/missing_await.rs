//! Missing `await`: calls whose promise is used as their result, as in `if (fs.exists(path))`.
//!
//! Compilers report only some of them, with varying messages. This check needs no compiler.

use super::diagnostic::{Diagnostic, Diagnostics};
use super::members::{functions_of, position};
use agent_spaces_sandbox::modules::{Binding, ModuleSource};
use agent_spaces_sandbox::program::Program;
use agent_spaces_script::{Consumer, Habits, UnawaitedCall};
use agent_spaces_types::call_site::{CallKind, ProgramCall};
use agent_spaces_types::names::camel_case;
use agent_spaces_types::position::Position;
use std::collections::{HashMap, HashSet};

/// Reports each call that lacks its `await` once, in program order.
pub(super) fn check(program: &Program, habits: &Habits) -> Diagnostics {
    let calls: HashMap<Position, &ProgramCall> = program
        .call_sites()
        .filter(|call| call.location.file == program.name() && call.kind == CallKind::Call)
        .map(|call| (position(call), call))
        .collect();
    let is_wrong = |taken: &&UnawaitedCall| match taken.by {
        Consumer::Anything => true,
        // The receiver may be a list of promises, which is fine.
        Consumer::ListMethod => false,
        Consumer::Call(to) => calls.contains_key(&to),
    };
    let mut reported = HashSet::new();
    let mut found: Vec<&UnawaitedCall> = habits
        .unawaited
        .iter()
        .filter(is_wrong)
        .filter(|taken| calls.get(&taken.call).is_some_and(|call| gives_promise(program, call)))
        .filter(|taken| reported.insert(taken.call))
        .collect();
    found.sort_by_key(|taken| taken.call);
    found.into_iter().map(diagnostic).collect()
}

/// Builds the diagnostic of a missing `await`.
pub(super) fn diagnostic(taken: &UnawaitedCall) -> Diagnostic {
    let message = match &taken.callee {
        Some(callee) => {
            format!("`{callee}(…)` returns a promise, which is used as its value here: write `await {callee}(…)`")
        }
        None => "this call returns a promise, which is used as its value here: write `await` before it".to_owned(),
    };
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
