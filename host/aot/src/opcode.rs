//! QuickJS's instruction set: decoding of a function's bytecode.

/// Opcodes of the engine's version.
pub(crate) const COUNT: u32 = 252;

/// Bytes of each instruction.
const SIZES: &[u8; COUNT as usize] = b"\
    \x01\x05\x05\x05\x05\x05\x01\x01\x01\x01\x01\x01\x02\x03\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\
    \x01\x01\x01\x01\x01\x03\x03\x03\x03\x03\x03\x03\x01\x01\x01\x01\x01\x01\x01\x01\x01\x06\x05\x03\x01\x01\x01\x05\
    \x05\x05\x05\x01\x01\x06\x06\x06\x05\x05\x05\x01\x01\x01\x01\x01\x01\x01\x01\x05\x05\x01\x01\x01\x01\x01\x02\x06\
    \x02\x06\x06\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x05\x05\x05\x05\x05\x01\x01\x01\
    \x01\x01\x01\x0a\x0a\x0a\x0a\x0a\x0a\x07\x07\x07\x05\x01\x01\x01\x01\x02\x01\x01\x01\x02\x01\x01\x01\x01\x01\x01\
    \x01\x01\x01\x01\x01\x02\x02\x02\x01\x01\x01\x01\x05\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\
    \x01\x01\x01\x01\x01\x01\x01\x01\x01\x05\x01\x03\x03\x01\x01\x02\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x02\x03\
    \x02\x02\x01\x02\x02\x02\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\
    \x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x02\x02\x02\x03\x01\x01\x01\x01\x01\x01\x01\x01";

pub(crate) use number::{ADD, SUB};

