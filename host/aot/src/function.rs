//! Reader of the functions in an engine's memory.

use crate::layout::Layout;
use crate::memory::Memory;
use crate::opcode::{Instruction, Op, decode};
use crate::value::tag;

/// Functions that are looked at: more than a script of a size that is compiled in time has.
const MAX_FUNCTIONS: usize = 4096;

/// Objects that are passed on the way to them, so that a damaged list ends.
const MAX_OBJECTS: usize = 1 << 20;

/// Bytecode of a function that is compiled; compiling a longer one takes too long.
const MAX_CODE_BYTES: u32 = 16 << 10;

/// Variables, arguments and stack together, likewise: each is a local of the compiled function.
const MAX_VALUES: u32 = 512;

/// A function's bytecode and what belongs to it.
#[derive(Debug)]
pub(crate) struct Function {
    /// Address of the JSFunctionBytecode.
    pub(crate) address: u32,
    /// Address of its bytecode.
    pub(crate) code: u32,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) args: u16,
    pub(crate) vars: u16,
    pub(crate) stack: u16,
    /// Its variables and arguments that closures hold.
    pub(crate) refs: u16,
    pub(crate) is_strict: bool,
    /// True if it is a generator or asynchronous.
    pub(crate) is_suspended: bool,
    pub(crate) constants: Vec<u64>,
    pub(crate) closure: Vec<ClosureVar>,
}

/// A variable of an outer function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClosureVar {
    pub(crate) source: Source,
    pub(crate) is_const: bool,
}

/// Place of the variable in the function that makes the closure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Source {
    Local(u16),
    Ref(u16),
    /// A variable of the module.
    Module,
    Other,
}

/// Returns the addresses of all functions of the engine.
pub(crate) fn addresses(memory: Memory<'_>, layout: &Layout) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    let mut at = list_next(memory, layout.objects)?;
    for _ in 0..MAX_OBJECTS {
        if at == layout.objects || found.len() == MAX_FUNCTIONS {
            break;
        }
        if u32::from(memory.u8(at.checked_sub(layout.object_type)?)? & 0x7f) == layout.type_of_functions {
            found.push(at);
        }
        at = list_next(memory, at)?;
    }
    Some(found)
}

/// `list_head` has the previous entry first.
fn list_next(memory: Memory<'_>, at: u32) -> Option<u32> {
    memory.u32(at.checked_add(4)?)
}

impl Function {
    /// Reads a function. Returns `None` for one that is not compiled, nor looked at: a large one, or another realm's.
    pub(crate) fn read(memory: Memory<'_>, layout: &Layout, address: u32) -> Option<Function> {
        let word = |field: u32| memory.u32(address.checked_add(field)?);
        let half = |field: u32| memory.u16(address.checked_add(field)?);
        // The flags come before the code: strict, three more, `need_home_object`, then two bits of the kind.
        let flags = memory.u8(address.checked_add(layout.code.checked_sub(4)?)?)?;
        let (is_strict, kind) = (flags & 1 == 1, flags >> 5 & 3);
        let (args, vars, stack) = (half(layout.arg_count)?, half(layout.var_count)?, half(layout.stack_size)?);
        let length = word(layout.code_length)?;
        let is_small = length <= MAX_CODE_BYTES && u32::from(args) + u32::from(vars) + u32::from(stack) <= MAX_VALUES;
        if !is_small || word(layout.realm)? != layout.context {
            return None;
        }
        // The word that gets the compiled function must be there.
        word(layout.compiled)?;
        let code = word(layout.code)?;
        let instructions = decode(memory.bytes(code, length)?)?;
        let refs = half(layout.ref_count)?;
        let constants = word(layout.constants)?;
        let constant_count = word(layout.constant_count)?.min(u32::from(u16::MAX));
        let constants =
            (0..constant_count).map(|index| memory.u64(constants.checked_add(index * 8)?)).collect::<Option<_>>()?;
        let closure = word(layout.closure)?;
        let closure = (0..u32::from(half(layout.closure_count)?))
            .map(|index| ClosureVar::read(memory, closure.checked_add(index * layout.closure_size)?))
            .collect::<Option<_>>()?;
        Some(Function {
            address,
            code,
            instructions,
            args,
            vars,
            stack,
            refs,
            is_strict,
            is_suspended: kind != 0,
            constants,
            closure,
        })
    }

    /// True if it assigns to its arguments.
    pub(crate) fn writes_arguments(&self) -> bool {
        self.instructions.iter().any(|instruction| instruction.op == Op::WriteArg)
    }

    /// Returns the bytecode of a constant that is a function.
    pub(crate) fn inner(&self, constant: u32) -> Option<u32> {
        let value = *self.constants.get(constant as usize)?;
        (value >> 32 == tag::FUNCTION_BYTECODE).then_some(value as u32)
    }

    /// Returns the functions that this one puts into variables, with the variable: what a call of it likely calls.
    pub(crate) fn named_functions(&self) -> impl Iterator<Item = (Source, u32)> {
        self.instructions.iter().enumerate().filter_map(|(index, instruction)| {
            let Op::Closure(constant) = instruction.op else { return None };
            let mut rest = self.instructions.get(index + 1..)?.iter().map(|instruction| instruction.op);
            let mut next = rest.next()?;
            if matches!(next, Op::SetName) {
                next = rest.next()?;
            }
            let variable = match next {
                Op::PutLocal { index, .. } | Op::SetLocal(index) => Source::Local(index),
                Op::PutRef { index, .. } | Op::SetRef(index) => Source::Ref(index),
                _ => return None,
            };
            Some((variable, self.inner(constant)?))
        })
    }
}

impl ClosureVar {
    fn read(memory: Memory<'_>, at: u32) -> Option<ClosureVar> {
        let (flags, index) = (memory.u8(at)?, memory.u16(at.checked_add(2)?)?);
        let source = match flags & 7 {
            0 => Source::Local(index),
            2 => Source::Ref(index),
            6 => Source::Module,
            _ => Source::Other,
        };
        Some(ClosureVar { source, is_const: flags >> 4 & 1 == 1 })
    }
}
