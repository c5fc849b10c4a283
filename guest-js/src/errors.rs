//! What was thrown, in words a person or a model can act on.

use crate::causes;
use crate::classes::Class;
use crate::engine::engine;
use crate::globals;
use crate::js::{self, Value};
use crate::stacks;
use crate::values::Issue;
use crate::values::{Path, Strictness, Tree, write_json};
use javy::quickjs::qjs;
use std::cell::RefCell;
use std::ffi::c_void;

/// Why a run has no value; `script-error` in the WIT.
pub(crate) struct ScriptError {
    code: String,
    name: Option<String>,
    message: String,
    stack: Option<String>,
    hint: Option<String>,
    details: Option<String>,
    retryable: bool,
}

/// Longer messages and stacks are cut: a script chooses their length.
pub(crate) const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Files of the engine's own, as they stand in stacks.
pub(crate) const INTERNAL_PREFIX: &str = "agent-spaces:";

impl ScriptError {
    fn new(code: &str, message: impl Into<String>) -> ScriptError {
        ScriptError {
            code: code.into(),
            name: None,
            message: message.into(),
            stack: None,
            hint: None,
            details: None,
            retryable: false,
        }
    }

    fn hint(mut self, hint: &str) -> ScriptError {
        self.hint = Some(hint.into());
        self
    }

    /// The record `capability-error` of a function that failed. A script's own codes stay; all else is its failure.
    pub(crate) fn into_capability_error(self) -> Tree {
        let is_own = self.code != "script.error" && !is_reserved(&self.code);
        let code = if is_own { self.code } else { "call.failed".into() };
        Tree::Sequence(vec![
            Tree::Owned(code),
            Tree::Owned(self.message),
            Tree::Bool(self.retryable),
            Tree::optional_text(self.details),
        ])
    }

    pub(crate) fn into_message(self) -> String {
        self.message
    }

    /// The record of the WIT.
    pub(crate) fn into_tree(self) -> Tree {
        Tree::Sequence(vec![
            Tree::Owned(self.code),
            Tree::optional_text(self.name),
            Tree::Owned(self.message),
            Tree::optional_text(self.stack),
            Tree::optional_text(self.hint),
            Tree::optional_text(self.details),
            Tree::Bool(self.retryable),
        ])
    }
}

/// What a script threw and nobody caught.
pub(crate) fn from_thrown(thrown: Value) -> ScriptError {
    let atoms = &engine().atoms;
    if !is_error(&thrown) {
        let message = format!("Uncaught {}", shown(&thrown).as_deref().unwrap_or("value"));
        return ScriptError::new("script.error", cut(message, MAX_TEXT_BYTES))
            .hint("Throw an Error, so that it has a message and a stack.");
    }
    let text = |name| string_of(&thrown, name);
    let name = text_of(thrown.get(atoms.name));
    let mut message = cut(text_of(thrown.get(atoms.message)).unwrap_or_default(), MAX_TEXT_BYTES);
    if message.is_empty() && name.as_deref() == Some("AggregateError") {
        // `Promise.any` gives its error no message.
        message = "several errors, listed below".into();
    }
    let mut error = ScriptError::new("script.error", message);
    let mut stack = stacks::of(&thrown).unwrap_or_default();
    causes::tell(&thrown, &mut stack);
    error.stack = Some(cut(stack, MAX_TEXT_BYTES)).filter(|stack| !stack.is_empty());
    error.hint = absent_hint(name.as_deref(), &error.message);
    error.name = name;
    if is_capability_error(&thrown) {
        if let Some(code) = text(atoms.code)
            && !is_reserved(&code)
        {
            error.code = cut(code, MAX_TEXT_BYTES);
        }
        error.retryable = thrown.get(atoms.retryable).ok().and_then(|flag| flag.as_bool()).unwrap_or(false);
        if let Ok(details) = thrown.get(atoms.details)
            && !details.is_undefined()
        {
            error.details = write_json(&details, &Path::Root, Strictness::Familiar, MAX_TEXT_BYTES).ok();
        }
    }
    error
}

/// Codes that only the engine and the host give: a script cannot pretend that a limit was reached.
fn is_reserved(code: &str) -> bool {
    ["script.", "limit.", "run.", "host.", "config."].iter().any(|prefix| code.starts_with(prefix))
}

/// What went wrong before any code of the script ran.
pub(crate) fn from_compilation(thrown: Value) -> ScriptError {
    let mut error = from_thrown(thrown);
    if error.name.as_deref() == Some("SyntaxError") {
        error.code = "script.syntax".into();
    }
    error
}

