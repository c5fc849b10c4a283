//! Blocks, nested by dominance: Ramsey, "Beyond Relooper".

use super::Emitter;
use super::assembler::Label;
use super::exits::Reason;
use super::space;
use super::state::{Entry, State, Value, Variable};
use crate::opcode::Op;
use crate::value::{Kinds, UNDEFINED};
use wasm_encoder::ValType::I64;

/// Labels of a block: as the begin of a loop, and as the end of the WebAssembly block before it.
#[derive(Clone, Copy)]
pub(super) struct Labels {
    begin: Label,
    before: Label,
}

impl Emitter<'_, '_> {
    pub(super) fn first_entry(&self) -> Entry {
        let (args, vars) = (usize::from(self.function.args), usize::from(self.function.vars));
        Entry { locals: vec![Kinds::OTHER; vars], args: vec![Kinds::ANY; args], stack: Vec::new(), has_frame: false }
    }

    /// Compiles what comes before the first block.
    pub(super) fn prologue(&mut self) {
        self.state = State::default();
        self.load_left();
        self.take_room();
        for index in 0..self.function.vars {
            let local = self.boxed_local(Variable::Local(index));
            self.code.i64(UNDEFINED).set(local);
        }
        if self.flow.blocks[0].is_loop {
            self.charge(self.target.cost);
        }
        // Its later turns have one.
        if self.entries[0].as_ref().is_some_and(|entry| entry.has_frame) {
            self.make_frame();
        }
    }

    /// Compiles a block and those that it dominates.
    pub(super) fn nest(&mut self, block: usize) -> Option<()> {
        let flow = self.flow;
        let mut merges: Vec<usize> =
            flow.blocks[block].dominated.iter().copied().filter(|other| flow.blocks[*other].is_merge).collect();
        merges.sort_unstable();
        if flow.blocks[block].is_loop {
            let label = self.labels(block).begin;
            self.code.begin_loop(label);
        }
        self.nest_before(block, &merges)?;
        if flow.blocks[block].is_loop {
            self.code.unreachable().end();
        }
        Some(())
    }

    /// Compiles a block inside WebAssembly blocks that end where others begin, and then those.
    fn nest_before(&mut self, block: usize, merges: &[usize]) -> Option<()> {
        let Some((last, rest)) = merges.split_last() else {
            self.begin_block(block)?;
            if self.straight_line()? {
                return Some(());
            }
            return self.end_block(Self::branch);
        };
        let label = self.labels(*last).before;
        self.code.block(label);
        self.nest_before(block, rest)?;
        self.code.unreachable().end();
        self.nest(*last)
    }

    fn labels(&mut self, block: usize) -> Labels {
        if let Some(labels) = self.labels.get(&block) {
            return *labels;
        }
        let labels = Labels { begin: self.code.label(), before: self.code.label() };
        self.labels.insert(block, labels);
        labels
    }

    fn branch(&mut self, to: usize) -> Option<()> {
        self.match_entry(to)?;
        let (block, at) = (self.block, self.at);
        if to <= block {
            let label = self.labels(to).begin;
            self.code.br(label);
        } else if self.flow.blocks[to].is_merge {
            let label = self.labels(to).before;
            self.code.br(label);
        } else {
            self.nest(to)?;
            (self.block, self.at) = (block, at);
        }
        Some(())
    }

    /// Brings variables and the stack to where a block expects them.
    fn match_entry(&mut self, to: usize) -> Option<()> {
        let entry = self.entries[to].clone()?;
        let locals = (0u16..).map(Variable::Local).zip(entry.locals.iter());
        let args = (0u16..).map(Variable::Arg).zip(entry.args.iter());
        for (variable, wanted) in locals.chain(args) {
            if self.state.variable(variable).is_int() && !wanted.is_int() {
                let (int, boxed) = (self.int_local(variable), self.boxed_local(variable));
                self.code.get(int).zero_extended().set(boxed);
            }
        }
        for value in self.state.stack.clone() {
            self.take(value);
        }
        for index in (0..self.state.stack.len()).rev() {
            let local = self.shared_local(space::STACK, index as u16, I64);
            self.code.set(local);
        }
        if entry.has_frame && !self.state.has_frame {
            self.make_frame();
        }
        Some(())
    }

    pub(super) fn begin_block(&mut self, block: usize) -> Option<()> {
        let entry = self.entries[block].clone()?;
        let mut stack = Vec::new();
        for (index, kinds) in entry.stack.iter().enumerate() {
            let local = self.shared_local(space::STACK, index as u16, I64);
            stack.push(Value::Boxed { local, kinds: *kinds, is_owned: true });
        }
        let owed = if block == 0 && !self.flow.blocks[0].is_loop { self.target.cost } else { 0 };
        self.block = block;
        self.state = State { locals: entry.locals, args: entry.args, stack, has_frame: entry.has_frame, owed };
        Some(())
    }

    /// Compiles a block's instructions up to a jump. Returns true if nothing follows.
    pub(super) fn straight_line(&mut self) -> Option<bool> {
        let function = self.function;
        for instruction in &function.instructions[self.flow.blocks[self.block].instructions.clone()] {
            self.at = *instruction;
            if self.code.len() > super::MAX_STEPS {
                return None;
            }
            match instruction.op {
                Op::Goto(_) | Op::If { .. } => return Some(false),
                op if op.is_left() => {
                    self.leave(self.state.stack.clone(), Reason::Instruction);
                    return Some(true);
                }
                op => {
                    if !self.operation(op)? {
                        return Some(true);
                    }
                }
            }
        }
        Some(false)
    }

    /// Ends a block: `branch` is called for each that may follow.
    pub(super) fn end_block(&mut self, mut branch: impl FnMut(&mut Self, usize) -> Option<()>) -> Option<()> {
        let successors = &self.flow.blocks[self.block].successors;
        let Op::If { when, .. } = self.at.op else {
            if matches!(self.at.op, Op::Goto(_)) {
                self.step_of_script();
            }
            self.charge_owed();
            return branch(self, *successors.first()?);
        };
        let stack = self.state.stack.clone();
        let condition = self.state.pop()?;
        self.load_truth(condition, &stack);
        let local = self.i32_local();
        self.code.set(local);
        self.step_of_script();
        self.charge_owed();
        self.code.get(local);
        if !when {
            self.code.eqz();
        }
        let (state, block, at) = (self.state.clone(), self.block, self.at);
        self.code.begin_if();
        branch(self, *successors.first()?)?;
        self.code.begin_else();
        (self.state, self.block, self.at) = (state, block, at);
        branch(self, *successors.get(1)?)?;
        self.code.end().unreachable();
        Some(())
    }
}
