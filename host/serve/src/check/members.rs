//! Check for unknown members without a compiler, against the linked interfaces.
//!
//! Unknown imports are refused when a program is prepared. Only calls are checked, since reading a missing member does
//! no harm; calls of members that the program tests first are not.

use super::diagnostic::{Diagnostic, Diagnostics};
use agent_spaces_sandbox::modules::{Binding, ModuleSource};
use agent_spaces_sandbox::program::Program;
use agent_spaces_types::call_site::{CallKind, ProgramCall};
use agent_spaces_types::names::camel_case;
use agent_spaces_types::nearest::nearest;
use agent_spaces_types::position::Position;
use agent_spaces_types::shape::FunctionShape;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Members of every object.
const INHERITED: [&str; 7] =
    ["constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"];

/// Maximum number of findings: each needs a search for the nearest name.
const MAX_FOUND: usize = 200;

/// Maximum number of names in a message.
const MAX_NAMES: usize = 20;

/// Syntax of a program's calls.
pub(super) struct CallSyntax {
    /// Start positions of callees that are called only if they exist.
    pub(super) guarded: HashSet<Position>,
    /// Positions of the member names of callees, by start position.
    pub(super) callees: HashMap<Position, Vec<Position>>,
}

impl CallSyntax {
    /// Returns the position of the unknown name of a call: the last of `depth` names of its path.
    fn name(&self, call: &ProgramCall, depth: usize) -> Position {
        let start = position(call);
        let names = self.callees.get(&start).map(Vec::as_slice).unwrap_or_default();
        // A namespace import is not part of the path, so names are counted from the end.
        let after = call.path.split('.').count().saturating_sub(depth);
        let name = names.len().checked_sub(after + 1).and_then(|at| names.get(at));
        name.copied().unwrap_or(start)
    }
}

/// Reports the calls of unknown members.
pub(super) fn check(program: &Program, syntax: &CallSyntax, hidden: &BTreeSet<String>) -> Diagnostics {
    let own = || program.call_sites().filter(|call| call.location.file == program.name());
    let mentioned: HashSet<&str> =
        own().filter(|call| call.kind == CallKind::Mention).map(|call| call.path.as_str()).collect();
    let calls = own().filter(|call| call.kind == CallKind::Call && !syntax.guarded.contains(&position(call)));
    let found = calls.filter_map(|call| {
        let missing = missing(program, call, hidden)?;
        let is_asked_about = mentioned.contains(missing.path.as_str());
        let place = syntax.name(call, missing.path.split('.').count());
        (!is_asked_about).then(|| Diagnostic::new(place, Diagnostic::MEMBER_UNKNOWN, &missing.message))
    });
    found.take(MAX_FOUND).collect()
}

/// Returns the position of a call.
pub(super) fn position(call: &ProgramCall) -> Position {
    Position { line: call.location.line, column: call.location.column }
}

/// Unknown member of a call.
struct Missing {
    /// Path from the export to the name.
    path: String,
    message: String,
}

fn missing(program: &Program, call: &ProgramCall, hidden: &BTreeSet<String>) -> Option<Missing> {
    let Some(ModuleSource::Bindings(bindings)) = program.modules().get(&call.module) else { return None };
    let mut names = call.path.split('.');
    let mut known = names.next()?.to_owned();
    let Some(mut binding) = bindings.iter().find(|binding| binding.name == known) else {
        let exports = bindings.iter().filter(|binding| binding.is_export()).map(Binding::export).collect();
        return Some(Missing {
            message: unknown(&format!("'{}'", call.module), "export", &known, exports),
            path: known,
        });
    };
    loop {
        if binding.interface.contains('#') {
            return None;
        }
        let Some(name) = names.next() else {
            let message = format!(
                "`{known}` is not a function{}",
                listed("its functions are", functions(program, binding, hidden))
            );
            return Some(Missing { path: known, message });
        };
        let functions = functions(program, binding, hidden);
        let path = format!("{known}.{name}");
        if INHERITED.contains(&name) || functions.iter().any(|function| function == name) {
            return None;
        }
        match bindings.iter().find(|part| part.name == path) {
            Some(part) => (binding, known) = (part, path),
            None => {
                let functions = functions.iter().map(String::as_str).collect();
                return Some(Missing { path, message: unknown(&format!("`{known}`"), "function", name, functions) });
            }
        }
    }
}

/// Returns the functions of an export.
pub(super) fn functions_of<'p>(program: &'p Program, binding: &Binding) -> impl Iterator<Item = &'p FunctionShape> {
    let interfaces = &program.sandbox().description().interfaces;
    let interface = interfaces.iter().find(|interface| interface.name == binding.interface_name());
    interface.into_iter().flat_map(|interface| &interface.functions).map(|function| &function.shape)
}

/// Returns the names of the functions that are visible to the caller.
fn functions(program: &Program, binding: &Binding, hidden: &BTreeSet<String>) -> Vec<String> {
    let names = functions_of(program, binding).map(|function| camel_case(&function.name));
    names.filter(|name| !hidden.contains(&format!("{}.{name}", binding.name))).collect()
}

fn unknown(of: &str, kind: &str, name: &str, names: Vec<&str>) -> String {
    match nearest(name, names.iter().copied()) {
        Some(nearest) => format!("{of} has no {kind} `{name}`; did you mean `{nearest}`?"),
        None => {
            format!("{of} has no {kind} `{name}`{}", listed("it has", names.into_iter().map(str::to_owned).collect()))
        }
    }
}

fn listed(intro: &str, names: Vec<String>) -> String {
    let shown: Vec<String> = names.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    match (shown.is_empty(), names.len().saturating_sub(MAX_NAMES)) {
        (true, _) => String::new(),
        (false, 0) => format!("; {intro} {}", shown.join(", ")),
        (false, more) => format!("; {intro} {} and {more} more", shown.join(", ")),
    }
}
