//! Depth of calls.

pub(super) const CODE: &str = "limit.stack";
pub(super) const ADVICE: &str = "Look for a recursion that does not end, or use a loop";

/// The native stack of wasm code: a plain recursive function was seen to nest 5,000 deep and not 8,000.
/// The engine's own stack in linear memory is a little larger; whichever is met first ends the run with
/// the same code.
pub(crate) const WASM_STACK_BYTES: usize = 4 << 20;

/// The whole stack of a run that computes: what wasm may use, and room for the host functions that it
/// calls. A run that waits has none.
pub(crate) const FIBER_STACK_BYTES: usize = WASM_STACK_BYTES + (512 << 10);

pub(super) fn message() -> String {
    "The script's calls are nested too deep".into()
}
