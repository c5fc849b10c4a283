//! Names that nothing has, found without a compiler: against what a program is linked with.
//!
//! Imports are not here: those that name nothing are refused when a program is prepared. Only what is called is looked at,
//! since reading a member that is not there does no harm; and not what a program asks about before it calls it.

use super::diagnostic::{Diagnostic, Diagnostics};
use crate::modules::{Binding, ModuleSource};
use crate::program::{Program, ProgramCall};
use crate::script::{CallKind, Position};
use crate::values::{FunctionShape, camel_case};
use capability_gen::names::nearest;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What every object has.
const INHERITED: [&str; 7] =
    ["constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"];

/// Most calls that are told or counted: the nearest name is looked for each time.
const MAX_FOUND: usize = 200;

/// Most names that a message lists.
const MAX_NAMES: usize = 20;

/// How a program's calls are written.
pub(super) struct Written {
    /// Where callees start that are called only if there is something to call.
    pub(super) guarded: HashSet<Position>,
    /// Names after the dots of callees, by where those start.
    pub(super) callees: HashMap<Position, Vec<Position>>,
}

impl Written {
    /// Where the name is that a call reaches for and nothing has: the last of `depth` names of its path.
    fn name(&self, call: &ProgramCall, depth: usize) -> Position {
        let start = position(call);
        let names = self.callees.get(&start).map(Vec::as_slice).unwrap_or_default();
        // A module as a whole is no part of the path, so that paths are alike at their ends.
        let after = call.path.split('.').count().saturating_sub(depth);
        let name = names.len().checked_sub(after + 1).and_then(|at| names.get(at));
        name.copied().unwrap_or(start)
    }
}

/// The calls of a program that reach nothing.
pub(super) fn check(program: &Program, written: &Written, hidden: &BTreeSet<String>) -> Diagnostics {
    let own = || program.call_sites().filter(|call| call.location.file == program.name());
    let mentioned: HashSet<&str> =
        own().filter(|call| call.kind == CallKind::Mention).map(|call| call.path.as_str()).collect();
    let calls = own().filter(|call| call.kind == CallKind::Call && !written.guarded.contains(&position(call)));
    let found = calls.filter_map(|call| {
        let missing = missing(program, call, hidden)?;
        let is_asked_about = mentioned.contains(missing.path.as_str());
        let place = written.name(call, missing.path.split('.').count());
        (!is_asked_about).then(|| Diagnostic::new(place, Diagnostic::MEMBER_UNKNOWN, &missing.message))
    });
    found.take(MAX_FOUND).collect()
}

/// Where a call is.
pub(super) fn position(call: &ProgramCall) -> Position {
    Position { line: call.location.line, column: call.location.column }
}

/// What a call names and nothing has.
struct Missing {
    /// From the export up to the name.
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

/// The functions behind an export.
pub(super) fn functions_of<'p>(program: &'p Program, binding: &Binding) -> impl Iterator<Item = &'p FunctionShape> {
    let interfaces = &program.sandbox().description().interfaces;
    let interface = interfaces.iter().find(|interface| interface.name == binding.interface_name());
    interface.into_iter().flat_map(|interface| &interface.functions).map(|function| &function.shape)
}

/// Those that the caller may know of.
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
