//! Arithmetic and comparisons: integers here, other numbers by the engine.

use super::Emitter;
use super::exits::Reason;
use super::state::{Value, Variable};
use crate::opcode::{Arith, Compare, Logic, Op};
use crate::unit::Helper;
use crate::value::Kinds;
use wasm_encoder::Instruction;

/// Factors up to which a product is guessed to be an integer.
const MAX_GUESSED_FACTOR: u32 = 1024;

fn may_be_guessed(kinds: Kinds) -> bool {
    kinds.is_int() || kinds.may_be(Kinds::INT) && !kinds.is_number()
}

fn both_may_be_heap(left: Kinds, right: Kinds) -> bool {
    left.may_be(Kinds::HEAP) && right.may_be(Kinds::HEAP)
}

impl Emitter<'_, '_> {
    /// True if the code guesses that both are integers, and so is the result.
    fn guesses(&self, op: Arith, left: Value, right: Value) -> bool {
        let (a, b) = (self.state.kinds(left), self.state.kinds(right));
        let is_small = |value| matches!(value, Value::Int(factor) if factor.unsigned_abs() <= MAX_GUESSED_FACTOR);
        let is_guess = match op {
            Arith::Div => false,
            Arith::Mul => is_small(left) || is_small(right),
            Arith::Add => !both_may_be_heap(a, b),
            Arith::Sub | Arith::Mod => true,
        };
        is_guess && may_be_guessed(a) && may_be_guessed(b)
    }

    /// Leaves unless these are integers; returns them as such.
    fn require_ints<const N: usize>(&mut self, values: [Value; N], stack: &[Value]) -> [Value; N] {
        let mut unsure: Vec<Value> = Vec::new();
        for value in values {
            if !self.state.kinds(value).is_int() && !unsure.contains(&value) {
                unsure.push(value);
            }
        }
        if !unsure.is_empty() {
            self.load_tags(&unsure);
            self.leave_if(stack);
        }
        values.map(|value| self.as_int(value))
    }

    /// Loads what is zero if all of these are integers.
    fn load_tags(&mut self, values: &[Value]) {
        for (index, value) in values.iter().enumerate() {
            self.load(*value);
            if index > 0 {
                self.code.or64();
            }
        }
        self.code.tag();
    }

    /// A value that has turned out to be an integer. A variable stays one until it changes.
    fn as_int(&mut self, value: Value) -> Value {
        let variable = match value {
            _ if self.state.kinds(value).is_int() => return value,
            Value::Local(index) => Variable::Local(index),
            Value::Arg(index) => Variable::Arg(index),
            _ => {
                let local = self.i32_local();
                self.load(value);
                self.code.wrap().set(local);
                return Value::Int32(local);
            }
        };
        let (boxed, int) = (self.boxed_local(variable), self.int_local(variable));
        self.code.get(boxed).wrap().set(int);
        self.state.set(variable, Kinds::INT);
        value
    }

    pub(super) fn arith(&mut self, op: Arith) -> Option<()> {
        let stack = self.state.stack.clone();
        let (right, left) = (self.state.pop()?, self.state.pop()?);
        let result = self.arith_of(op, left, right, &stack);
        self.push(result);
        Some(())
    }

    fn arith_of(&mut self, op: Arith, left: Value, right: Value, stack: &[Value]) -> Value {
        if self.guesses(op, left, right) {
            let [left, right] = self.require_ints([left, right], stack);
            self.int_arith(op, left, right, stack)
        } else {
            self.any_arith(op, left, right, stack)
        }
    }

    /// Integer arithmetic; leaves if the result is none.
    fn int_arith(&mut self, op: Arith, left: Value, right: Value, stack: &[Value]) -> Value {
        let result = self.i32_local();
        if op == Arith::Mod {
            self.load_int(left);
            self.code.i32(0).lt_s();
            self.load_int(right);
            self.code.i32(0).le_s().or();
            self.leave_if(stack);
            self.load_int(left);
            self.load_int(right);
            self.code.plain(Instruction::I32RemU).set(result);
            return Value::Int32(result);
        }
        let wide = self.i64_local();
        self.load_wide(op, left, right);
        self.code.tee(wide).wrap().set(result);
        self.code.get(wide).get(result).sign_extended().ne64();
        self.leave_if(stack);
        if op == Arith::Mul && !is_positive(left) && !is_positive(right) {
            self.code.get(result).eqz().if_i32();
            self.load_int(left);
            self.load_int(right);
            self.code.or().i32(0).lt_s().begin_else().i32(0).end();
            self.leave_if(stack);
        }
        Value::Int32(result)
    }

    fn load_wide(&mut self, op: Arith, left: Value, right: Value) {
        self.load_int(left);
        self.code.sign_extended();
        self.load_int(right);
        self.code.sign_extended();
        self.code.plain(match op {
            Arith::Sub => Instruction::I64Sub,
            Arith::Mul => Instruction::I64Mul,
            _ => Instruction::I64Add,
        });
    }

