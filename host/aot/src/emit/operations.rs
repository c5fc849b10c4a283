//! Instructions that move values, and the dispatch to the others.

use super::Emitter;
use super::state::{Value, Variable};
use crate::opcode::{Op, RefCheck};
use crate::value::{FALSE, Kinds, NULL, UNDEFINED, UNINITIALIZED, tag};

impl Emitter<'_, '_> {
    /// Compiles an instruction. Returns false if nothing follows it in its block.
    pub(super) fn operation(&mut self, op: Op) -> Option<bool> {
        match op {
            Op::Int(int) => self.push(Value::Int(int)),
            Op::Constant(index) => self.constant(index)?,
            Op::Undefined => self.push(Value::Constant(UNDEFINED, Kinds::OTHER)),
            Op::Null => self.push(Value::Constant(NULL, Kinds::OTHER)),
            Op::Bool(is_true) => self.push(Value::Constant(FALSE | i64::from(is_true), Kinds::BOOL)),
            Op::This => self.this(),
            Op::Shuffle(takes, puts) => self.shuffle(takes.into(), puts)?,
            Op::GetLocal { index, is_checked } => self.get_local(index, is_checked),
            Op::GetLocals01 => {
                self.get_local(0, false);
                self.get_local(1, false);
            }
            Op::PutLocal { index, is_checked } => {
                if is_checked {
                    self.check_initialized(Variable::Local(index));
                }
                self.put(Variable::Local(index), false)?;
            }
            Op::SetLocal(index) => self.put(Variable::Local(index), true)?,
            Op::UninitLocal(index) => self.uninitialize(Variable::Local(index)),
            Op::GetArg(index) => self.push(Value::Arg(index)),
            Op::GetRef { index, is_checked } => self.get_ref(index, is_checked)?,
            Op::PutRef { index, check } => self.put_ref(index, check, false)?,
            Op::SetRef(index) => self.put_ref(index, RefCheck::None, true)?,
            Op::Arith(op) => self.arith(op)?,
            Op::Logic(op) => self.logic(op)?,
            Op::Compare(op, is_strict) => self.compare(op, is_strict)?,
            Op::Step(by) => {
                let stack = self.state.stack.clone();
                let value = self.state.pop()?;
                let sum = self.step(value, by, &stack);
                self.push(sum);
            }
            Op::PostStep(by) => return self.post_step(by),
            Op::StepLocal(index, by) => self.step_local(index, by)?,
            Op::AddLocal(index) => self.add_local(index)?,
            Op::Neg | Op::Plus | Op::Not => return self.unary(op),
            Op::LogicalNot => {
                let stack = self.state.stack.clone();
                let value = self.state.pop()?;
                self.load_truth(value, &stack);
                self.code.eqz();
                self.push_loaded_bool();
            }
            Op::IsUndefined => self.is_one_of(&[tag::UNDEFINED])?,
            Op::IsNull => self.is_one_of(&[tag::NULL])?,
            Op::IsUndefinedOrNull => self.is_one_of(&[tag::UNDEFINED, tag::NULL])?,
            Op::ToPropertyKey => self.property_key()?,
            // It polls where code is long and has no jumps.
            Op::Nop => {
                self.step_of_script();
                self.charge_owed();
            }
            Op::Return | Op::ReturnUndefined => {
                let result = match op {
                    Op::Return => self.state.pop()?,
                    _ => Value::Constant(UNDEFINED, Kinds::OTHER),
                };
                self.return_value(result);
                return Some(false);
            }
            Op::Call { argc, is_method, is_tail } => return self.call(argc.into(), is_method, is_tail),
            Op::GetElement { keeps_object } => self.get_element(keeps_object)?,
            Op::PutElement => self.put_element()?,
            Op::GetLength => self.get_length()?,
            Op::Goto(_) | Op::If { .. } | Op::Closure(_) | Op::SetName | Op::WriteArg | Op::Other => {
                return None;
            }
        }
        Some(true)
    }