/// Calls or timers are still there, where nothing may be.
pub(crate) fn unsettled() -> ScriptError {
    ScriptError::new("script.pending", "Calls or timers are left when all modules have been evaluated")
}

/// A promise that nothing is left to settle.
pub(crate) fn pending_forever() -> ScriptError {
    ScriptError::new("script.pending", "The script waits for a promise that can never settle: no call or timer is left")
        .hint("Look for a `new Promise` whose resolve is never called, or an `await` on one.")
}

pub(crate) fn unusable_result(path: &str, message: &str) -> ScriptError {
    let place = if path.is_empty() { "The script's value".to_owned() } else { format!("The script's value at {path}") };
    ScriptError::new("script.result", format!("{place}: {message}"))
        .hint("Return plain data: objects, arrays, strings, numbers, booleans, null.")
}

/// What a capability's function was answered with is not what it returns.
pub(crate) fn unfit_answer(path: &str, message: &str) -> ScriptError {
    let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
    ScriptError::new("script.result", format!("The answer does not fit its type: {place}{message}"))
}

pub(crate) fn result_too_long(limit: usize) -> ScriptError {
    ScriptError::new("limit.result", format!("The script's value is longer than the limit of {limit} bytes"))
        .hint("Return a summary, or the part that is needed.")
}

/// What is said of a member that must be there.
pub(crate) const MISSING: &str = "is required but missing";

/// A `CapabilityError` for arguments that cannot cross: the first issue in its message, all in its details.
pub(crate) fn invalid_call(function: &str, issues: &[Issue]) -> Value {
    let first = issues.first().map(|issue| match issue.path.is_empty() {
        true => issue.message.clone(),
        false => format!("{}: {}", issue.path, issue.message),
    });
    let more = match issues.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let listed = issues.iter().map(|issue| {
        let object = Value::object();
        let _ = object.define(js::Atom::new("path"), Value::string(&issue.path));
        let _ = object.define(js::Atom::new("message"), Value::string(&issue.message));
        object
    });
    let details = Value::object();
    if let Ok(issues) = Value::array(listed.collect()) {
        let _ = details.define(js::Atom::new("issues"), issues);
    }
    let is_missing = issues.iter().any(|issue| issue.message == MISSING);
    let hint = if is_missing { "missing_fields" } else { "invalid_arguments" };
    let _ = details.define(js::Atom::new("hint"), Value::string(hint));
    let text = format!("{function}: {}{more}", first.unwrap_or_default());
    capability_error("call.invalid", &text, false, details)
}

/// A call of a function that the run was not given.
pub(crate) fn call_denied(message: &str) -> Value {
    capability_error("call.denied", message, false, Value::UNDEFINED)
}

/// Something imported that the run was not given.
pub(crate) fn import_denied(name: &str) -> Value {
    let message = format!("Cannot import '{name}': a run reaches only what its script imports by a literal name");
    capability_error("import.denied", &message, false, Value::UNDEFINED)
}

/// A capability that the script calls by name without importing it.
pub(crate) fn not_imported(function: &str) -> Value {
    let message = format!("{function} is not among what this script imports: import its module by a literal name");
    capability_error("import.denied", &message, false, Value::UNDEFINED)
}

/// The `capability-error` record that a provider answered with, as scripts catch it.
pub(crate) fn capability_error_from(record: &Value) -> Value {
    let atoms = &engine().atoms;
    let text = |name| text_of(record.get(name)).unwrap_or_default();
    let retryable = record.get(atoms.retryable).ok().and_then(|flag| flag.as_bool()).unwrap_or(false);
    let details = record.get(atoms.details).unwrap_or(Value::UNDEFINED);
    capability_error(&text(atoms.code), &text(atoms.message), retryable, details)
}

/// An `Error` for an interface with errors of its own: the payload stays within reach.
pub(crate) fn plain_error(payload: Value) -> Value {
    let message = match payload.is_string() {
        true => text_of(Ok(payload.clone())).unwrap_or_default(),
        false => write_json(&payload, &Path::Root, Strictness::Familiar, MAX_TEXT_BYTES).unwrap_or_default(),
    };
    match js::construct(&engine().intrinsics.error, &[Value::string(&message)]) {
        Ok(error) => {
            let _ = error.define(js::Atom::new("payload"), payload);
            error
        }
        Err(error) => error,
    }
}

