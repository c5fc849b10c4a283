//! Compiler of QuickJS bytecode in an engine's memory to WebAssembly functions.
//!
//! # Layout
//! - `memory`, `layout`, `function`: reading the engine's memory
//! - `opcode`: decoding bytecode; `flow`: its control flow; `value`: how values are boxed
//! - `emit`: one function's code, and in `emit::runtime` functions that all of them call; `unit`: the functions of one memory
//!
//! The functions share the engine's memory, stack, table and meter of fuel, and do what its interpreter does
//! (`guest-js/patches/0110-compiled-functions.patch`). What they cannot do they leave to it: see `emit`. A mistake in this crate
//! can harm the guest whose memory it compiles, and nothing else: the sandbox is WebAssembly's.

mod emit;
mod flow;
mod function;
mod layout;
mod memory;
mod opcode;
mod unit;
mod value;

pub use unit::{Bases, Entry, Signature, Unit};

use emit::Guessed;
use flow::Flow;
use function::{Function, Source};
use layout::Layout;
use memory::Memory;
use opcode::Op;
use std::collections::HashMap;
use unit::{Shared, Target};
use wasm_encoder::ValType::{I32, I64};

/// Bytecode that is compiled of one memory, in bytes: as much as takes some tens of milliseconds. What is longer in all has its
/// first functions compiled.
const MAX_COMPILED_BYTES: usize = 8 << 10;

/// WebAssembly of one memory, likewise: native code of more takes too long to make. It is some kilobytes for a function that is
/// worth it.
const MAX_UNIT_BYTES: usize = 128 << 10;

/// Compiles the functions of an engine.
///
/// `memory` is the engine's; `layout` is the address of its `js_compiled_layout`. `is_wanted` tells functions by the addresses
/// of their JSFunctionBytecode. Returns `None` if the engine is of another version, or nothing can be compiled.
pub fn compile(memory: &[u8], layout: u32, bases: Bases, is_wanted: impl Fn(u32) -> bool) -> Option<Unit> {
    let memory = Memory(memory);
    let layout = Layout::read(memory, layout)?;
    let functions: Vec<Function> = function::addresses(memory, &layout)?
        .into_iter()
        .filter(|address| is_wanted(*address))
        .filter_map(|address| Function::read(memory, &layout, address))
        .collect();
    let guesses = Guesses::of(&functions);
    let mut bytes = 0;
    let mut candidates: Vec<(&Function, Flow)> = functions
        .iter()
        .filter(|function| !function.is_suspended && function.refs == 0 && !function.writes_arguments())
        .filter_map(|function| Some((function, Flow::of(function)?)))
        .filter(|(function, flow)| is_worthwhile(function, flow))
        .take_while(|(function, _)| {
            bytes += function.instructions.last().map_or(0, |last| last.next as usize);
            bytes <= MAX_COMPILED_BYTES
        })
        .collect();
    // Functions call each other by their indices, so those that cannot be compiled go before the others are numbered.
    loop {
        match unit(&candidates, &layout, bases, &guesses) {
            Ok(unit) => return (!unit.entries.is_empty()).then_some(unit),
            Err(left) if left.is_empty() => return None,
            Err(left) => candidates.retain(|(function, _)| !left.contains(&function.address)),
        }
    }
}

/// Compiles all of these functions, or returns the addresses of those that are left to the interpreter.
fn unit(
    candidates: &[(&Function, Flow)],
    layout: &Layout,
    bases: Bases,
    guesses: &Guesses<'_>,
) -> Result<Unit, Vec<u32>> {
    let mut shared = Shared::new(layout, bases);
    let mut unit = Unit { functions: emit::runtime::functions(&mut shared), ..Unit::default() };
    let (mut left, mut bytes) = (Vec::new(), 0);
    for ((function, _), number) in candidates.iter().zip(0u32..) {
        let uses_this = function.instructions.iter().any(|instruction| instruction.op == Op::This);
        let index = bases.functions + Shared::COMMON + 2 * number;
        let variables = u32::from(function.args) + u32::from(function.vars);
        let cost = layout.step + layout.variable * variables;
        let target = Target { function: index, address: function.address, args: function.args, uses_this, cost };
        shared.targets.insert(function.address, target);
    }
    let entry_type = shared.type_of(&[I64, I64, I32, I32], &[I64]);
    for (function, flow) in candidates {
        let Some(target) = shared.targets.get(&function.address).copied() else { continue };
        let mut parameters = vec![I32];
        parameters.extend(std::iter::repeat_n(I64, usize::from(target.uses_this) + usize::from(target.args)));
        let ty = shared.type_of(&parameters, &[I64]);
        let guessed = guesses.for_function(function.address);
        let Some(code) = emit::compile(function, flow, &mut shared, &guessed, target) else {
            left.push(function.address);
            continue;
        };
        bytes += code.byte_len();
        if bytes > MAX_UNIT_BYTES {
            left.push(function.address);
            continue;
        }
        unit.functions.push((ty, code));
        unit.functions.push((entry_type, emit::entry(target, &shared)));
        unit.entries.push(Entry { word: function.address + layout.compiled, function: target.function + 1 });
    }
    unit.types = shared.types;
    if left.is_empty() { Ok(unit) } else { Err(left) }
}

