//! Exits to the interpreter, which finishes the call.

use super::state::{Value, Variable};
use super::{Emitter, space};
use crate::value::{UNDEFINED, UNINITIALIZED, tag};
use wasm_encoder::Instruction;
use wasm_encoder::ValType::{I32, I64};

/// State that all places that share an exit have in common.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Exit {
    /// True for each variable that is an integer.
    locals: Vec<bool>,
    args: Vec<bool>,
    has_frame: bool,
    depth: usize,
    reason: Reason,
    owed: u32,
}

/// Why the interpreter goes on with a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reason {
    /// A value is not what was guessed, or not what `js_run_quick` takes.
    Value,
    /// The instruction is not compiled.
    Instruction,
    /// A call has thrown.
    Exception,
}

impl Emitter<'_, '_> {
    /// Leaves if the loaded 32 bits are not zero: the interpreter goes on at this instruction, with this stack.
    pub(super) fn leave_if(&mut self, stack: &[Value]) {
        self.code.begin_if();
        self.leave(stack.to_vec(), Reason::Value);
        self.code.end();
    }

    /// Leaves unless the stack's reference can go without freeing the value: then the interpreter takes another way.
    pub(super) fn leave_unless_droppable(&mut self, value: Value, stack: &[Value]) {
        if !self.is_owned(value) {
            return;
        }
        self.load_is_last(value);
        self.leave_if(stack);
    }

    /// Loads whether a value is counted and has one reference.
    pub(super) fn load_is_last(&mut self, value: Value) {
        self.load(value);
        self.code.tag().i32(tag::FIRST_COUNTED).ge_u().if_i32();
        self.load(value);
        self.code.wrap().address(self.shared.layout.reference_count).sub().load32(0).i32(1).le_s();
        self.code.begin_else().i32(0).end();
    }

    /// Leaves if the loaded value, which goes into this local, says that the engine's function did nothing.
    pub(super) fn leave_if_undone(&mut self, result: u32, stack: &[Value]) {
        self.code.tee(result).i64(UNINITIALIZED).eq64();
        self.leave_if(stack);
    }

    /// Leaves. The stack's references are the interpreter's from now on.
    pub(super) fn leave(&mut self, stack: Vec<Value>, reason: Reason) {
        let exit = Exit {
            locals: self.state.locals.iter().map(|kinds| kinds.is_int()).collect(),
            args: self.state.args.iter().map(|kinds| kinds.is_int()).collect(),
            has_frame: self.state.has_frame,
            depth: stack.len(),
            reason,
            owed: self.state.owed,
        };
        let label = match self.exits.iter().find(|(other, _)| *other == exit) {
            Some((_, label)) => *label,
            None => {
                let label = self.code.label();
                self.exits.push((exit, label));
                label
            }
        };
        for (index, value) in stack.into_iter().enumerate() {
            self.take(value);
            let local = self.shared_local(space::EXIT_STACK, index as u16, I64);
            self.code.set(local);
        }
        let position = if reason == Reason::Exception { self.at.next } else { self.at.pc };
        let pc = self.exit_pc();
        self.code.address(self.function.code + position).set(pc).br(label);
    }

    fn exit_pc(&mut self) -> u32 {
        self.shared_local(space::EXIT_PC, 0, I32)
    }

    /// Puts the exits' code around that of the function. Returns `None` if that is too much.
    pub(super) fn finish_exits(&mut self) -> Option<()> {
        let body = self.code.cut();
        let exits = std::mem::take(&mut self.exits);
        for (_, label) in exits.iter().rev() {
            self.code.block(*label);
        }
        self.code.append(body);
        self.code.unreachable();
        for (exit, _) in &exits {
            self.code.end();
            self.exit(exit);
            if self.code.len() > super::MAX_STEPS {
                return None;
            }
        }
        Some(())
    }

    fn exit(&mut self, exit: &Exit) {
        let (places, frame) = (self.places, self.frame());
        self.charge(exit.owed);
        self.store_left();
        if !exit.has_frame {
            self.make_frame();
        }
        self.complete_frame();
        for (index, is_int) in exit.args.iter().enumerate() {
            let index = index as u16;
            self.code.get(frame);
            self.load_as(Variable::Arg(index), *is_int);
            if !is_int {
                self.code.call(self.shared.duplicate());
            }
            self.code.store64(places.args + 8 * u32::from(index));
        }
        for (index, is_int) in exit.locals.iter().enumerate() {
            let index = index as u16;
            self.code.get(frame);
            self.load_as(Variable::Local(index), *is_int);
            self.code.store64(places.vars + 8 * u32::from(index));
        }
        for index in 0..exit.depth {
            let local = self.shared_local(space::EXIT_STACK, index as u16, I64);
            self.code.get(frame).get(local).store64(places.stack + 8 * index as u32);
        }
        // A JSCompiledExit: frame, variables, end of the stack, position, `this`, whether something was thrown, and whether a
        // guess failed.
        let pc = self.exit_pc();
        self.code.get(frame).get(frame).store32(places.exit);
        self.code.get(frame).get(frame).address(places.args).add().store32(places.exit + 4);
        let end = places.stack + 8 * exit.depth as u32;
        self.code.get(frame).get(frame).address(end).add().store32(places.exit + 8);
        self.code.get(frame).get(pc).store32(places.exit + 12);
        self.code.get(frame);
        if self.target.uses_this {
            self.code.get(Self::THIS);
        } else {
            self.code.i64(UNDEFINED);
        }
        self.code.store64(places.exit + 16);
        self.code.get(frame).i32(i32::from(exit.reason == Reason::Exception)).store32(places.exit + 24);
        self.code.get(frame).i32(i32::from(exit.reason == Reason::Value)).store32(places.exit + 28);
        // The function that goes on charges a step, as for a call.
        let left = self.shared.bases.left;
        let step = i64::from(self.shared.layout.step);
        self.code.plain(Instruction::GlobalGet(left)).i64(step).plain(Instruction::I64Add);
        self.code.plain(Instruction::GlobalSet(left));
        self.code.get(frame).address(places.exit).add();
        self.helper(self.shared.layout.exit());
        // The interpreter has unlinked the frame.
        self.free_frame();
        self.give_room_back();
        self.code.return_();
    }

    fn load_as(&mut self, variable: Variable, is_int: bool) {
        if is_int {
            let local = self.int_local(variable);
            self.code.get(local).zero_extended();
        } else {
            let local = self.boxed_local(variable);
            self.code.get(local);
        }
    }
}
