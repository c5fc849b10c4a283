//! Calls of the host that are under way, as the component model has them: waited for, cancelled, dropped.
//!
//! The host gives one answer at a time, in the order in which they arrive, and each when the run says that it is idle.
//! So a run does the same work, and takes the same fuel, however many answers were there when it looked.

use crate::abi::metadata::ImportFunction;
use crate::call;
use crate::engine::engine;
use crate::modules;

const BEGIN: (&str, &str) = ("agent-spaces:engine/turns", "begin");
const IDLE: (&str, &str) = ("agent-spaces:engine/turns", "idle");

/// How far a subtask has come; what is not listed comes before.
const RETURNED: u32 = 2;
const START_CANCELLED: u32 = 3;
const RETURN_CANCELLED: u32 = 4;

#[link(wasm_import_module = "$root")]
unsafe extern "C" {
    #[link_name = "[waitable-set-new]"]
    safe fn waitable_set_new() -> u32;
    #[link_name = "[waitable-join]"]
    safe fn waitable_join(waitable: u32, set: u32);
    #[link_name = "[subtask-drop]"]
    safe fn subtask_drop(subtask: u32);
    #[link_name = "[subtask-cancel]"]
    safe fn subtask_cancel(subtask: u32) -> u32;
}

/// How a subtask ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Returned,
    Cancelled,
}

/// How a subtask ended, by the status of an event; nothing of one that goes on.
pub(crate) fn end(status: u32) -> Option<End> {
    match status {
        RETURNED => Some(End::Returned),
        START_CANCELLED | RETURN_CANCELLED => Some(End::Cancelled),
        _ => None,
    }
}

/// Waits for a subtask's events.
pub(crate) fn watch(subtask: u32) {
    waitable_join(subtask, waitables());
}

/// Lets a subtask go that has ended.
pub(crate) fn release(subtask: u32, end: End) {
    waitable_join(subtask, 0);
    subtask_drop(subtask);
    if end == End::Returned {
        engine().has_answer.set(true);
    }
}

/// Ends a subtask, and says how it ended: its answer may have come first.
pub(crate) fn cancel(subtask: u32) -> End {
    // One whose events are waited for cannot be cancelled; the host drops what it does and answers at once.
    waitable_join(subtask, 0);
    let end = end(subtask_cancel(subtask)).unwrap_or(End::Cancelled);
    release(subtask, end);
    end
}

/// The set that all of the run's subtasks are in.
pub(crate) fn waitables() -> u32 {
    let set = &engine().waitables;
    if set.get() == 0 {
        set.set(waitable_set_new());
    }
    set.get()
}

/// Asks the host to give answers one at a time.
pub(crate) fn begin() {
    tell(modules::function(BEGIN));
    // Asked for with every answer, so it is looked up once.
    engine().idle.set(modules::function(IDLE));
    engine().has_answer.set(true);
}

/// Asks for the next answer, once the last one was dealt with.
pub(crate) fn idle() {
    if engine().has_answer.replace(false) {
        tell(engine().idle.get());
    }
}

/// Compiled programs have hosts that know nothing of turns.
fn tell(what: Option<&'static ImportFunction>) {
    if let Some(function) = what {
        let _ = call::call_now(function, Vec::new());
    }
}
