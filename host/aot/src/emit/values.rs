//! Moves of values between variables, the stack and memory.

use super::state::{Value, Variable};
use super::{Emitter, space};
use crate::value::{FALSE, Kinds};
use wasm_encoder::ValType::{I32, I64};

impl Emitter<'_, '_> {
    /// The local of a variable that is boxed.
    pub(super) fn boxed_local(&mut self, variable: Variable) -> u32 {
        match variable {
            Variable::Local(index) => self.shared_local(space::LOCAL, index, I64),
            Variable::Arg(index) => 1 + u32::from(self.target.uses_this) + u32::from(index),
        }
    }

    /// The local of a variable that is an integer.
    pub(super) fn int_local(&mut self, variable: Variable) -> u32 {
        match variable {
            Variable::Local(index) => self.shared_local(space::LOCAL, index, I32),
            Variable::Arg(index) => self.shared_local(space::ARG, index, I32),
        }
    }

    /// Loads a variable, boxed.
    pub(super) fn load_variable(&mut self, variable: Variable) {
        if self.state.variable(variable).is_int() {
            let local = self.int_local(variable);
            self.code.get(local).zero_extended();
        } else {
            let local = self.boxed_local(variable);
            self.code.get(local);
        }
    }

    /// Loads a value, boxed, without a reference of its own.
    pub(super) fn load(&mut self, value: Value) {
        match value {
            Value::Int(int) => {
                self.code.i64(i64::from(int as u32));
            }
            Value::Constant(bits, _) => {
                self.code.i64(bits);
            }
            Value::Int32(local) => {
                self.code.get(local).zero_extended();
            }
            Value::Bool(local) => {
                self.code.get(local).zero_extended().i64(FALSE).or64();
            }
            Value::Local(index) => self.load_variable(Variable::Local(index)),
            Value::Arg(index) => self.load_variable(Variable::Arg(index)),
            Value::Boxed { local, .. } => {
                self.code.get(local);
            }
        }
    }

    pub(super) fn is_owned(&self, value: Value) -> bool {
        matches!(value, Value::Boxed { is_owned: true, .. }) && self.state.kinds(value).may_be(Kinds::HEAP)
    }

    /// Loads a value with the stack's reference, or a new one if the stack has none.
    pub(super) fn take(&mut self, value: Value) {
        self.load(value);
        if !matches!(value, Value::Boxed { is_owned: true, .. }) {
            self.duplicate(self.state.kinds(value));
        }
    }

    /// Loads a value with a new reference.
    pub(super) fn copy(&mut self, value: Value) {
        self.load(value);
        self.duplicate(self.state.kinds(value));
    }

    /// Gives the loaded value a reference if it may need one.
    pub(super) fn duplicate(&mut self, kinds: Kinds) {
        if kinds.may_be(Kinds::HEAP) {
            self.code.call(self.shared.duplicate());
        }
    }

    /// Gives back the stack's reference.
    pub(super) fn release(&mut self, value: Value) {
        if self.is_owned(value) {
            self.load(value);
            self.code.call(self.shared.release());
        }
    }

    /// Loads a value that is known to be an integer, or a bool.
    pub(super) fn load_int(&mut self, value: Value) {
        match value {
            Value::Int(int) => {
                self.code.i32(int);
            }
            Value::Int32(local) | Value::Bool(local) => {
                self.code.get(local);
            }
            Value::Local(_) | Value::Arg(_) if self.state.kinds(value).is_int() => {
                let local = match value {
                    Value::Arg(index) => self.int_local(Variable::Arg(index)),
                    Value::Local(index) => self.int_local(Variable::Local(index)),
                    _ => return,
                };
                self.code.get(local);
            }
            _ => {
                self.load(value);
                self.code.wrap();
            }
        }
    }

    pub(super) fn push(&mut self, value: Value) {
        self.state.stack.push(value);
    }

    pub(super) fn push_loaded_int(&mut self) {
        let local = self.i32_local();
        self.code.set(local);
        self.push(Value::Int32(local));
    }

    pub(super) fn push_loaded_bool(&mut self) {
        let local = self.i32_local();
        self.code.set(local);
        self.push(Value::Bool(local));
    }

    /// Copies a variable that is about to change, where the stack refers to it.
    pub(super) fn detach(&mut self, variable: Variable) {
        for index in 0..self.state.stack.len() {
            let value = self.state.stack[index];
            if value != variable.value() {
                continue;
            }
            self.state.stack[index] = if self.state.kinds(value).is_int() {
                let local = self.i32_local();
                self.load_int(value);
                self.code.set(local);
                Value::Int32(local)
            } else {
                let (local, kinds) = (self.i64_local(), self.state.kinds(value));
                self.copy(value);
                self.code.set(local);
                Value::Boxed { local, kinds, is_owned: true }
            };
        }
    }

    /// Assigns a value that was popped to a variable; with `keeps`, one that is still on the stack.
    pub(super) fn assign(&mut self, variable: Variable, value: Value, keeps: bool) {
        if value == variable.value() {
            return;
        }
        let (old, new) = (self.state.variable(variable), self.state.kinds(value));
        self.detach(variable);
        let local = if new.is_int() {
            self.load_int(value);
            self.int_local(variable)
        } else {
            if keeps {
                self.copy(value);
            } else {
                self.take(value);
            }
            self.boxed_local(variable)
        };
        if old.may_be(Kinds::HEAP) {
            // The new value is in place before the old one goes: that may run code, which sees neither.
            let before = self.boxed_local(variable);
            let kept = self.i64_local();
            self.code.get(before).set(kept).set(local);
            self.state.set(variable, new);
            self.code.get(kept).call(self.shared.release());
        } else {
            self.code.set(local);
            self.state.set(variable, new);
        }
    }
}