/// True if a function gains: it has a loop, calls, or calculates, as the callbacks of array methods do. One with a loop may
/// leave for the interpreter behind it, others never.
fn is_worthwhile(function: &Function, flow: &Flow) -> bool {
    let ops = |block: &flow::Block| {
        function.instructions[block.instructions.clone()].iter().map(|instruction| instruction.op)
    };
    let has_loop = flow.blocks.iter().any(|block| block.is_loop);
    let mut leads_to_loop: Vec<bool> = flow.blocks.iter().map(|block| block.is_in_loop).collect();
    for number in (0..flow.blocks.len()).rev() {
        leads_to_loop[number] |= flow.blocks[number].successors.iter().any(|next| leads_to_loop[*next]);
    }
    let mut blocks = flow.blocks.iter().zip(&leads_to_loop);
    let is_complete = blocks.all(|(block, leads_to_loop)| !ops(block).any(Op::is_left) || has_loop && !leads_to_loop);
    let works = |op| matches!(op, Op::Call { .. } | Op::Arith(_) | Op::Logic(_) | Op::Compare(..));
    is_complete && (has_loop || flow.blocks.iter().flat_map(ops).any(works))
}

/// Functions that the variables of functions likely hold.
struct Guesses<'a> {
    functions: HashMap<u32, &'a Function>,
    /// The function that makes closures of another.
    makers: HashMap<u32, u32>,
    named: HashMap<(u32, Source), u32>,
}

/// Outer functions that are looked through for a variable.
const MAX_NESTING: usize = 64;

impl<'a> Guesses<'a> {
    fn of(functions: &'a [Function]) -> Guesses<'a> {
        let mut makers = HashMap::new();
        let mut named = HashMap::new();
        for function in functions {
            for constant in 0..function.constants.len() as u32 {
                if let Some(inner) = function.inner(constant) {
                    makers.insert(inner, function.address);
                }
            }
            for (variable, address) in function.named_functions() {
                named.insert((function.address, variable), address);
            }
        }
        let functions = functions.iter().map(|function| (function.address, function)).collect();
        Guesses { functions, makers, named }
    }

    fn for_function(&self, address: u32) -> Guessed {
        let Some(function) = self.functions.get(&address) else { return Guessed::default() };
        let indices = || 0..function.closure.len() as u16;
        Guessed {
            functions: indices().filter_map(|index| Some((index, self.guess(address, index)?))).collect(),
            constants: indices().filter(|index| self.is_constant(address, *index).unwrap_or(false)).collect(),
        }
    }

    /// True for a constant of a module: it is initialized once. Those of blocks and functions are so anew in every turn, also
    /// while closures hold them, if a turn ends by an exception.
    fn is_constant(&self, mut address: u32, mut index: u16) -> Option<bool> {
        for _ in 0..MAX_NESTING {
            let variable = self.functions.get(&address)?.closure.get(usize::from(index))?;
            match variable.source {
                Source::Module => return Some(variable.is_const),
                Source::Ref(outer) => (address, index) = (*self.makers.get(&address)?, outer),
                Source::Local(_) | Source::Other => return None,
            }
        }
        None
    }

    fn guess(&self, mut address: u32, mut index: u16) -> Option<u32> {
        for _ in 0..MAX_NESTING {
            let source = self.functions.get(&address)?.closure.get(usize::from(index))?.source;
            let maker = *self.makers.get(&address)?;
            match (self.named.get(&(maker, source)), source) {
                (Some(function), _) => return Some(*function),
                (None, Source::Ref(outer)) => (address, index) = (maker, outer),
                _ => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Bases, compile};
    use crate::opcode::{Arith, Op, decode};

    #[test]
    fn bytecode_is_decoded_with_targets_from_the_operand_on() {
        // push_1, push_2, add, goto8 -4, return
        let code = decode(&[187, 188, 156, 242, 252, 40]).unwrap_or_default();
        let ops: Vec<Op> = code.iter().map(|instruction| instruction.op).collect();
        assert_eq!(ops, [Op::Int(1), Op::Int(2), Op::Arith(Arith::Add), Op::Goto(0), Op::Return]);
    }

    #[test]
    fn instructions_that_are_cut_off_are_refused() {
        assert!(decode(&[1, 0]).is_none());
        assert!(decode(&[255]).is_none());
    }

    #[test]
    fn memory_of_another_engine_is_refused() {
        let bases = Bases { types: 0, functions: 0, stack_pointer: 0, left: 1 };
        for memory in [vec![], vec![0; 4096], vec![1; 4096], vec![255; 4096]] {
            for layout in [0, 8, 4095, u32::MAX] {
                assert!(compile(&memory, layout, bases, |_| true).is_none());
            }
        }
    }
}
