//! Calls: of compiled functions directly, of others by the engine.

use super::Emitter;
use super::exits::Reason;
use super::state::Value;
use crate::unit::Target;
use crate::value::{Kinds, OBJECT, UNDEFINED, tag};

impl Emitter<'_, '_> {
    /// Compiles a call. Returns false if the function returns its result.
    pub(super) fn call(&mut self, argc: usize, is_method: bool, is_tail: bool) -> Option<bool> {
        let stack = self.state.stack.clone();
        let args = self.state.pop_many(argc)?;
        let function = self.state.pop()?;
        let this = if is_method { Some(self.state.pop()?) } else { None };
        self.charge_owed();
        self.need_frame();
        self.store_position();
        let (called, result) = (self.i64_local(), self.i64_local());
        self.load(function);
        self.code.set(called);
        let done = self.code.label();
        if !is_tail {
            self.code.block(done);
        }
        let target = if is_method { None } else { self.likely_target(function) };
        if let Some(target) = target {
            let other = self.code.label();
            self.code.block(other);
            self.call_directly(target, called, &args, result, other);
            self.code.get(result).tag().i32(tag::EXCEPTION as i32).eq().begin_if();
            self.leave(stack.clone(), Reason::Exception);
            self.code.end();
            let called = std::iter::once(function).chain(args.iter().copied());
            if is_tail {
                self.return_called(result, called.collect());
            } else {
                called.for_each(|value| self.release(value));
                self.code.br(done);
            }
            self.code.end();
        }
        self.call_by_engine(called, this, &args, result, &stack);
        if is_tail {
            let mut called: Vec<Value> = this.into_iter().chain([function]).collect();
            called.extend(self.stored(stack.len() - argc, argc));
            self.return_called(result, called);
            return Some(false);
        }
        for value in this.into_iter().chain([function]) {
            self.release(value);
        }
        self.release_stored(stack.len() - argc, argc);
        self.code.end();
        self.push(Value::Boxed { local: result, kinds: Kinds::ANY, is_owned: true });
        Some(true)
    }

    /// Returns the result of a tail call. What was called goes after the variables, as the interpreter has it.
    fn return_called(&mut self, result: u32, called: Vec<Value>) {
        let before = self.state.clone();
        self.state.stack.extend(called);
        self.return_value(Value::Boxed { local: result, kinds: Kinds::ANY, is_owned: true });
        self.state = before;
    }

    /// Calls a function with its arguments where the interpreter has them, on its stack: it may assign to them.
    fn call_by_engine(&mut self, called: u32, this: Option<Value>, args: &[Value], result: u32, stack: &[Value]) {
        let (frame, below) = (self.frame(), stack.len() - args.len());
        let place = self.places.stack + 8 * below as u32;
        for (value, index) in args.iter().zip(0u32..) {
            self.code.get(frame);
            self.take(*value);
            self.code.store64(place + 8 * index);
        }
        self.code.get(called);
        match this {
            Some(this) => self.load(this),
            None => {
                self.code.i64(UNDEFINED);
            }
        }
        self.code.i32(args.len() as i32).get(frame).address(place).add();
        self.helper(self.shared.layout.call());
        self.code.set(result).get(result).tag().i32(tag::EXCEPTION as i32).eq().begin_if();
        let mut left = stack[..below].to_vec();
        left.extend(self.stored(below, args.len()));
        self.leave(left, Reason::Exception);
        self.code.end();
    }

    /// The arguments that a call has left behind.
    fn stored(&mut self, below: usize, count: usize) -> Vec<Value> {
        let (frame, place) = (self.frame(), self.places.stack + 8 * below as u32);
        let load = |index: u32| {
            let local = self.i64_local();
            self.code.get(frame).load64(place + 8 * index).set(local);
            Value::Boxed { local, kinds: Kinds::ANY, is_owned: true }
        };
        (0..count as u32).map(load).collect()
    }

    fn release_stored(&mut self, below: usize, count: usize) {
        let (frame, place) = (self.frame(), self.places.stack + 8 * below as u32);
        for index in 0..count as u32 {
            self.code.get(frame).load64(place + 8 * index).call(self.shared.release());
        }
    }

    /// The compiled function that a value likely is.
    fn likely_target(&self, function: Value) -> Option<Target> {
        let Value::Boxed { local, .. } = function else { return None };
        let address = self.guesses.functions.get(self.read_from.get(&local)?)?;
        self.shared.targets.get(address).copied()
    }

    /// Calls a compiled function if it is the one that is called, or goes on behind `other`.
    fn call_directly(
        &mut self,
        target: Target,
        called: u32,
        args: &[Value],
        result: u32,
        other: super::assembler::Label,
    ) {
        let layout = *self.shared.layout;
        let is_own = target.address == self.function.address;
        if is_own {
            self.code.get(called).get(Self::FUNCTION).zero_extended().i64(OBJECT).or64().ne64().br_if(other);
        } else {
            self.code.get(called).tag().i32(tag::OBJECT as u32 as i32).sub().br_if(other);
            let class = layout.class_function;
            self.code.get(called).wrap().load16(layout.object_class).address(class).sub().br_if(other);
            self.code.get(called).wrap().load32(layout.object_bytecode).address(target.address).sub().br_if(other);
        }
        // It may have left too often.
        self.code.i32(0).load32(target.address + layout.compiled).eqz().br_if(other);
        self.code.get(called).wrap();
        if target.uses_this {
            self.code.i64(UNDEFINED);
        }
        for index in 0..usize::from(target.args) {
            match args.get(index) {
                Some(value) => self.load(*value),
                None => {
                    self.code.i64(UNDEFINED);
                }
            }
        }
        self.code.call(target.function).set(result);
    }
}
