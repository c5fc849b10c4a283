//! Code of the hostile guest: an interpreter of instructions in hexadecimal digits.
//!
//! | opcode, modulo 16 | operands | effect |
//! |---|---|---|
//! | 0 | address, word | writes a word to scratch memory |
//! | 1 | offset, count, bytes | writes bytes to scratch memory |
//! | 2 | mode, word | sets the behaviour of `cabi_realloc` |
//! | 3 | pages | grows memory |
//! | 4 | word | returns this to the host: exit, yield, wait, or an invalid code |
//! | 5 | | waits for the waitable set created last |
//! | 6 | | yields |
//! | 7 | | omits the answer at the end |
//! | 8 | count, function, words | calls a function repeatedly |
//! | 9 to 15 | function, words | calls a function |
//!
//! A [word](WORD) begins with a byte for its kind: small, any, near the end of memory, near the end of the address space,
//! result of the last call, pointer to scratch memory, aligned or not. At the end of its instructions the guest answers as
//! the engine does, unless opcode 7 omits that.

use super::import::Import;
use wasm_encoder::{BlockType, Function, InstructionSink, MemArg, ValType};

/// Function indices, counted after the imports.
const BYTE: u32 = 0;
const WORD: u32 = 1;
const LONG: u32 = 2;
const DISPATCH: u32 = 3;
const INTERPRET: u32 = 4;
pub(super) const REALLOC: u32 = 5;
pub(super) const RUN: u32 = 6;
pub(super) const CALLBACK: u32 = 7;

/// Globals: next and end address of the instructions, result of the last call, mode and value of `cabi_realloc`, its next
/// free address, and the flag that omits the answer.
const NEXT: u32 = 0;
const END: u32 = 1;
const LAST: u32 = 2;
const REALLOC_MODE: u32 = 3;
const REALLOC_VALUE: u32 = 4;
const FREE: u32 = 5;
const IS_SILENT: u32 = 6;
pub(super) const GLOBALS: [i32; 7] = [0, 0, 0, 0, 0, SCRATCH + 3 * SCRATCH_BYTES, 0];

/// Scratch memory that instructions write to; memory before it is unused.
pub(super) const SCRATCH: i32 = 1024;
const SCRATCH_BYTES: i32 = 64 << 10;

/// Address of the regular answer: behind all memory that instructions write to.
const ANSWER: i32 = SCRATCH + 2 * SCRATCH_BYTES;

/// Number of opcodes.
const KINDS: i32 = 16;
const FIRST_CALL: i32 = 9;

/// Maximum bytes of one write instruction, and calls per unit of a repetition's count.
const MAX_WRITTEN: i32 = 63;
const CALLS_PER_COUNT: i32 = 64;

/// Function with its signature.
pub(super) struct Body {
    pub(super) params: Vec<ValType>,
    pub(super) results: Vec<ValType>,
    pub(super) function: Function,
}

/// Returns the initial scratch memory: a short list or text at every aligned address.
pub(super) fn scratch() -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..512 {
        bytes.extend((SCRATCH + 8).to_le_bytes());
        bytes.extend(1_i32.to_le_bytes());
    }
    bytes
}

/// Returns all functions in the order of their indices.
pub(super) fn functions(imports: &[Import], run: Vec<ValType>) -> Vec<Body> {
    let first = imports.len() as u32;
    let answer = vec![ValType::I32];
    let body =
        |params: Vec<ValType>, results: &[ValType], function| Body { params, results: results.to_vec(), function };
    vec![
        body(vec![], &answer, byte()),
        body(vec![], &answer, word(first)),
        body(vec![], &[ValType::I64], long(first)),
        body(vec![ValType::I32], &[], dispatch(imports)),
        body(vec![], &answer, interpret(imports)),
        body(vec![ValType::I32; 4], &answer, realloc(imports)),
        body(run, &answer, begin(first)),
        body(vec![ValType::I32; 3], &answer, callback(first)),
    ]
}

const fn at(offset: u64) -> MemArg {
    MemArg { offset, align: 0, memory_index: 0 }
}

/// Reads the next byte of the instructions; zero behind their end.
fn byte() -> Function {
    let mut function = Function::new([]);
    let mut sink = function.instructions();
    sink.global_get(NEXT).global_get(END).i32_ge_u().if_(BlockType::Empty).i32_const(0).return_().end();
    digit(&mut sink, 0);
    sink.i32_const(4).i32_shl();
    digit(&mut sink, 1);
    sink.i32_or();
    sink.global_get(NEXT).i32_const(2).i32_add().global_set(NEXT);
    sink.end();
    function
}

/// Decodes a hexadecimal digit: `a` is 97, whose low nibble is one, and `0` is 48, whose low nibble is zero.
fn digit(sink: &mut InstructionSink<'_>, offset: u64) {
    sink.global_get(NEXT).i32_load8_u(at(offset)).i32_const(15).i32_and();
    sink.global_get(NEXT).i32_load8_u(at(offset)).i32_const(6).i32_shr_u().i32_const(9).i32_mul();
    sink.i32_add();
}

