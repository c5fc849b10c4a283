//! WebAssembly under construction: labels instead of depths, and locals on demand.

use wasm_encoder::{BlockType, Function, Instruction, MemArg, ValType};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(u32);

enum Step {
    Plain(Instruction<'static>),
    Block(Label),
    Loop(Label),
    If(BlockType),
    Else,
    End,
    Br(Label),
    BrIf(Label),
}

/// Instructions of one function.
#[derive(Default)]
pub(crate) struct Assembler {
    steps: Vec<Step>,
    locals: Vec<ValType>,
    parameters: u32,
    labels: u32,
}

macro_rules! plain {
    ($($name:ident => $instruction:ident,)*) => {
        $(pub(crate) fn $name(&mut self) -> &mut Assembler { self.plain(Instruction::$instruction) })*
    };
}

impl Assembler {
    pub(crate) fn new(parameters: u32) -> Assembler {
        Assembler { parameters, ..Assembler::default() }
    }

    /// How many steps there are, as a measure of size.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    pub(crate) fn local(&mut self, ty: ValType) -> u32 {
        self.locals.push(ty);
        self.parameters + self.locals.len() as u32 - 1
    }

    pub(crate) fn plain(&mut self, instruction: Instruction<'static>) -> &mut Assembler {
        self.step(Step::Plain(instruction))
    }

    fn step(&mut self, step: Step) -> &mut Assembler {
        self.steps.push(step);
        self
    }

    pub(crate) fn block(&mut self, label: Label) -> &mut Assembler {
        self.step(Step::Block(label))
    }

    pub(crate) fn begin_loop(&mut self, label: Label) -> &mut Assembler {
        self.step(Step::Loop(label))
    }

    pub(crate) fn begin_if(&mut self) -> &mut Assembler {
        self.step(Step::If(BlockType::Empty))
    }

    pub(crate) fn if_i32(&mut self) -> &mut Assembler {
        self.step(Step::If(BlockType::Result(ValType::I32)))
    }

    pub(crate) fn begin_else(&mut self) -> &mut Assembler {
        self.step(Step::Else)
    }

    pub(crate) fn end(&mut self) -> &mut Assembler {
        self.step(Step::End)
    }

    pub(crate) fn br(&mut self, label: Label) -> &mut Assembler {
        self.step(Step::Br(label))
    }

    pub(crate) fn br_if(&mut self, label: Label) -> &mut Assembler {
        self.step(Step::BrIf(label))
    }

    pub(crate) fn get(&mut self, local: u32) -> &mut Assembler {
        self.plain(Instruction::LocalGet(local))
    }

    pub(crate) fn set(&mut self, local: u32) -> &mut Assembler {
        self.plain(Instruction::LocalSet(local))
    }

    pub(crate) fn tee(&mut self, local: u32) -> &mut Assembler {
        self.plain(Instruction::LocalTee(local))
    }

    pub(crate) fn i32(&mut self, value: i32) -> &mut Assembler {
        self.plain(Instruction::I32Const(value))
    }

    pub(crate) fn address(&mut self, value: u32) -> &mut Assembler {
        self.i32(value as i32)
    }

    pub(crate) fn i64(&mut self, value: i64) -> &mut Assembler {
        self.plain(Instruction::I64Const(value))
    }

    pub(crate) fn call(&mut self, function: u32) -> &mut Assembler {
        self.plain(Instruction::Call(function))
    }

    pub(crate) fn load16(&mut self, offset: u32) -> &mut Assembler {
        self.plain(Instruction::I32Load16U(at(offset, 1)))
    }

    pub(crate) fn load32(&mut self, offset: u32) -> &mut Assembler {
        self.plain(Instruction::I32Load(at(offset, 2)))
    }

    pub(crate) fn load64(&mut self, offset: u32) -> &mut Assembler {
        self.plain(Instruction::I64Load(at(offset, 3)))
    }

    pub(crate) fn store32(&mut self, offset: u32) -> &mut Assembler {
        self.plain(Instruction::I32Store(at(offset, 2)))
    }

    pub(crate) fn store64(&mut self, offset: u32) -> &mut Assembler {
        self.plain(Instruction::I64Store(at(offset, 3)))
    }

    plain! {
        wrap => I32WrapI64, zero_extended => I64ExtendI32U, sign_extended => I64ExtendI32S, extend32 => I64Extend32S,
        eqz => I32Eqz, eq => I32Eq, ne64 => I64Ne, eq64 => I64Eq, lt_s => I32LtS, le_s => I32LeS, ge_u => I32GeU,
        le_u => I32LeU, add => I32Add, sub => I32Sub, and => I32And, or => I32Or, xor => I32Xor,
        shl => I32Shl, and64 => I64And, or64 => I64Or, discard => Drop, return_ => Return, unreachable => Unreachable,
    }

    /// Replaces a boxed value by its tag.
    pub(crate) fn tag(&mut self) -> &mut Assembler {
        self.i64(32).plain(Instruction::I64ShrU).wrap()
    }

    /// Encodes the function, with further instructions around it if there are any.
    pub(crate) fn finish(self) -> Function {
        let mut function = Function::new_with_locals_types(self.locals);
        let mut open: Vec<Option<Label>> = Vec::new();
        let depth = |open: &[Option<Label>], label: Label| {
            // Every label is open where it is used; an engine refuses the depth otherwise.
            open.iter().rev().position(|other| *other == Some(label)).map_or(u32::MAX, |depth| depth as u32)
        };
        for step in &self.steps {
            let instruction = match step {
                Step::Plain(instruction) => instruction.clone(),
                Step::Block(label) => {
                    open.push(Some(*label));
                    Instruction::Block(BlockType::Empty)
                }
                Step::Loop(label) => {
                    open.push(Some(*label));
                    Instruction::Loop(BlockType::Empty)
                }
                Step::If(ty) => {
                    open.push(None);
                    Instruction::If(*ty)
                }
                Step::Else => Instruction::Else,
                Step::End => {
                    open.pop();
                    Instruction::End
                }
                Step::Br(label) => Instruction::Br(depth(&open, *label)),
                Step::BrIf(label) => Instruction::BrIf(depth(&open, *label)),
            };
            function.instruction(&instruction);
        }
        function.instruction(&Instruction::End);
        function
    }

    /// Takes the steps so far away, to be put back elsewhere.
    pub(crate) fn cut(&mut self) -> Steps {
        Steps(std::mem::take(&mut self.steps))
    }

    pub(crate) fn append(&mut self, steps: Steps) {
        self.steps.extend(steps.0);
    }
}

pub(crate) struct Steps(Vec<Step>);

fn at(offset: u32, align: u32) -> MemArg {
    MemArg { offset: offset.into(), align, memory_index: 0 }
}
