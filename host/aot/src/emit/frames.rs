//! Stack frame that the engine sees, and what a compiled function charges.

use super::{Emitter, space};
use crate::unit::Shared;
use crate::value::{OBJECT, UNDEFINED};
use wasm_encoder::Instruction;
use wasm_encoder::ValType::{I32, I64};

impl Emitter<'_, '_> {
    /// The address of the frame.
    pub(super) fn frame(&mut self) -> u32 {
        self.shared_local(space::FRAME, 0, I32)
    }

    fn frame_word(&mut self, offset: u32, value: u32) {
        let frame = self.frame();
        self.code.get(frame).address(value).store32(offset);
    }

    fn frame_place(&mut self, offset: u32, place: u32) {
        let frame = self.frame();
        self.code.get(frame).get(frame).address(place).add().store32(offset);
    }

    /// Makes the frame if there is none.
    pub(super) fn need_frame(&mut self) {
        if !self.state.has_frame {
            self.make_frame();
            self.state.has_frame = true;
        }
    }

    /// Makes the frame: as much of it as the engine looks at while the function runs.
    pub(super) fn make_frame(&mut self) {
        let (layout, frame) = (*self.shared.layout, self.frame());
        let stack_pointer = self.shared.bases.stack_pointer;
        self.code.plain(Instruction::GlobalGet(stack_pointer)).address(self.places.size).sub();
        self.code.tee(frame).plain(Instruction::GlobalSet(stack_pointer));
        self.code.get(frame).i32(0).load32(layout.current_frame).store32(layout.frame_previous);
        self.code.get(frame).get(Self::FUNCTION).zero_extended().i64(OBJECT).or64().store64(layout.frame_function);
        // Nothing was called yet.
        self.frame_word(layout.frame_pc, 0);
        // `is_constructor` is the byte behind.
        self.frame_word(layout.frame_is_strict, u32::from(self.function.is_strict));
        self.code.i32(0).get(frame).store32(layout.current_frame);
    }

    /// Unlinks the frame and frees its memory.
    pub(super) fn drop_frame(&mut self) {
        let (layout, frame) = (*self.shared.layout, self.frame());
        self.code.i32(0).get(frame).load32(layout.frame_previous).store32(layout.current_frame);
        self.free_frame();
    }

    pub(super) fn free_frame(&mut self) {
        let frame = self.frame();
        self.code.get(frame).address(self.places.size).add();
        self.code.plain(Instruction::GlobalSet(self.shared.bases.stack_pointer));
    }

    /// Sets the parts of a frame that the interpreter needs and compiled functions do not.
    pub(super) fn complete_frame(&mut self) {
        let (layout, places) = (*self.shared.layout, self.places);
        self.frame_place(layout.frame_args, places.args);
        self.frame_place(layout.frame_vars, places.vars);
        // It has no variables that closures hold.
        self.frame_place(layout.frame_refs, places.exit);
        // `arg_count` is the half word behind.
        self.frame_word(layout.frame_ref_count, u32::from(self.function.args) << 16);
        self.frame_word(layout.frame_sp, 0);
        self.frame_word(layout.frame_owner, 0);
    }

    /// Stores the position in the bytecode, for code that looks at the frame.
    pub(super) fn store_position(&mut self) {
        let frame = self.frame();
        let position = self.function.code + self.at.next;
        let offset = self.shared.layout.frame_pc;
        self.code.get(frame).address(position).store32(offset);
    }

    fn left(&mut self) -> u32 {
        self.shared_local(space::LEFT, 0, I64)
    }

    pub(super) fn load_left(&mut self) {
        if self.keeps_left {
            let left = self.left();
            self.code.plain(Instruction::GlobalGet(self.shared.bases.left)).set(left);
        }
    }

    pub(super) fn store_left(&mut self) {
        if self.keeps_left {
            let left = self.left();
            self.code.get(left).plain(Instruction::GlobalSet(self.shared.bases.left));
        }
    }

    /// Notes a step, which is charged with others.
    pub(super) fn step_of_script(&mut self) {
        self.state.owed = self.state.owed.saturating_add(self.shared.layout.step);
    }

    /// Charges what is owed, and asks for more where nothing is left.
    pub(super) fn charge_owed(&mut self) {
        let owed = std::mem::take(&mut self.state.owed);
        self.charge(owed);
    }

    pub(super) fn charge(&mut self, cost: u32) {
        if cost == 0 {
            return;
        }
        let left = self.left();
        let global = self.shared.bases.left;
        if self.keeps_left {
            self.code.get(left);
        } else {
            self.code.plain(Instruction::GlobalGet(global));
        }
        self.code.i64(cost.into()).plain(Instruction::I64Sub).tee(left);
        if !self.keeps_left {
            self.code.plain(Instruction::GlobalSet(global)).get(left);
        }
        self.code.i64(0).plain(Instruction::I64LeS).begin_if();
        self.store_left();
        self.helper(self.shared.layout.more());
        self.load_left();
        self.code.end();
    }

    /// Takes room for the call, so that calls nest as deep as interpreted ones.
    pub(super) fn take_room(&mut self) {
        let (layout, room, taken) = (*self.shared.layout, self.i32_local(), self.room());
        self.code.i32(0).i32(0).load32(layout.room).address(taken).sub().tee(room).store32(layout.room);
        self.code.get(room).i32(0).lt_s().begin_if();
        // What the interpreter has charged when it finds out.
        self.charge(self.target.cost);
        self.store_left();
        self.helper(layout.too_deep());
        self.code.unreachable().end();
    }

    pub(super) fn give_room_back(&mut self) {
        let (layout, taken) = (*self.shared.layout, self.room());
        self.code.i32(0).i32(0).load32(layout.room).address(taken).add().store32(layout.room);
    }

    fn room(&self) -> u32 {
        let (layout, function) = (self.shared.layout, self.function);
        let values = u32::from(function.args) + u32::from(function.vars) + u32::from(function.stack);
        layout.room_of_call + layout.room_of_value * values
    }
}

/// Returns the function that the engine calls: it takes the arguments from memory, and the engine has charged the call already.
pub(crate) fn entry(target: crate::unit::Target, shared: &Shared<'_>) -> wasm_encoder::Function {
    let mut code = super::Assembler::new(4);
    let left = shared.bases.left;
    code.plain(Instruction::GlobalGet(left)).i64(target.cost.into()).plain(Instruction::I64Add);
    code.plain(Instruction::GlobalSet(left));
    code.get(0).wrap();
    if target.uses_this {
        code.get(1);
    }
    let argument = code.local(I64);
    for index in 0..u32::from(target.args) {
        code.i64(UNDEFINED).set(argument);
        code.address(index).get(2).plain(Instruction::I32LtS).begin_if();
        code.get(3).load64(8 * index).set(argument).end().get(argument);
    }
    code.call(target.function);
    code.finish()
}