mod number {
    pub(crate) const PUSH_I32: u8 = 1;
    pub(crate) const PUSH_CONST: u8 = 2;
    pub(crate) const FCLOSURE: u8 = 3;
    pub(crate) const UNDEFINED: u8 = 6;
    pub(crate) const NULL: u8 = 7;
    pub(crate) const PUSH_THIS: u8 = 8;
    pub(crate) const PUSH_FALSE: u8 = 9;
    pub(crate) const PUSH_TRUE: u8 = 10;
    pub(crate) const DROP: u8 = 14;
    pub(crate) const NIP: u8 = 15;
    pub(crate) const DUP: u8 = 17;
    pub(crate) const DUP1: u8 = 18;
    pub(crate) const DUP2: u8 = 19;
    pub(crate) const INSERT2: u8 = 21;
    pub(crate) const INSERT3: u8 = 22;
    pub(crate) const PERM3: u8 = 24;
    pub(crate) const PERM4: u8 = 25;
    pub(crate) const SWAP: u8 = 27;
    pub(crate) const ROT3L: u8 = 29;
    pub(crate) const ROT3R: u8 = 30;
    pub(crate) const CALL: u8 = 34;
    pub(crate) const TAIL_CALL: u8 = 35;
    pub(crate) const CALL_METHOD: u8 = 36;
    pub(crate) const TAIL_CALL_METHOD: u8 = 37;
    pub(crate) const RETURN: u8 = 40;
    pub(crate) const RETURN_UNDEF: u8 = 41;
    pub(crate) const GET_ARRAY_EL: u8 = 70;
    pub(crate) const GET_ARRAY_EL2: u8 = 71;
    pub(crate) const PUT_ARRAY_EL: u8 = 72;
    pub(crate) const SET_NAME: u8 = 76;
    pub(crate) const GET_LOC: u8 = 87;
    pub(crate) const PUT_LOC: u8 = 88;
    pub(crate) const SET_LOC: u8 = 89;
    pub(crate) const GET_ARG: u8 = 90;
    pub(crate) const PUT_ARG: u8 = 91;
    pub(crate) const SET_ARG: u8 = 92;
    pub(crate) const GET_VAR_REF: u8 = 93;
    pub(crate) const PUT_VAR_REF: u8 = 94;
    pub(crate) const SET_VAR_REF: u8 = 95;
    pub(crate) const SET_LOC_UNINITIALIZED: u8 = 96;
    pub(crate) const GET_LOC_CHECK: u8 = 97;
    pub(crate) const PUT_LOC_CHECK: u8 = 98;
    pub(crate) const GET_VAR_REF_CHECK: u8 = 100;
    pub(crate) const PUT_VAR_REF_CHECK: u8 = 101;
    pub(crate) const PUT_VAR_REF_CHECK_INIT: u8 = 102;
    pub(crate) const IF_FALSE: u8 = 104;
    pub(crate) const IF_TRUE: u8 = 105;
    pub(crate) const GOTO: u8 = 106;
    pub(crate) const TO_PROPKEY: u8 = 113;
    pub(crate) const NEG: u8 = 139;
    pub(crate) const PLUS: u8 = 140;
    pub(crate) const DEC: u8 = 141;
    pub(crate) const INC: u8 = 142;
    pub(crate) const POST_DEC: u8 = 143;
    pub(crate) const POST_INC: u8 = 144;
    pub(crate) const DEC_LOC: u8 = 145;
    pub(crate) const INC_LOC: u8 = 146;
    pub(crate) const ADD_LOC: u8 = 147;
    pub(crate) const NOT: u8 = 148;
    pub(crate) const LNOT: u8 = 149;
    pub(crate) const MUL: u8 = 153;
    pub(crate) const DIV: u8 = 154;
    pub(crate) const MOD: u8 = 155;
    pub(crate) const ADD: u8 = 156;
    pub(crate) const SUB: u8 = 157;
    pub(crate) const SHL: u8 = 158;
    pub(crate) const SAR: u8 = 159;
    pub(crate) const SHR: u8 = 160;
    pub(crate) const AND: u8 = 161;
    pub(crate) const XOR: u8 = 162;
    pub(crate) const OR: u8 = 163;
    pub(crate) const LT: u8 = 165;
    pub(crate) const LTE: u8 = 166;
    pub(crate) const GT: u8 = 167;
    pub(crate) const GTE: u8 = 168;
    pub(crate) const EQ: u8 = 171;
    pub(crate) const NEQ: u8 = 172;
    pub(crate) const STRICT_EQ: u8 = 173;
    pub(crate) const STRICT_NEQ: u8 = 174;
    pub(crate) const IS_UNDEFINED_OR_NULL: u8 = 175;
    pub(crate) const NOP: u8 = 184;
    pub(crate) const PUSH_MINUS1: u8 = 185;
    pub(crate) const PUSH_7: u8 = 193;
    pub(crate) const PUSH_I8: u8 = 194;
    pub(crate) const PUSH_I16: u8 = 195;
    pub(crate) const PUSH_CONST8: u8 = 196;
    pub(crate) const FCLOSURE8: u8 = 197;
    pub(crate) const GET_LOC8: u8 = 199;
    pub(crate) const PUT_LOC8: u8 = 200;
    pub(crate) const SET_LOC8: u8 = 201;
    pub(crate) const GET_LOC0_LOC1: u8 = 202;
    pub(crate) const GET_LOC0: u8 = 203;
    pub(crate) const GET_LOC3: u8 = 206;
    pub(crate) const PUT_LOC0: u8 = 207;
    pub(crate) const PUT_LOC3: u8 = 210;
    pub(crate) const SET_LOC0: u8 = 211;
    pub(crate) const SET_LOC3: u8 = 214;
    pub(crate) const GET_ARG0: u8 = 215;
    pub(crate) const GET_ARG3: u8 = 218;
    pub(crate) const PUT_ARG0: u8 = 219;
    pub(crate) const PUT_ARG3: u8 = 222;
    pub(crate) const SET_ARG0: u8 = 223;
    pub(crate) const SET_ARG3: u8 = 226;
    pub(crate) const GET_VAR_REF0: u8 = 227;
    pub(crate) const GET_VAR_REF3: u8 = 230;
    pub(crate) const PUT_VAR_REF0: u8 = 231;
    pub(crate) const PUT_VAR_REF3: u8 = 234;
    pub(crate) const SET_VAR_REF0: u8 = 235;
    pub(crate) const SET_VAR_REF3: u8 = 238;
    pub(crate) const GET_LENGTH: u8 = 239;
    pub(crate) const IF_FALSE8: u8 = 240;
    pub(crate) const IF_TRUE8: u8 = 241;
    pub(crate) const GOTO8: u8 = 242;
    pub(crate) const GOTO16: u8 = 243;
    pub(crate) const CALL0: u8 = 244;
    pub(crate) const CALL3: u8 = 247;
    pub(crate) const IS_UNDEFINED: u8 = 248;
    pub(crate) const IS_NULL: u8 = 249;
}

/// Arithmetic whose integer result may not be an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

/// Arithmetic on 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Logic {
    And,
    Or,
    Xor,
    Shl,
    Sar,
    Shr,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compare {
    Lt,
    Lte,
    Gt,
    Gte,
    Eq,
    Neq,
}

