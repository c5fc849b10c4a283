//! Where in a script something happened: stacks, and the place of a call that the host answers later.

use crate::engine::engine;
use crate::errors::{INTERNAL_PREFIX, string_of};
use crate::frames::Frames;
use crate::js::Value;

/// What stands for the place of a frame that is not the script's.
const NATIVE: &str = "(native)";
/// What stands for the place of a function that the host answers.
const CAPABILITY: &str = "(capability)";

/// Where a call was made. Its answer comes when nothing of the script is on the stack any more.
pub(crate) struct Origin(Frames);

impl Origin {
    /// The place of the call that is being made; it is written out only if the call fails.
    pub(crate) fn here() -> Origin {
        Origin(Frames::take())
    }

    /// Gives the error of the call the stack of the call, with the function on top.
    pub(crate) fn mark(&self, error: &Value, function: &str) {
        if !error.is_error() {
            return;
        }
        // A call that fails while a stack is formatted has none.
        let Some(stack) = self.0.text() else { return };
        let mut text = format!("{}\n    at {function} {CAPABILITY}", heading(error));
        let is_callee = |line: &&str| line.ends_with(NATIVE);
        let own = stack.lines().skip(stack.lines().next().filter(is_callee).map_or(0, |_| 1));
        own.for_each(|line| text.extend(["\n", line]));
        let _ = error.define_hidden(engine().atoms.stack, Value::string(&text));
    }
}

/// The frames of an error's stack, without the heading that stacks begin with for scripts.
pub(crate) fn of(error: &Value) -> Option<String> {
    let atoms = &engine().atoms;
    // Its own is that of a call that failed, or the script's doing.
    if error.has_own(atoms.stack) {
        let stack = string_of(error, atoms.stack)?;
        return Some(frames(stack.strip_prefix(&heading(error)).unwrap_or(&stack)));
    }
    // As QuickJS keeps it: a name or a message of megabytes is not copied for the sake of the frames.
    let stack = engine().intrinsics.writer.stack_of(error).filter(Value::is_string)?;
    Some(frames(&stack.text().ok()?.to_string_lossy()))
}

/// `TypeError: what happened`, as `Error.prototype.toString` has it.
fn heading(error: &Value) -> String {
    let atoms = &engine().atoms;
    let name = string_of(error, atoms.name).unwrap_or_else(|| "Error".into());
    let message = string_of(error, atoms.message).unwrap_or_default();
    match (name.as_str(), message.as_str()) {
        (_, "") => name,
        ("", _) => message,
        _ => format!("{name}: {message}"),
    }
}

/// The frames of a stack. Those of the engine itself have a name and no place: who was called tells which call it was.
fn frames(stack: &str) -> String {
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
