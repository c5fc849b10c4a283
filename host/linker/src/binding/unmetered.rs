//! Core module in the place of the host's `meter` in compiled programs: it gives a slice without end.
//!
//! The host of such a program meters it as it does any component, or not at all.

use wasm_encoder::{CodeSection, ExportKind, ExportSection, Function, FunctionSection, Module, TypeSection, ValType};

/// Name of the interface, as the engine imports it.
pub(super) const METER: &str = "agent-spaces:engine/meter@0.1.0";

/// Slice that no program uses up. The engine reserves the two highest bits.
const ENDLESS: i64 = 1 << 60;

/// Core module with the functions of the interface.
pub(super) fn module() -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function([ValType::I64], [ValType::I64]);
    types.ty().function([ValType::I64], []);
    let mut functions = FunctionSection::new();
    functions.function(0).function(1);
    let mut exports = ExportSection::new();
    exports.export("refill", ExportKind::Func, 0);
    exports.export("note", ExportKind::Func, 1);
    let mut code = CodeSection::new();
    let (mut refill, mut note) = (Function::new([]), Function::new([]));
    refill.instructions().i64_const(ENDLESS).end();
    note.instructions().end();
    code.function(&refill).function(&note);
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&exports).section(&code);
    module.finish()
}