/// One instruction; equal ones of different length are one. Targets are positions in the bytecode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Int(i32),
    Constant(u32),
    Undefined,
    Null,
    Bool(bool),
    This,
    /// Left to the interpreter, as the next one: they tell what variables hold.
    Closure(u32),
    /// Takes so many values; puts back these of them, counted from the deepest.
    Shuffle(u8, &'static [u8]),
    Call {
        argc: u16,
        is_method: bool,
        is_tail: bool,
    },
    Return,
    ReturnUndefined,
    SetName,
    GetElement {
        keeps_object: bool,
    },
    PutElement,
    GetLength,
    GetLocal {
        index: u16,
        is_checked: bool,
    },
    GetLocals01,
    PutLocal {
        index: u16,
        is_checked: bool,
    },
    SetLocal(u16),
    UninitLocal(u16),
    GetArg(u16),
    /// Left to the interpreter, with all of its function: the arguments of a call are the caller's, where it frees them at once.
    WriteArg,
    GetRef {
        index: u16,
        is_checked: bool,
    },
    PutRef {
        index: u16,
        check: RefCheck,
    },
    SetRef(u16),
    Goto(u32),
    If {
        target: u32,
        when: bool,
    },
    Arith(Arith),
    Logic(Logic),
    Compare(Compare, bool),
    /// Adds 1 or -1.
    Step(i32),
    PostStep(i32),
    StepLocal(u16, i32),
    AddLocal(u16),
    Neg,
    Plus,
    Not,
    LogicalNot,
    IsUndefined,
    IsNull,
    IsUndefinedOrNull,
    ToPropertyKey,
    Nop,
    /// Left to the interpreter.
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RefCheck {
    None,
    Initialized,
    Uninitialized,
}

/// An instruction with its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub(crate) pc: u32,
    /// The position behind it.
    pub(crate) next: u32,
    pub(crate) number: u8,
    pub(crate) op: Op,
}

/// Decodes a function's bytecode. Returns `None` if an instruction is cut off or unknown.
pub(crate) fn decode(code: &[u8]) -> Option<Vec<Instruction>> {
    let mut instructions = Vec::new();
    let mut pc = 0;
    while let Some(number) = code.get(pc).copied() {
        let size = usize::from(*SIZES.get(usize::from(number))?);
        let operand = Operand { bytes: code.get(pc + 1..pc + size)?, at: pc as i64 + 1 };
        let op = operand.op(number)?;
        instructions.push(Instruction { pc: pc as u32, next: (pc + size) as u32, number, op });
        pc += size;
    }
    Some(instructions)
}

struct Operand<'a> {
    bytes: &'a [u8],
    /// Its position, which targets are relative to.
    at: i64,
}