fn capability_error(code: &str, message: &str, retryable: bool, details: Value) -> Value {
    let atoms = &engine().atoms;
    let options = Value::object();
    let _ = options.define(atoms.code, Value::string(code));
    let _ = options.define(atoms.retryable, Value::bool(retryable));
    if !details.is_undefined() {
        let _ = options.define(atoms.details, details);
    }
    match js::construct(&engine().intrinsics.capability_error, &[Value::string(message), options]) {
        Ok(error) | Err(error) => error,
    }
}

/// Whether it is an `Error` or a `DOMException`, whatever its prototype says.
pub(crate) fn is_error(value: &Value) -> bool {
    value.is_error() || value.is_object() && engine().intrinsics.classes.of(value) == Class::DomException
}

/// What is shown of a value that is no error.
pub(crate) fn shown(value: &Value) -> Option<String> {
    match value.is_object() {
        true => write_json(value, &Path::Root, Strictness::Familiar, MAX_TEXT_BYTES).ok(),
        false => text_of(Ok(value.clone())),
    }
}

/// A member that is a string.
pub(crate) fn string_of(value: &Value, name: js::Atom) -> Option<String> {
    value.get(name).ok().filter(|value| value.is_string()).and_then(|value| text_of(Ok(value)))
}

pub(crate) fn is_capability_error(value: &Value) -> bool {
    // SAFETY: both are alive; a hostile `Symbol.hasInstance` cannot be there, the constructor is ours.
    unsafe { qjs::JS_IsInstanceOf(engine().context, value.raw(), engine().intrinsics.capability_error.raw()) == 1 }
}

fn text_of(value: js::Result<Value>) -> Option<String> {
    Some(value.ok()?.text().ok()?.to_string_lossy())
}

/// At most so many bytes, with the sign that something was left out.
pub(crate) fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// What to use instead of a global that agents expect and this realm lacks.
fn absent_hint(name: Option<&str>, message: &str) -> Option<String> {
    if name != Some("ReferenceError") {
        return None;
    }
    let global = message.strip_suffix(" is not defined")?.trim_matches('\'');
    text_of(
        engine().intrinsics.absent.get_str(global).and_then(|hint| if hint.is_string() { Ok(hint) } else { Err(hint) }),
    )
}

/// How far a name may be from one that is known and still be taken for a slip.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const MAX_NAME_LENGTH: usize = 64;
    if name.len() > MAX_NAME_LENGTH {
        return None;
    }
    known
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(name.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters are changed, added, left out or swapped with their neighbour, letter case aside.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.to_lowercase().chars().collect();
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut rows = vec![(0..=right.len()).collect::<Vec<usize>>()];
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let changed = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut least = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

struct Unhandled(RefCell<Vec<(Value, Value)>>);

// SAFETY: a core module without threads has one.
unsafe impl Sync for Unhandled {}

/// Promises that were rejected before anybody listened, with their reasons.
static UNHANDLED: Unhandled = Unhandled(RefCell::new(Vec::new()));

/// More rejections than this are not kept: one is enough to say that there are any.
const MAX_UNHANDLED: usize = 16;

/// Watches for rejections that nobody handles.
pub(crate) fn install() {
    // SAFETY: the callback has the signature that QuickJS wants.
    unsafe { qjs::JS_SetHostPromiseRejectionTracker(engine().runtime, Some(track), std::ptr::null_mut()) }
}

unsafe extern "C" fn track(
    _context: *mut qjs::JSContext,
    promise: qjs::JSValue,
    reason: qjs::JSValue,
    is_handled: bool,
    _data: *mut c_void,
) {
    let promise = Value::borrowed(promise);
    let mut unhandled = UNHANDLED.0.borrow_mut();
    if is_handled {
        unhandled.retain(|(other, _)| !other.is_same(&promise));
    } else if unhandled.len() < MAX_UNHANDLED {
        unhandled.push((promise, Value::borrowed(reason)));
    }
}

/// Says on the console what was rejected and never handled.
///
/// What ended the run is told to the host instead.
pub(crate) fn report_unhandled(told: Option<&Value>) {
    for (_, reason) in UNHANDLED.0.take() {
        if told.is_none_or(|told| !told.is_same(&reason)) {
            report(reason);
        }
    }
}

/// Says on the console what a callback threw that nobody can catch.
pub(crate) fn report(thrown: Value) {
    let error = from_thrown(thrown);
    let name = error.name.map(|name| format!("{name}: ")).unwrap_or_default();
    let stack = error.stack.map(|stack| format!("\n{}", stacks::shown(&stack))).unwrap_or_default();
    globals::write_console("error", &format!("Uncaught {name}{}{stack}", error.message));
}
