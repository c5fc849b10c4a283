//! Where in a script something happened: stacks, and the place of a call that the host answers later.

use crate::engine::engine;
use crate::errors::INTERNAL_PREFIX;
use crate::js::Value;
use javy::quickjs::qjs;

/// What stands for the place of a frame that is not the script's.
const NATIVE: &str = "(native)";
/// What stands for the place of a function that the host answers.
const CAPABILITY: &str = "(capability)";

/// Where a call was made. Its answer comes when nothing of the script is on the stack any more.
pub(crate) struct Origin(Value);

impl Origin {
    /// The place of the call that is being made; its text is read only if the call fails.
    pub(crate) fn here() -> Origin {
        // SAFETY: the context is alive; an exception is no object and has no stack.
        Origin(Value::take(unsafe { qjs::JS_NewError(engine().context) }).unwrap_or(Value::UNDEFINED))
    }

    /// Gives the error of the call the stack of the call, with the function on top.
    pub(crate) fn mark(&self, error: &Value, function: &str) {
        if !error.is_error() {
            return;
        }
        let stack = engine().intrinsics.stack_of.call(&Value::UNDEFINED, std::slice::from_ref(&self.0));
        // A script that formats stacks itself has made something else of it.
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