/// Reads a little-endian number.
fn number(sink: &mut InstructionSink<'_>, first: u32, bytes: i32) {
    sink.call(first + BYTE);
    for i in 1..bytes {
        sink.call(first + BYTE).i32_const(8 * i).i32_shl().i32_or();
    }
}

fn word(first: u32) -> Function {
    let mut function = Function::new([(1, ValType::I32)]);
    let mut sink = function.instructions();
    sink.call(first + BYTE).i32_const(7).i32_and().local_set(0);
    let is = |sink: &mut InstructionSink<'_>, kind: i32| {
        sink.local_get(0).i32_const(kind).i32_eq().if_(BlockType::Empty);
    };
    is(&mut sink, 0);
    sink.call(first + BYTE).return_().end();
    is(&mut sink, 1);
    number(&mut sink, first, 4);
    sink.return_().end();
    is(&mut sink, 2);
    sink.memory_size(0).i32_const(16).i32_shl().call(first + BYTE).i32_sub().return_().end();
    is(&mut sink, 3);
    sink.i32_const(-1).call(first + BYTE).i32_sub().return_().end();
    is(&mut sink, 4);
    sink.global_get(LAST).return_().end();
    is(&mut sink, 5);
    sink.i32_const(SCRATCH).call(first + BYTE).i32_const(8).i32_mul().i32_add().return_().end();
    is(&mut sink, 6);
    sink.i32_const(i32::MIN).call(first + BYTE).i32_sub().return_().end();
    sink.i32_const(SCRATCH);
    number(&mut sink, first, 2);
    sink.i32_add();
    sink.end();
    function
}

fn long(first: u32) -> Function {
    let mut function = Function::new([]);
    let mut sink = function.instructions();
    sink.call(first + WORD).i64_extend_i32_u();
    sink.call(first + WORD).i64_extend_i32_s().i64_const(32).i64_shl().i64_or();
    sink.end();
    function
}

/// Calls the import of this index with arguments from the instructions.
fn dispatch(imports: &[Import]) -> Function {
    let first = imports.len() as u32;
    let mut function = Function::new([]);
    let mut sink = function.instructions();
    for (index, import) in (0..first).zip(imports) {
        sink.local_get(0).i32_const(index as i32).i32_eq().if_(BlockType::Empty);
        for param in &import.params {
            match param {
                ValType::I64 => sink.call(first + LONG),
                ValType::F32 => sink.call(first + WORD).f32_reinterpret_i32(),
                ValType::F64 => sink.call(first + LONG).f64_reinterpret_i64(),
                _ => sink.call(first + WORD),
            };
        }
        sink.call(index);
        for result in &import.results {
            match result {
                ValType::I32 => sink.global_set(LAST),
                ValType::I64 => sink.i32_wrap_i64().global_set(LAST),
                _ => sink.drop(),
            };
        }
        sink.return_().end();
    }
    sink.end();
    function
}

/// Executes instructions until one returns to the host, or to their end.
fn interpret(imports: &[Import]) -> Function {
    const KIND: u32 = 0;
    const COUNT: u32 = 1;
    const OFFSET: u32 = 2;
    let first = imports.len() as u32;
    let mut function = Function::new([(3, ValType::I32)]);
    let mut sink = function.instructions();
    let is = |sink: &mut InstructionSink<'_>, kind: i32| {
        sink.local_get(KIND).i32_const(kind).i32_eq().if_(BlockType::Empty);
    };
    let called = |sink: &mut InstructionSink<'_>| {
        sink.call(first + BYTE).i32_const(imports.len() as i32).i32_rem_u().call(first + DISPATCH);
    };
    sink.loop_(BlockType::Empty);
    sink.global_get(NEXT).global_get(END).i32_ge_u().if_(BlockType::Empty);
    sink.global_get(IS_SILENT).i32_eqz().if_(BlockType::Empty);
    answer(&mut sink);
    sink.end().i32_const(0).return_().end();
    sink.call(first + BYTE).i32_const(KINDS).i32_rem_u().local_set(KIND);
    is(&mut sink, 0);
    sink.call(first + WORD).i32_const(SCRATCH_BYTES - 1).i32_and().call(first + WORD);
    sink.i32_store(at(SCRATCH as u64)).br(1).end();
    is(&mut sink, 1);
    sink.call(first + BYTE).i32_const(8).i32_mul().local_set(OFFSET);
    sink.call(first + BYTE).i32_const(MAX_WRITTEN).i32_and().local_set(COUNT);
    sink.loop_(BlockType::Empty).local_get(COUNT).if_(BlockType::Empty);
    sink.local_get(OFFSET).call(first + BYTE).i32_store8(at(SCRATCH as u64));
    sink.local_get(OFFSET).i32_const(1).i32_add().local_set(OFFSET);
    sink.local_get(COUNT).i32_const(1).i32_sub().local_set(COUNT);
    sink.br(1).end().end().br(1).end();
    is(&mut sink, 2);
    sink.call(first + BYTE).i32_const(7).i32_and().global_set(REALLOC_MODE);
    sink.call(first + WORD).global_set(REALLOC_VALUE).br(1).end();
    is(&mut sink, 3);
    sink.call(first + BYTE).memory_grow(0).global_set(LAST).br(1).end();
    is(&mut sink, 4);
    sink.call(first + WORD).return_().end();
    is(&mut sink, 5);
    sink.global_get(LAST).i32_const(4).i32_shl().i32_const(2).i32_or().return_().end();
    is(&mut sink, 6);
    sink.i32_const(1).return_().end();
    is(&mut sink, 7);
    sink.i32_const(1).global_set(IS_SILENT).br(1).end();
    sink.local_get(KIND).i32_const(FIRST_CALL).i32_lt_u().if_(BlockType::Empty);
    sink.call(first + BYTE).i32_const(CALLS_PER_COUNT).i32_mul().local_set(COUNT);
    sink.global_get(NEXT).local_set(OFFSET);
    sink.loop_(BlockType::Empty).local_get(COUNT).if_(BlockType::Empty);
    sink.local_get(OFFSET).global_set(NEXT);
    called(&mut sink);
    sink.local_get(COUNT).i32_const(1).i32_sub().local_set(COUNT);
    sink.br(1).end().end().br(1).end();
    called(&mut sink);
    sink.br(0).end();
    sink.unreachable().end();
    function
}