impl Operand<'_> {
    fn u8(&self) -> Option<u8> {
        self.bytes.first().copied()
    }

    fn u16(&self) -> Option<u16> {
        self.bytes.first_chunk().copied().map(u16::from_le_bytes)
    }

    fn u32(&self) -> Option<u32> {
        self.bytes.first_chunk().copied().map(u32::from_le_bytes)
    }

    fn target(&self) -> Option<u32> {
        let offset = match self.bytes {
            [byte] => i64::from(*byte as i8),
            [_, _] => i64::from(self.u16()? as i16),
            _ => i64::from(self.u32()? as i32),
        };
        u32::try_from(self.at + offset).ok()
    }

    /// An index of a variable in one byte or two.
    fn index(&self) -> Option<u16> {
        if self.bytes.len() == 1 { self.u8().map(u16::from) } else { self.u16() }
    }

    fn op(&self, opcode: u8) -> Option<Op> {
        use number::*;
        Some(match opcode {
            PUSH_I32 => Op::Int(self.u32()? as i32),
            PUSH_MINUS1..=PUSH_7 => Op::Int(i32::from(opcode - PUSH_MINUS1) - 1),
            PUSH_I8 => Op::Int(i32::from(self.u8()? as i8)),
            PUSH_I16 => Op::Int(i32::from(self.u16()? as i16)),
            PUSH_CONST => Op::Constant(self.u32()?),
            PUSH_CONST8 => Op::Constant(self.u8()?.into()),
            FCLOSURE => Op::Closure(self.u32()?),
            FCLOSURE8 => Op::Closure(self.u8()?.into()),
            UNDEFINED => Op::Undefined,
            NULL => Op::Null,
            PUSH_FALSE | PUSH_TRUE => Op::Bool(opcode == PUSH_TRUE),
            PUSH_THIS => Op::This,
            DROP => Op::Shuffle(1, &[]),
            NIP => Op::Shuffle(2, &[1]),
            DUP => Op::Shuffle(1, &[0, 0]),
            DUP1 => Op::Shuffle(2, &[0, 0, 1]),
            DUP2 => Op::Shuffle(2, &[0, 1, 0, 1]),
            INSERT2 => Op::Shuffle(2, &[1, 0, 1]),
            INSERT3 => Op::Shuffle(3, &[2, 0, 1, 2]),
            PERM3 => Op::Shuffle(3, &[1, 0, 2]),
            PERM4 => Op::Shuffle(4, &[2, 0, 1, 3]),
            SWAP => Op::Shuffle(2, &[1, 0]),
            ROT3L => Op::Shuffle(3, &[1, 2, 0]),
            ROT3R => Op::Shuffle(3, &[2, 0, 1]),
            CALL0..=CALL3 => Op::Call { argc: u16::from(opcode - CALL0), is_method: false, is_tail: false },
            CALL | TAIL_CALL => Op::Call { argc: self.u16()?, is_method: false, is_tail: opcode == TAIL_CALL },
            CALL_METHOD | TAIL_CALL_METHOD => {
                Op::Call { argc: self.u16()?, is_method: true, is_tail: opcode == TAIL_CALL_METHOD }
            }
            RETURN => Op::Return,
            RETURN_UNDEF => Op::ReturnUndefined,
            SET_NAME => Op::SetName,
            GET_ARRAY_EL | GET_ARRAY_EL2 => Op::GetElement { keeps_object: opcode == GET_ARRAY_EL2 },
            PUT_ARRAY_EL => Op::PutElement,
            GET_LENGTH => Op::GetLength,
            GET_LOC | GET_LOC8 | GET_LOC_CHECK => {
                Op::GetLocal { index: self.index()?, is_checked: opcode == GET_LOC_CHECK }
            }
            GET_LOC0..=GET_LOC3 => Op::GetLocal { index: u16::from(opcode - GET_LOC0), is_checked: false },
            GET_LOC0_LOC1 => Op::GetLocals01,
            PUT_LOC | PUT_LOC8 | PUT_LOC_CHECK => {
                Op::PutLocal { index: self.index()?, is_checked: opcode == PUT_LOC_CHECK }
            }
            PUT_LOC0..=PUT_LOC3 => Op::PutLocal { index: u16::from(opcode - PUT_LOC0), is_checked: false },
            SET_LOC | SET_LOC8 => Op::SetLocal(self.index()?),
            SET_LOC0..=SET_LOC3 => Op::SetLocal(u16::from(opcode - SET_LOC0)),
            SET_LOC_UNINITIALIZED => Op::UninitLocal(self.u16()?),
            GET_ARG => Op::GetArg(self.u16()?),
            GET_ARG0..=GET_ARG3 => Op::GetArg(u16::from(opcode - GET_ARG0)),
            PUT_ARG | SET_ARG | PUT_ARG0..=PUT_ARG3 | SET_ARG0..=SET_ARG3 => Op::WriteArg,
            GET_VAR_REF | GET_VAR_REF_CHECK => {
                Op::GetRef { index: self.u16()?, is_checked: opcode == GET_VAR_REF_CHECK }
            }
            GET_VAR_REF0..=GET_VAR_REF3 => Op::GetRef { index: u16::from(opcode - GET_VAR_REF0), is_checked: false },
            PUT_VAR_REF => Op::PutRef { index: self.u16()?, check: RefCheck::None },
            PUT_VAR_REF0..=PUT_VAR_REF3 => {
                Op::PutRef { index: u16::from(opcode - PUT_VAR_REF0), check: RefCheck::None }
            }
            PUT_VAR_REF_CHECK => Op::PutRef { index: self.u16()?, check: RefCheck::Initialized },
            PUT_VAR_REF_CHECK_INIT => Op::PutRef { index: self.u16()?, check: RefCheck::Uninitialized },
            SET_VAR_REF => Op::SetRef(self.u16()?),
            SET_VAR_REF0..=SET_VAR_REF3 => Op::SetRef(u16::from(opcode - SET_VAR_REF0)),
            GOTO | GOTO8 | GOTO16 => Op::Goto(self.target()?),
            IF_FALSE | IF_FALSE8 => Op::If { target: self.target()?, when: false },
            IF_TRUE | IF_TRUE8 => Op::If { target: self.target()?, when: true },
            ADD => Op::Arith(Arith::Add),
            SUB => Op::Arith(Arith::Sub),
            MUL => Op::Arith(Arith::Mul),
            DIV => Op::Arith(Arith::Div),
            MOD => Op::Arith(Arith::Mod),
            AND => Op::Logic(Logic::And),
            OR => Op::Logic(Logic::Or),
            XOR => Op::Logic(Logic::Xor),
            SHL => Op::Logic(Logic::Shl),
            SAR => Op::Logic(Logic::Sar),
            SHR => Op::Logic(Logic::Shr),
            LT => Op::Compare(Compare::Lt, false),
            LTE => Op::Compare(Compare::Lte, false),
            GT => Op::Compare(Compare::Gt, false),
            GTE => Op::Compare(Compare::Gte, false),
            EQ => Op::Compare(Compare::Eq, false),
            NEQ => Op::Compare(Compare::Neq, false),
            STRICT_EQ => Op::Compare(Compare::Eq, true),
            STRICT_NEQ => Op::Compare(Compare::Neq, true),
            INC => Op::Step(1),
            DEC => Op::Step(-1),
            POST_INC => Op::PostStep(1),
            POST_DEC => Op::PostStep(-1),
            INC_LOC => Op::StepLocal(self.index()?, 1),
            DEC_LOC => Op::StepLocal(self.index()?, -1),
            ADD_LOC => Op::AddLocal(self.index()?),
            NEG => Op::Neg,
            PLUS => Op::Plus,
            NOT => Op::Not,
            LNOT => Op::LogicalNot,
            IS_UNDEFINED => Op::IsUndefined,
            IS_NULL => Op::IsNull,
            IS_UNDEFINED_OR_NULL => Op::IsUndefinedOrNull,
            TO_PROPKEY => Op::ToPropertyKey,
            NOP => Op::Nop,
            _ => Op::Other,
        })
    }
}

