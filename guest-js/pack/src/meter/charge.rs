//! Code of a charge.

use wasm_encoder::{BlockType, Function, InstructionSink};

/// Cost of a step of a script, with the bytecode up to the next one; `METER_STEP` in `guest-js/patches/0110-*.patch`.
const STEP_COST: i64 = 64;

/// Cost of a call of a function that charges at its entry.
pub(super) const CALL_COST: i64 = 16;

/// Cost of a turn of a loop: half of its instructions, within these bounds. Long loops have branches that are seldom taken.
const LOOP_COSTS: std::ops::RangeInclusive<i64> = 4..=32;

pub(super) fn loop_cost(instructions: u32) -> i64 {
    (i64::from(instructions) / 2).clamp(*LOOP_COSTS.start(), *LOOP_COSTS.end())
}

/// Global and function that charges use.
#[derive(Clone, Copy)]
pub(super) struct Meter {
    /// Index of the global with the rest of the slice.
    pub global: u32,
    /// Index of the function that asks the host for the next slice.
    pub refill: u32,
    /// True if anything is charged.
    pub is_on: bool,
}

impl Meter {
    /// Writes a charge of a constant cost.
    pub(super) fn charge(self, function: &mut Function, cost: i64) {
        if !self.is_on {
            return;
        }
        let mut sink = function.instructions();
        sink.global_get(self.global).i64_const(cost);
        self.take(&mut sink);
    }

    /// Writes a charge that does not ask for more: the next one does. For places where a call would cost more than what is
    /// charged.
    pub(super) fn note(self, function: &mut Function, cost: i64) {
        if self.is_on {
            function.instructions().global_get(self.global).i64_const(cost).i64_sub().global_set(self.global);
        }
    }

    /// Writes the charge of a step, whose result is 1 if nothing is left, else 0.
    pub(super) fn step(self, function: &mut Function) {
        if !self.is_on {
            function.instructions().i32_const(0);
            return;
        }
        self.note(function, STEP_COST);
        function.instructions().global_get(self.global).i64_const(0).i64_le_s();
    }

    /// Writes code that gives a step back.
    pub(super) fn back(self, function: &mut Function) {
        self.note(function, -STEP_COST);
    }

    /// Writes a charge of the 32 bits on top of the stack, which does not ask for more.
    pub(super) fn charge_loaded(self, function: &mut Function) {
        let mut sink = function.instructions();
        if !self.is_on {
            sink.drop();
            return;
        }
        // -x is !x + 1.
        sink.i64_extend_i32_s().i64_const(-1).i64_xor().i64_const(1).i64_add();
        sink.global_get(self.global).i64_add().global_set(self.global);
    }

    /// Writes code that takes the second operand from the first, and asks for more where nothing is left.
    pub(super) fn take(self, sink: &mut InstructionSink<'_>) {
        sink.i64_sub().global_set(self.global);
        // Not below zero but above it: nothing more happens once the last unit is used.
        sink.global_get(self.global).i64_const(0).i64_le_s();
        sink.if_(BlockType::Empty).call(self.refill).end();
    }
}
