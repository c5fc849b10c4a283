//! Code generator: one function's bytecode as WebAssembly.
//!
//! - `assembler`: instructions with labels
//! - `state`: kinds of variables and places of values before an instruction
//! - `structure`: blocks, nested by dominance
//! - `values`: moving values between variables, the stack and memory
//! - `operations`: instructions; `numbers`: arithmetic; `calls`: calls; `elements`: elements of arrays
//! - `frames`: the frame that the engine sees, and what is charged
//! - `exits`: leaving for the interpreter
//! - `runtime`: functions that all compiled functions call
//!
//! The code does what `js_run_quick` of the engine does, and guesses that what is calculated with is integers. Where a
//! guess fails, and where `js_run_quick` leaves an instruction to other functions, the state goes into the frame as
//! the interpreter has it before that instruction, and the interpreter finishes the call. So values, errors, and what is charged are
//! the same. Two things that other functions do are done here: calls, and freeing a value.

pub(crate) mod assembler;
mod calls;
mod elements;
mod exits;
mod frames;
mod numbers;
mod operations;
pub(crate) mod runtime;
mod state;
mod structure;
mod values;

use crate::flow::Flow;
use crate::function::Function;
use crate::opcode::{Instruction, Op};
use crate::unit::{Helper, Shared, Target};
use assembler::Assembler;
use exits::Exit;
pub(crate) use frames::entry;
use runtime::call_helper;
use state::{Entry, State};
use std::collections::{HashMap, HashSet};
use wasm_encoder::ValType::{self, I32, I64};

/// Steps of a compiled function: as many as are compiled in some milliseconds.
const MAX_STEPS: usize = 40_000;

/// Passes over a function until nothing new is known of its variables. Each adds a kind to one, so there are few.
const MAX_PASSES: usize = 64;

/// A function in the making.
pub(crate) struct Emitter<'a, 'b> {
    function: &'a Function,
    flow: &'a Flow,
    shared: &'a mut Shared<'b>,
    guesses: &'a Guessed,
    target: Target,
    /// True if what is left of the fuel stays in a local: the function calls nothing that charges while its guesses hold. It
    /// frees nothing either: all that it has are arguments, constants and outer variables, which others hold as well.
    keeps_left: bool,
    places: Places,
    code: Assembler,
    state: State,
    /// The block in work, and the instruction.
    block: usize,
    at: Instruction,
    entries: Vec<Option<Entry>>,
    exits: Vec<(Exit, assembler::Label)>,
    variables: HashMap<(u8, u16, ValType), u32>,
    /// Outer variables that locals were read from.
    read_from: HashMap<u32, u16>,
    labels: HashMap<usize, structure::Labels>,
}

/// Facts about the outer variables of a function, by index.
#[derive(Default)]
pub(crate) struct Guessed {
    /// Functions that they likely hold, by the address of the bytecode.
    pub(crate) functions: HashMap<u16, u32>,
    /// Constants of the module, which never change once they are initialized.
    pub(crate) constants: HashSet<u16>,
}

/// Offsets in the frame.
#[derive(Clone, Copy)]
struct Places {
    args: u32,
    vars: u32,
    stack: u32,
    exit: u32,
    size: u32,
}

/// Bytes of a JSCompiledExit.
const EXIT_BYTES: u32 = 32;

impl Places {
    fn of(function: &Function, frame_size: u32) -> Places {
        let args = frame_size.next_multiple_of(8);
        let vars = args + 8 * u32::from(function.args);
        let stack = vars + 8 * u32::from(function.vars);
        let exit = stack + 8 * u32::from(function.stack);
        let size = (exit + EXIT_BYTES).next_multiple_of(16);
        Places { args, vars, stack, exit, size }
    }
}

/// Compiles a function. Returns `None` if it is left to the interpreter.
pub(crate) fn compile(
    function: &Function,
    flow: &Flow,
    shared: &mut Shared<'_>,
    guesses: &Guessed,
    target: Target,
) -> Option<wasm_encoder::Function> {
    let ops = || flow.blocks.iter().flat_map(|block| &function.instructions[block.instructions.clone()]);
    let keeps_left = !ops().any(|instruction| instruction.op.may_charge());
    let places = Places::of(function, shared.layout.frame_size);
    let parameters = 1 + u32::from(target.uses_this) + u32::from(function.args);
    let mut emitter = Emitter {
        function,
        flow,
        shared,
        guesses,
        target,
        keeps_left,
        places,
        code: Assembler::default(),
        state: State::default(),
        block: 0,
        at: *function.instructions.first()?,
        entries: vec![None; flow.blocks.len()],
        exits: Vec::new(),
        variables: HashMap::new(),
        read_from: HashMap::new(),
        labels: HashMap::new(),
    };
    emitter.entries[0] = Some(emitter.first_entry());
    emitter.find_entries(parameters)?;
    emitter.begin_pass(parameters);
    emitter.prologue();
    emitter.nest(0)?;
    emitter.finish_exits()?;
    (emitter.code.len() <= MAX_STEPS).then(|| emitter.code.finish())
}

impl Op {
    /// True if it calls a function that charges, or frees what nothing else holds, even while guesses hold.
    fn may_charge(self) -> bool {
        matches!(self, Op::Call { .. } | Op::GetElement { .. } | Op::PutElement | Op::PutRef { .. } | Op::SetRef(_))
    }
}

impl Emitter<'_, '_> {
    /// Finds out what is known where each block begins, by compiling them until it stays the same.
    fn find_entries(&mut self, parameters: u32) -> Option<()> {
        for _ in 0..MAX_PASSES {
            let before = self.entries.clone();
            for block in 0..self.flow.blocks.len() {
                if self.entries[block].is_none() {
                    continue;
                }
                self.begin_pass(parameters);
                self.begin_block(block)?;
                if self.straight_line()? {
                    continue;
                }
                self.end_block(|emitter, successor| {
                    let after = Entry::after(&emitter.state);
                    match &mut emitter.entries[successor] {
                        Some(entry) => entry.join(&after),
                        none => *none = Some(after),
                    }
                    Some(())
                })?;
            }
            if self.entries == before {
                return Some(());
            }
        }
        None
    }

    fn begin_pass(&mut self, parameters: u32) {
        self.code = Assembler::new(parameters);
        self.exits.clear();
        self.variables.clear();
        self.read_from.clear();
        self.labels.clear();
    }

    fn helper(&mut self, helper: Helper) {
        call_helper(&mut self.code, self.shared, helper);
    }

    /// The function object.
    const FUNCTION: u32 = 0;
    const THIS: u32 = 1;

    fn i32_local(&mut self) -> u32 {
        self.code.local(I32)
    }

    fn i64_local(&mut self) -> u32 {
        self.code.local(I64)
    }

    /// A local that is the same wherever it is asked for.
    fn shared_local(&mut self, space: u8, index: u16, ty: ValType) -> u32 {
        if let Some(local) = self.variables.get(&(space, index, ty)) {
            return *local;
        }
        let local = self.code.local(ty);
        self.variables.insert((space, index, ty), local);
        local
    }
}

/// Spaces of locals that are the same wherever they are asked for.
mod space {
    pub(super) const LOCAL: u8 = 0;
    pub(super) const ARG: u8 = 1;
    pub(super) const STACK: u8 = 2;
    pub(super) const EXIT_STACK: u8 = 3;
    pub(super) const FRAME: u8 = 4;
    pub(super) const LEFT: u8 = 5;
    pub(super) const EXIT_PC: u8 = 6;
}