    fn constant(&mut self, index: u32) -> Option<()> {
        let bits = *self.function.constants.get(index as usize)?;
        let kinds = Kinds::of(bits);
        if !kinds.may_be(Kinds::HEAP) {
            self.push(Value::Constant(bits as i64, kinds));
            return Some(());
        }
        // The function keeps it.
        let local = self.i64_local();
        self.code.i64(bits as i64).set(local);
        self.push(Value::Boxed { local, kinds, is_owned: false });
        Some(())
    }

    /// A function that is not strict has another `this` than it is given, unless that is an object.
    fn this(&mut self) {
        if !self.function.is_strict {
            self.code.get(Self::THIS).tag().i32(tag::OBJECT as u32 as i32).sub();
            self.leave_if(&self.state.stack.clone());
        }
        self.push(Value::Boxed { local: Self::THIS, kinds: Kinds::ANY, is_owned: false });
    }

    fn shuffle(&mut self, takes: usize, puts: &[u8]) -> Option<()> {
        let taken = self.state.pop_many(takes)?;
        let mut is_used = vec![false; takes];
        for put in puts {
            let value = *taken.get(usize::from(*put))?;
            let value = match value {
                Value::Boxed { kinds, .. } if is_used[usize::from(*put)] && self.is_owned(value) => {
                    let local = self.i64_local();
                    self.copy(value);
                    self.code.set(local);
                    Value::Boxed { local, kinds, is_owned: true }
                }
                _ => value,
            };
            is_used[usize::from(*put)] = true;
            self.push(value);
        }
        for (value, _) in taken.into_iter().zip(is_used).filter(|(_, is_used)| !is_used) {
            self.release(value);
        }
        Some(())
    }

    fn get_local(&mut self, index: u16, is_checked: bool) {
        if is_checked {
            self.check_initialized(Variable::Local(index));
        }
        self.push(Value::Local(index));
    }

    /// Leaves if a variable is not initialized, which is then an error.
    fn check_initialized(&mut self, variable: Variable) {
        let kinds = self.state.variable(variable);
        if !kinds.may_be(Kinds::UNINITIALIZED) {
            return;
        }
        let boxed = self.boxed_local(variable);
        self.code.get(boxed).i64(UNINITIALIZED).eq64();
        self.leave_if(&self.state.stack.clone());
        let kinds = kinds.without(Kinds::UNINITIALIZED);
        if kinds.is_int() {
            let int = self.int_local(variable);
            self.code.get(boxed).wrap().set(int);
        }
        self.state.set(variable, kinds);
    }

    fn put(&mut self, variable: Variable, keeps: bool) -> Option<()> {
        self.leave_unless_assignable(variable);
        let value = if keeps { *self.state.stack.last()? } else { self.state.pop()? };
        self.assign(variable, value, keeps);
        Some(())
    }

    fn uninitialize(&mut self, variable: Variable) {
        self.leave_unless_assignable(variable);
        self.assign(variable, Value::Constant(UNINITIALIZED, Kinds::UNINITIALIZED), false);
    }

    /// Leaves if assigning frees a variable's old value, and the interpreter goes another way then.
    fn leave_unless_assignable(&mut self, variable: Variable) {
        if self.at.may_free() || !self.state.variable(variable).may_be(Kinds::HEAP) {
            return;
        }
        self.load_is_last(variable.value());
        self.leave_if(&self.state.stack.clone());
    }

    /// Loads the address of an outer variable's value.
    fn load_ref(&mut self, index: u16) {
        let layout = *self.shared.layout;
        self.code.get(Self::FUNCTION).load32(layout.object_refs).load32(4 * u32::from(index)).load32(layout.ref_value);
    }