    /// Arithmetic on numbers: integers here, others by the engine. Leaves for anything else.
    fn any_arith(&mut self, op: Arith, left: Value, right: Value, stack: &[Value]) -> Value {
        let (a, b) = (self.state.kinds(left), self.state.kinds(right));
        let (result, done, other) = (self.i64_local(), self.code.label(), self.code.label());
        self.code.block(done);
        if a.may_be(Kinds::INT) && b.may_be(Kinds::INT) && matches!(op, Arith::Add | Arith::Sub | Arith::Mul) {
            let wide = self.i64_local();
            self.code.block(other);
            self.skip_unless_ints(left, right, other);
            self.load_wide(op, left, right);
            self.code.tee(wide).extend32().get(wide).ne64().br_if(other);
            if op == Arith::Mul && !is_positive(left) && !is_positive(right) {
                self.code.get(wide).plain(Instruction::I64Eqz);
                self.load_int(left);
                self.load_int(right);
                self.code.or().i32(0).lt_s().and().br_if(other);
            }
            self.code.get(wide).i64(0xffff_ffff).and64().set(result).br(done).end();
        }
        let opcode = match self.at.op {
            Op::Arith(_) => self.at.number,
            // Of instructions that add as part of something else.
            _ if op == Arith::Sub => crate::opcode::SUB,
            _ => crate::opcode::ADD,
        };
        self.engine_result(self.shared.layout.arith(), [left, right], opcode, result, stack);
        self.code.end();
        Value::Boxed { local: result, kinds: Kinds::NUMBER, is_owned: true }
    }

    fn skip_unless_ints(&mut self, left: Value, right: Value, other: super::assembler::Label) {
        let unsure: Vec<Value> = [left, right].into_iter().filter(|value| !self.state.kinds(*value).is_int()).collect();
        if !unsure.is_empty() {
            self.load_tags(&unsure);
            self.code.br_if(other);
        }
    }

    /// Calls the engine with these values and an opcode, and leaves if it does nothing.
    fn engine_result(&mut self, helper: Helper, values: [Value; 2], opcode: u8, result: u32, stack: &[Value]) {
        for value in values {
            self.load(value);
        }
        self.code.i32(opcode.into());
        self.helper(helper);
        self.leave_if_undone(result, stack);
    }

    pub(super) fn logic(&mut self, op: Logic) -> Option<()> {
        let stack = self.state.stack.clone();
        let (right, left) = (self.state.pop()?, self.state.pop()?);
        let (a, b) = (self.state.kinds(left), self.state.kinds(right));
        if may_be_guessed(a) && may_be_guessed(b) {
            let [left, right] = self.require_ints([left, right], &stack);
            self.load_int(left);
            self.load_int(right);
            self.code.plain(int_logic(op));
            self.push_loaded_int();
            if let (Logic::Shr, Some(Value::Int32(local))) = (op, self.state.stack.last().copied()) {
                self.code.get(local).i32(0).lt_s();
                self.leave_if(&stack);
            }
            return Some(());
        }
        let (result, done, other) = (self.i64_local(), self.code.label(), self.code.label());
        self.code.block(done);
        if a.may_be(Kinds::INT) && b.may_be(Kinds::INT) && op != Logic::Shr {
            self.code.block(other);
            self.skip_unless_ints(left, right, other);
            self.load_int(left);
            self.load_int(right);
            self.code.plain(int_logic(op)).zero_extended().set(result).br(done).end();
        }
        self.engine_result(self.shared.layout.logic(), [left, right], self.at.number, result, &stack);
        self.code.end();
        let value = match op {
            Logic::Shr => Value::Boxed { local: result, kinds: Kinds::NUMBER, is_owned: true },
            _ => self.unboxed(result),
        };
        self.push(value);
        Some(())
    }

    fn unboxed(&mut self, boxed: u32) -> Value {
        let local = self.i32_local();
        self.code.get(boxed).wrap().set(local);
        Value::Int32(local)
    }

    pub(super) fn compare(&mut self, op: Compare, is_strict: bool) -> Option<()> {
        let stack = self.state.stack.clone();
        let (right, left) = (self.state.pop()?, self.state.pop()?);
        let (a, b) = (self.state.kinds(left), self.state.kinds(right));
        let is_equality = matches!(op, Compare::Eq | Compare::Neq);
        if let (true, Value::Constant(bits, Kinds::BOOL | Kinds::OTHER)) = (is_strict, right) {
            self.leave_unless_droppable(left, &stack);
            self.load(left);
            self.code.i64(bits).plain(if op == Compare::Eq { Instruction::I64Eq } else { Instruction::I64Ne });
            self.push_loaded_bool();
            self.release(left);
            return Some(());
        }
        let is_guess = if is_equality { a.is_int() || b.is_int() } else { !both_may_be_heap(a, b) };
        if is_guess
            && may_be_guessed(a)
            && may_be_guessed(b)
            && !(is_equality && (a.may_be(Kinds::HEAP) || b.may_be(Kinds::HEAP)))
        {
            let [left, right] = self.require_ints([left, right], &stack);
            self.load_int(left);
            self.load_int(right);
            self.code.plain(int_compare(op));
            self.push_loaded_bool();
            return Some(());
        }
        let (result, boxed) = (self.i32_local(), self.i64_local());
        let (done, other) = (self.code.label(), self.code.label());
        self.code.block(done);
        if a.may_be(Kinds::INT) && b.may_be(Kinds::INT) {
            self.code.block(other);
            self.skip_unless_ints(left, right, other);
            self.load_int(left);
            self.load_int(right);
            self.code.plain(int_compare(op)).set(result).br(done).end();
        }
        self.engine_result(self.shared.layout.compare(), [left, right], self.at.number, boxed, &stack);
        self.code.get(boxed).wrap().set(result).end();
        self.push(Value::Bool(result));
        Some(())
    }

