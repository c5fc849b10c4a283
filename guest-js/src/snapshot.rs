//! What an engine has become, for others to begin with.
//!
//! The host puts it into the memory of fresh instances that are linked with the same binding. Nothing that belongs to
//! this instance alone may be in it: no call, no timer, no handle of the host's.

use crate::call;
use crate::engine::{collect_garbage, engine};
use crate::errors::{self, ScriptError};
use crate::modules;
use crate::values::Tree;

const TAKE: (&str, &str) = ("agent-spaces:engine/snapshots", "take");

/// Hands the memory of an engine that has evaluated something to the host.
pub(crate) fn take_evaluated() -> Result<(), ScriptError> {
    let engine = engine();
    if !engine.calls.borrow().is_empty() || !engine.timers.borrow().is_empty() {
        return Err(errors::unsettled());
    }
    // Handles are this instance's: another makes its own.
    engine.waitables.set(0);
    collect_garbage(engine);
    // An instance that begins with this may go on from what another one has compiled.
    engine.is_fresh.set(true);
    let taken = take();
    engine.is_fresh.set(false);
    taken
}

/// Hands the engine's memory to the host as it is.
pub(crate) fn take() -> Result<(), ScriptError> {
    let Some(take) = modules::function(TAKE) else { return Err(errors::unsettled()) };
    call::call_now(take, vec![Tree::Memory]).map(drop).map_err(errors::from_thrown)
}
