//! Where in a script something happened: stacks, and the place of a call that the host answers later.

use crate::engine::engine;
use crate::errors::INTERNAL_PREFIX;
use crate::js::{self, Value};
use javy::quickjs::qjs;
use std::ffi::c_int;

/// What stands for the place of a frame that is not the script's.
const NATIVE: &str = "(native)";
/// What stands for the place of a function that the host answers.
const CAPABILITY: &str = "(capability)";

/// What takes stacks and writes them, whatever a script does to `Error` or to what call sites inherit.
pub(crate) struct CallSites {
    /// The accessor of `Error.prepareStackTrace`.
    prepare: Value,
    set_prepare: Value,
    keep: Value,
    text: Value,
}

impl CallSites {
    /// Reads what `globals/call-sites.js` leaves.
    pub(crate) fn learn(found: &Value) -> js::Result<CallSites> {
        let kind = qjs::JSCFunctionEnum_JS_CFUNC_generic;
        // SAFETY: `keep_sites` has the signature of a native function, and QuickJS copies the name.
        let keep = unsafe { qjs::JS_NewCFunction2(engine().context, Some(keep_sites), c"".as_ptr(), 2, kind, 0) };
        Ok(CallSites {
            prepare: found.get_str("prepare")?,
            set_prepare: found.get_str("setPrepare")?,
            keep: Value::take(keep)?,
            text: found.get_str("text")?,
        })
    }

    /// An error whose stack is its call sites. What a script has set to format stacks is not called, and is back afterwards.
    fn take(&self) -> js::Result<Value> {
        let this = &engine().intrinsics.error;
        let theirs = self.prepare.call(this, &[])?;
        self.set_prepare.call(this, std::slice::from_ref(&self.keep))?;
        // SAFETY: the context is alive.
        let taken = Value::take(unsafe { qjs::JS_NewError(engine().context) });
        self.set_prepare.call(this, &[theirs])?;
        taken
    }
}

/// `Error.prepareStackTrace` of our own: the stack is the array of its call sites.
unsafe extern "C" fn keep_sites(
    _context: *mut qjs::JSContext,
    _this: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    match count {
        // SAFETY: QuickJS passes `count` live arguments.
        2.. => Value::borrowed(unsafe { *arguments.add(1) }).into_raw(),
        _ => qjs::JS_UNDEFINED,
    }
}

/// Where a call was made. Its answer comes when nothing of the script is on the stack any more.
pub(crate) struct Origin(Value);

impl Origin {
    /// The place of the call that is being made; its text is written only if the call fails.
    pub(crate) fn here() -> Origin {
        Origin(engine().intrinsics.call_sites.take().unwrap_or(Value::UNDEFINED))
    }

    /// Gives the error of the call the stack of the call, with the function on top.
    pub(crate) fn mark(&self, error: &Value, function: &str) {
        if !error.is_error() {
            return;
        }
        let stack = engine().intrinsics.call_sites.text.call(&Value::UNDEFINED, std::slice::from_ref(&self.0));
        // A call that is made while a stack is formatted has none.
        let Some(stack) = stack.ok().filter(|stack| stack.is_string()) else { return };
        let Ok(stack) = stack.text() else { return };
        let stack = stack.to_string_lossy();
        let mut text = format!("    at {function} {CAPABILITY}\n");
        let is_callee = |line: &&str| line.ends_with(NATIVE);
        let own = stack.lines().skip(stack.lines().next().filter(is_callee).map_or(0, |_| 1));
        own.for_each(|line| text.extend([line, "\n"]));
        let _ = error.define_hidden(engine().atoms.stack, Value::string(&text));
    }
}

/// The frames of a stack. Those of the engine itself have a name and no place: who was called tells which call it was.
pub(crate) fn frames(stack: &str) -> String {
    let mut text = String::new();
    for line in stack.lines().filter(|line| !line.trim().is_empty()) {
        if !text.is_empty() {
            text.push('\n');
        }
        match line.rsplit_once(" (").filter(|(_, place)| place.starts_with(INTERNAL_PREFIX)) {
            Some((name, _)) => text.extend([name, " ", NATIVE]),
            None => text.push_str(line),
        }
    }
    text
}

/// The frames that a person is shown: those of the script's own files.
pub(crate) fn shown(stack: &str) -> String {
    stack.lines().filter(|line| !line.ends_with(NATIVE)).collect::<Vec<_>>().join("\n")
}
