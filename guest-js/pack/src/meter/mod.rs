//! Fuel meter of the engine: charges that are put into its code.
//!
//! One global holds the rest of the slice of fuel that the host gave. A charge subtracts from it. Where it is not above
//! zero then, `refill` of the engine's interface `meter` is called: the host counts the slice, lets others run, and
//! gives the next one, or ends the run. Nothing is read from memory, so that a script which corrupts the
//! engine's memory is metered as any other.
//!
//! Charges, such that no code runs without bound between two of them:
//! - each further turn of a loop, except of the loops that dispatch bytecode ([`dispatch`]);
//! - each step of a script instead: a call, a jump, an exception, or 64 bytes of bytecode without a jump. The patched
//!   QuickJS calls the import `step` there, which a charge replaces, and `more` where it asks for more fuel;
//! - what a call of a script has of variables, which the patched QuickJS charges itself;
//! - one function of each cycle of calls ([`calls`]), and the functions that bindings call;
//! - memory and tables that one instruction copies, fills or grows, by their size ([`bulk`]).
//!
//! [`module`] reads the module, [`charge`] writes the code of a charge, [`reencode`] puts everything in its
//! place, [`support`] has the functions that are added.

mod bulk;
mod calls;
mod charge;
mod dispatch;
mod module;
mod reencode;
mod support;

use anyhow::{Context, Result, ensure};
use module::Facts;
pub(crate) use module::REPLACED;

/// Interface of the imports that are added, as in `wit/engine.wit`.
const METER: &str = "agent-spaces:engine/meter@0.1.0";

/// Export of the global with what is left, for functions that the host compiles: `host/aot`.
const LEFT: &str = "agent_spaces_meter_left";

/// Export of the engine that bindings call before they call the host: it [notes](support::note) what is left.
pub(crate) const NOTE: &str = "agent_spaces_meter_note";

/// Targets of a jump beyond which it may be the interpreter's, which has one for every bytecode.
const DISPATCH_TARGETS: u32 = 200;

/// Returns the module, metered. Without `charges` it has the same imports and exports, for benchmarks of what metering costs.
pub(crate) fn add(wasm: &[u8], charges: bool) -> Result<Vec<u8>> {
    let facts = Facts::read(wasm)?;
    ensure!(
        facts.functions.iter().any(|function| function.steps),
        "the engine reports no steps of scripts: its QuickJS lacks the patch guest-js/patches/0100-*.patch"
    );
    let interpreters = facts.interpreters();
    ensure!(!interpreters.is_empty(), "the engine has no interpreter of bytecode");
    let entries = calls::charged(&facts, &interpreters)?;
    reencode::write(wasm, &facts, &entries, charges).context("writing the metered module")
}
