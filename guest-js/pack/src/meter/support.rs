//! Functions that metering adds to the engine.

use super::charge::Meter;
use wasm_encoder::{BlockType, Function};

/// Credit while the host allocates in the engine. It may not be called back meanwhile, so that what is then used is
/// asked for at the next charge; each such allocation is of a bounded size.
const CREDIT: i64 = 1 << 62;

/// Function that asks the host for the next slice: not inline, because it seldom happens.
pub(super) fn refill(meter: u32, import: u32) -> Function {
    let mut function = Function::new([]);
    function.instructions().global_get(meter).call(import).global_set(meter).end();
    function
}

/// Function that tells the host how much is left, before something that the host records with the fuel used so far. It takes
/// one unit itself: a replayed run that was ended there has used more than at the last charge, so it gets as far again.
pub(super) fn note(meter: u32, import: u32) -> Function {
    let mut function = Function::new([]);
    let mut sink = function.instructions();
    sink.global_get(meter).i64_const(CREDIT / 2).i64_gt_s().if_(BlockType::Empty).return_().end();
    sink.global_get(meter).i64_const(1).i64_sub().global_set(meter);
    sink.global_get(meter).call(import).end();
    function
}

/// An exported function that notes what is left when it returns to the host.
pub(super) fn noting(function: u32, parameters: u32, note: u32) -> Function {
    let mut wrapper = Function::new([]);
    let mut sink = wrapper.instructions();
    for parameter in 0..parameters {
        sink.local_get(parameter);
    }
    sink.call(function).call(note).end();
    wrapper
}

/// An exported function that the host calls where it may not be called back.
pub(super) fn on_credit(function: u32, parameters: u32, meter: Meter) -> Function {
    let mut wrapper = Function::new([]);
    let mut sink = wrapper.instructions();
    sink.global_get(meter.global).i64_const(CREDIT).i64_add().global_set(meter.global);
    for parameter in 0..parameters {
        sink.local_get(parameter);
    }
    sink.call(function);
    sink.global_get(meter.global).i64_const(CREDIT).i64_sub().global_set(meter.global).end();
    wrapper
}
