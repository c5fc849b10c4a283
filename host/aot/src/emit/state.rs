//! State before an instruction: the kinds of variables, and the places of the stack's values.

use crate::value::Kinds;

/// A value on the stack of the bytecode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    Int(i32),
    /// A boxed constant that is not counted.
    Constant(i64, Kinds),
    /// An integer in a local of the compiled function.
    Int32(u32),
    Bool(u32),
    /// A variable as it is; it is copied before the variable changes.
    Local(u16),
    Arg(u16),
    Boxed {
        local: u32,
        kinds: Kinds,
        /// True if the stack has a reference of its own.
        is_owned: bool,
    },
}

/// A variable of the bytecode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Variable {
    Local(u16),
    Arg(u16),
}

impl Variable {
    pub(super) fn value(self) -> Value {
        match self {
            Variable::Local(index) => Value::Local(index),
            Variable::Arg(index) => Value::Arg(index),
        }
    }
}

#[derive(Clone, Default, Debug)]
pub(super) struct State {
    pub(super) locals: Vec<Kinds>,
    pub(super) args: Vec<Kinds>,
    pub(super) stack: Vec<Value>,
    /// True if the frame is in memory and linked.
    pub(super) has_frame: bool,
    /// Cost of steps that are not charged yet.
    pub(super) owed: u32,
}

impl State {
    pub(super) fn kinds(&self, value: Value) -> Kinds {
        match value {
            Value::Int(_) | Value::Int32(_) => Kinds::INT,
            Value::Bool(_) => Kinds::BOOL,
            Value::Constant(_, kinds) | Value::Boxed { kinds, .. } => kinds,
            Value::Local(index) => self.variable(Variable::Local(index)),
            Value::Arg(index) => self.variable(Variable::Arg(index)),
        }
    }

    pub(super) fn variable(&self, variable: Variable) -> Kinds {
        let kinds = match variable {
            Variable::Local(index) => self.locals.get(usize::from(index)),
            Variable::Arg(index) => self.args.get(usize::from(index)),
        };
        kinds.copied().unwrap_or(Kinds::ANY)
    }

    pub(super) fn set(&mut self, variable: Variable, new: Kinds) {
        let kinds = match variable {
            Variable::Local(index) => self.locals.get_mut(usize::from(index)),
            Variable::Arg(index) => self.args.get_mut(usize::from(index)),
        };
        if let Some(kinds) = kinds {
            *kinds = new;
        }
    }

    pub(super) fn pop(&mut self) -> Option<Value> {
        self.stack.pop()
    }

    /// Takes the last so many values away.
    pub(super) fn pop_many(&mut self, count: usize) -> Option<Vec<Value>> {
        let rest = self.stack.len().checked_sub(count)?;
        Some(self.stack.split_off(rest))
    }
}

/// State at the begin of a block. All values of the stack are boxed there, in locals of their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) locals: Vec<Kinds>,
    pub(super) args: Vec<Kinds>,
    pub(super) stack: Vec<Kinds>,
    pub(super) has_frame: bool,
}

impl Entry {
    /// Returns what is known behind a state.
    pub(super) fn after(state: &State) -> Entry {
        Entry {
            locals: state.locals.clone(),
            args: state.args.clone(),
            stack: state.stack.iter().map(|value| state.kinds(*value)).collect(),
            has_frame: state.has_frame,
        }
    }

    /// Adds what is known on another way to the same block.
    pub(super) fn join(&mut self, other: &Entry) {
        let both = [(&mut self.locals, &other.locals), (&mut self.args, &other.args), (&mut self.stack, &other.stack)];
        for (mine, others) in both {
            for (mine, other) in mine.iter_mut().zip(others) {
                *mine = mine.or(*other);
            }
        }
        self.has_frame |= other.has_frame;
    }
}