    /// Adds 1 or -1 to a value that was popped, and returns the sum.
    pub(super) fn step(&mut self, value: Value, by: i32, stack: &[Value]) -> Value {
        let op = if by > 0 { Arith::Add } else { Arith::Sub };
        if may_be_guessed(self.state.kinds(value)) {
            let [value] = self.require_ints([value], stack);
            return self.int_arith(op, value, Value::Int(1), stack);
        }
        // The interpreter goes another way where an integer overflows.
        self.load_tags(&[value]);
        self.code.eqz().begin_if();
        self.load(value);
        self.code.wrap().i32(if by > 0 { i32::MAX } else { i32::MIN }).eq();
        self.leave_if(stack);
        self.code.end();
        self.any_arith(op, value, Value::Int(1), stack)
    }

    /// `x++` as a value: the old one as a number, and the new one. Returns false if the interpreter goes on.
    pub(super) fn post_step(&mut self, by: i32) -> Option<bool> {
        let stack = self.state.stack.clone();
        let value = self.state.pop()?;
        let kinds = self.state.kinds(value);
        if !may_be_guessed(kinds) && !kinds.is_number() {
            self.leave(stack, Reason::Value);
            return Some(false);
        }
        let new = self.step(value, by, &stack);
        let old = if may_be_guessed(kinds) { self.as_int(value) } else { value };
        self.push(old);
        self.push(new);
        Some(true)
    }

    pub(super) fn step_local(&mut self, index: u16, by: i32) -> Option<()> {
        let (variable, stack) = (Variable::Local(index), self.state.stack.clone());
        let new = self.step(variable.value(), by, &stack);
        self.assign(variable, new, false);
        Some(())
    }

    pub(super) fn add_local(&mut self, index: u16) -> Option<()> {
        let (variable, stack) = (Variable::Local(index), self.state.stack.clone());
        let (local, value) = (variable.value(), self.state.pop()?);
        let sum = self.arith_of(Arith::Add, local, value, &stack);
        self.assign(variable, sum, false);
        Some(())
    }

    /// `-x`, `+x` and `~x` of integers. Returns false if the interpreter goes on.
    pub(super) fn unary(&mut self, op: Op) -> Option<bool> {
        let stack = self.state.stack.clone();
        let value = self.state.pop()?;
        if op == Op::Plus && self.state.kinds(value).is_number() {
            self.push(value);
            return Some(true);
        }
        if !may_be_guessed(self.state.kinds(value)) {
            self.leave(stack, Reason::Value);
            return Some(false);
        }
        let [value] = self.require_ints([value], &stack);
        match op {
            Op::Plus => self.push(value),
            Op::Not => {
                self.load_int(value);
                self.code.i32(-1).xor();
                self.push_loaded_int();
            }
            _ => {
                // The opposites of 0 and of the least integer are none.
                self.load_int(value);
                self.code.i32(i32::MAX).and().eqz();
                self.leave_if(&stack);
                self.code.i32(0);
                self.load_int(value);
                self.code.sub();
                self.push_loaded_int();
            }
        }
        Some(true)
    }
}

fn is_positive(value: Value) -> bool {
    matches!(value, Value::Int(int) if int > 0)
}

fn int_logic(op: Logic) -> Instruction<'static> {
    match op {
        Logic::And => Instruction::I32And,
        Logic::Or => Instruction::I32Or,
        Logic::Xor => Instruction::I32Xor,
        Logic::Shl => Instruction::I32Shl,
        Logic::Sar => Instruction::I32ShrS,
        Logic::Shr => Instruction::I32ShrU,
    }
}

fn int_compare(op: Compare) -> Instruction<'static> {
    match op {
        Compare::Lt => Instruction::I32LtS,
        Compare::Lte => Instruction::I32LeS,
        Compare::Gt => Instruction::I32GtS,
        Compare::Gte => Instruction::I32GeS,
        Compare::Eq => Instruction::I32Eq,
        Compare::Neq => Instruction::I32Ne,
    }
}