/// Returns `ok("null")` through import 0, `task.return`, as the engine would.
fn answer(sink: &mut InstructionSink<'_>) {
    sink.i32_const(ANSWER).i32_const(0).i32_store8(at(0));
    sink.i32_const(ANSWER).i32_const(ANSWER + 64).i32_store(at(4));
    sink.i32_const(ANSWER).i32_const(4).i32_store(at(8));
    sink.i32_const(ANSWER).i32_const(i32::from_le_bytes(*b"null")).i32_store(at(64));
    sink.i32_const(ANSWER).call(0);
}

/// Allocates, or misbehaves as set by opcode 2.
fn realloc(imports: &[Import]) -> Function {
    const ALIGN: u32 = 2;
    const SIZE: u32 = 3;
    const OFFSET: u32 = 4;
    let first = imports.len() as u32;
    let mut function = Function::new([(1, ValType::I32)]);
    let mut sink = function.instructions();
    let is = |sink: &mut InstructionSink<'_>, mode: i32| {
        sink.global_get(REALLOC_MODE).i32_const(mode).i32_eq().if_(BlockType::Empty);
    };
    is(&mut sink, 1);
    sink.global_get(REALLOC_VALUE).return_().end();
    is(&mut sink, 2);
    sink.memory_size(0).i32_const(16).i32_shl().i32_const(4).i32_sub().return_().end();
    // Calls the host from within `cabi_realloc`, which no guest may.
    is(&mut sink, 3);
    sink.global_get(REALLOC_VALUE).i32_const(imports.len() as i32).i32_rem_u().call(first + DISPATCH).end();
    is(&mut sink, 4);
    sink.loop_(BlockType::Empty).br(0).end().end();
    is(&mut sink, 5);
    sink.unreachable().end();
    // Overlaps all earlier allocations.
    is(&mut sink, 6);
    sink.i32_const(SCRATCH).return_().end();
    sink.global_get(FREE).local_get(ALIGN).i32_add().i32_const(1).i32_sub();
    sink.i32_const(0).local_get(ALIGN).i32_sub().i32_and().local_tee(OFFSET);
    sink.local_get(SIZE).i32_add().global_set(FREE);
    sink.block(BlockType::Empty);
    sink.global_get(FREE).memory_size(0).i32_const(16).i32_shl().i32_le_u().br_if(0);
    sink.global_get(FREE).memory_size(0).i32_const(16).i32_shl().i32_sub();
    sink.i32_const(0xffff).i32_add().i32_const(16).i32_shr_u().memory_grow(0).drop();
    sink.end();
    // Returns a misaligned address.
    is(&mut sink, 7);
    sink.local_get(OFFSET).i32_const(1).i32_add().return_().end();
    sink.local_get(OFFSET).end();
    function
}

/// Exported function: takes the script's source as instructions.
fn begin(first: u32) -> Function {
    const SOURCE: u32 = 3;
    const LENGTH: u32 = 4;
    let mut function = Function::new([]);
    let mut sink = function.instructions();
    sink.local_get(SOURCE).global_set(NEXT);
    sink.local_get(SOURCE).local_get(LENGTH).i32_add().global_set(END);
    sink.call(first + INTERPRET).end();
    function
}

/// Continues after the instruction that returned to the host.
fn callback(first: u32) -> Function {
    const SUBJECT: u32 = 1;
    let mut function = Function::new([]);
    let mut sink = function.instructions();
    sink.local_get(SUBJECT).global_set(LAST);
    sink.call(first + INTERPRET).end();
    function
}