    fn get_ref(&mut self, index: u16, is_checked: bool) -> Option<()> {
        self.function.closure.get(usize::from(index))?;
        let local = self.i64_local();
        self.load_ref(index);
        self.code.load64(0).set(local);
        if is_checked {
            self.code.get(local).i64(UNINITIALIZED).eq64();
            self.leave_if(&self.state.stack.clone());
        }
        // What never changes is kept by its variable.
        let is_owned = !(is_checked && self.guesses.constants.contains(&index));
        if is_owned {
            self.code.get(local).call(self.shared.duplicate()).discard();
        }
        let kinds = if is_checked { Kinds::ANY } else { Kinds::ANY.or(Kinds::UNINITIALIZED) };
        self.push(Value::Boxed { local, kinds, is_owned });
        self.read_from.insert(local, index);
        Some(())
    }

    fn put_ref(&mut self, index: u16, check: RefCheck, keeps: bool) -> Option<()> {
        self.function.closure.get(usize::from(index))?;
        let (address, old) = (self.i32_local(), self.i64_local());
        self.load_ref(index);
        self.code.set(address).get(address).load64(0).set(old);
        let stack = self.state.stack.clone();
        if check != RefCheck::None {
            self.code.get(old).i64(UNINITIALIZED).eq64();
            self.leave_if(&stack);
        }
        if !self.at.may_free() {
            self.load_is_last(Value::Boxed { local: old, kinds: Kinds::ANY, is_owned: false });
            self.leave_if(&stack);
        }
        let value = if keeps { *self.state.stack.last()? } else { self.state.pop()? };
        self.code.get(address);
        if keeps {
            self.copy(value);
        } else {
            self.take(value);
        }
        self.code.store64(0).get(old).call(self.shared.release());
        Some(())
    }

    /// Loads whether a value that was popped is true. Leaves if it is none of integer, boolean, null and undefined.
    pub(super) fn load_truth(&mut self, value: Value, stack: &[Value]) {
        let kinds = self.state.kinds(value);
        if kinds.may_be(Kinds::FLOAT.or(Kinds::HEAP)) {
            self.load(value);
            self.code.tag().i32(tag::UNDEFINED as i32).le_u().eqz();
            self.leave_if(stack);
        }
        self.load_int(value);
    }

    fn is_one_of(&mut self, tags: &[u64]) -> Option<()> {
        let stack = self.state.stack.clone();
        let value = self.state.pop()?;
        self.leave_unless_droppable(value, &stack);
        for (index, tag) in tags.iter().enumerate() {
            self.load(value);
            self.code.tag().i32(*tag as i32).eq();
            if index > 0 {
                self.code.or();
            }
        }
        self.push_loaded_bool();
        self.release(value);
        Some(())
    }

    /// Integers and strings are keys already.
    fn property_key(&mut self) -> Option<()> {
        let value = *self.state.stack.last()?;
        if self.state.kinds(value).is_int() {
            return Some(());
        }
        const STRING: i32 = -7;
        self.load(value);
        self.code.tag().plain(wasm_encoder::Instruction::I32Eqz);
        self.load(value);
        self.code.tag().i32(STRING).eq().or().eqz();
        self.leave_if(&self.state.stack.clone());
        Some(())
    }

    /// Returns a value that was popped.
    pub(super) fn return_value(&mut self, value: Value) {
        self.charge_owed();
        self.store_left();
        let result = self.i64_local();
        self.take(value);
        self.code.set(result);
        // What the stack has of a variable goes with the stack.
        for index in 0..self.function.vars {
            self.detach(Variable::Local(index));
        }
        let stack = std::mem::take(&mut self.state.stack);
        // In the order of the interpreter, so that memory is used again in the same order.
        for index in 0..self.function.vars {
            self.release_variable(Variable::Local(index));
        }
        for value in stack {
            self.release(value);
        }
        if self.state.has_frame {
            self.drop_frame();
        }
        self.give_room_back();
        self.code.get(result).return_();
    }

    fn release_variable(&mut self, variable: Variable) {
        if self.state.variable(variable).may_be(Kinds::HEAP) {
            self.load_variable(variable);
            self.code.call(self.shared.release());
        }
    }
}
