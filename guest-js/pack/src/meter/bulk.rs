//! Charges of instructions that copy, fill or grow any amount at once.

use super::charge::Meter;
use wasm_encoder::{BlockType, Function};
use wasmparser::Operator;

/// Cost of one instruction besides its amount.
const BASE_COST: i64 = 8;

/// Cost of an amount: it is shifted to the right by this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shift(i64);

/// A unit for each sixteen bytes, which is what copying costs in time.
const BYTES: Shift = Shift(4);
/// A unit for each element.
const ELEMENTS: Shift = Shift(0);
/// A page is zeroed and mapped when it is first used: as much as copying it.
const PAGES: i64 = 12;

fn shift(operator: &Operator<'_>) -> Option<Shift> {
    Some(match operator {
        Operator::MemoryCopy { .. } | Operator::MemoryFill { .. } | Operator::MemoryInit { .. } => BYTES,
        Operator::TableCopy { .. }
        | Operator::TableFill { .. }
        | Operator::TableInit { .. }
        | Operator::TableGrow { .. } => ELEMENTS,
        _ => return None,
    })
}

/// Returns true if an instruction is charged by its amount, which is its last operand.
pub(super) fn is_bulk(operator: &Operator<'_>) -> bool {
    shift(operator).is_some() || matches!(operator, Operator::MemoryGrow { .. })
}

/// Writes an instruction that grows memory by so many pages on top of the stack, and charges them if it does. What is
/// refused is charged as an instruction: a script that asks for all memory at once has not used it. `amount` is a local for
/// the pages, and the next one for the result.
pub(super) fn grow(meter: Meter, function: &mut Function, amount: u32, note: u32) {
    let result = amount + 1;
    function.instructions().local_set(amount);
    meter.charge(function, BASE_COST);
    let mut sink = function.instructions();
    // The run may end there.
    sink.call(note).local_get(amount).memory_grow(0).local_tee(result);
    sink.i32_const(-1).i32_ne().if_(BlockType::Empty);
    sink.global_get(meter.global).local_get(amount).i64_extend_i32_u().i64_const(PAGES).i64_shl();
    meter.take(&mut sink);
    sink.end().local_get(result);
}

/// Charges the amount on top of the operands, which stays there. `amount` is a local for it.
pub(super) fn charge(meter: Meter, function: &mut Function, operator: &Operator<'_>, amount: u32) {
    let Some(Shift(shift)) = shift(operator) else { return };
    let mut sink = function.instructions();
    sink.local_tee(amount);
    sink.global_get(meter.global).local_get(amount).i64_extend_i32_u();
    sink.i64_const(shift).i64_shr_u();
    sink.i64_const(BASE_COST).i64_add();
    meter.take(&mut sink);
}