impl Op {
    /// Returns how many values it takes and puts back.
    pub(crate) fn stack_effect(self) -> (u16, u16) {
        match self {
            Op::Int(_) | Op::Constant(_) | Op::Undefined | Op::Null | Op::Bool(_) | Op::This => (0, 1),
            Op::GetLocal { .. } | Op::GetArg(_) | Op::GetRef { .. } => (0, 1),
            Op::GetLocals01 => (0, 2),
            Op::Shuffle(takes, puts) => (takes.into(), puts.len() as u16),
            Op::Call { argc, is_method, .. } => (argc.saturating_add(1 + u16::from(is_method)), 1),
            Op::PutRef { check: RefCheck::Uninitialized, .. } => (0, 0),
            Op::Return | Op::If { .. } | Op::PutLocal { .. } | Op::PutRef { .. } => (1, 0),
            Op::AddLocal(_) => (1, 0),
            Op::GetElement { keeps_object } => (2, 1 + u16::from(keeps_object)),
            Op::PutElement => (3, 0),
            Op::Arith(_) | Op::Logic(_) | Op::Compare(..) => (2, 1),
            Op::PostStep(_) => (1, 2),
            Op::GetLength | Op::SetLocal(_) | Op::SetRef(_) => (1, 1),
            Op::Step(_) | Op::Neg | Op::Plus | Op::Not | Op::LogicalNot => (1, 1),
            Op::IsUndefined | Op::IsNull | Op::IsUndefinedOrNull | Op::ToPropertyKey => (1, 1),
            Op::UninitLocal(_) | Op::StepLocal(..) | Op::Goto(_) => (0, 0),
            Op::ReturnUndefined | Op::Nop | Op::Closure(_) | Op::SetName | Op::WriteArg | Op::Other => (0, 0),
        }
    }

    /// True if the interpreter goes on there.
    pub(crate) fn is_left(self) -> bool {
        matches!(self, Op::Other | Op::Closure(_) | Op::SetName | Op::WriteArg)
            || matches!(self, Op::PutRef { check: RefCheck::Uninitialized, .. })
    }

    /// True if no instruction follows it in its block.
    pub(crate) fn ends_block(self) -> bool {
        matches!(self, Op::Return | Op::ReturnUndefined | Op::Goto(_) | Op::If { .. })
            || matches!(self, Op::Call { is_tail: true, .. })
            || self.is_left()
    }
}

impl Instruction {
    /// True if it assigns to a variable and `js_run_common` does so where that frees the old value. Of the others,
    /// `js_call_general` does, which the call then stays in.
    pub(crate) fn may_free(&self) -> bool {
        use number::*;
        matches!(self.number, PUT_LOC0..=PUT_LOC3 | PUT_LOC8 | PUT_LOC | PUT_LOC_CHECK | SET_LOC0..=SET_LOC3 | SET_LOC8)
            || matches!(self.number, PUT_VAR_REF0..=PUT_VAR_REF3 | PUT_VAR_REF | PUT_VAR_REF_CHECK)
    }
}
