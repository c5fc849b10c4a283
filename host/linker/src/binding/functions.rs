//! Functions of scripts that are compiled beside the engine: parts of a binding module.

use agent_spaces_aot::{Bases, Unit, compile};
use agent_spaces_sandbox::engine::EngineLayout;
use wasm_encoder::{CodeSection, FunctionSection, GlobalType, ImportSection, TypeSection, ValType};

/// The engine's global with the fuel that is left, which compiled functions charge.
const LEFT: &str = "agent_spaces_meter_left";

/// Functions of a script to be compiled.
pub struct Functions<'a> {
    /// Memory of an engine that has compiled it.
    pub memory: &'a [u8],
    /// Tells functions of the script by their addresses.
    pub is_wanted: &'a dyn Fn(u32) -> bool,
}

/// Addresses of words of the engine's memory, and the indices in its table that go there.
pub(super) type Words = Vec<(u32, u32)>;

/// Compiled functions, which have their places behind all else in a module.
#[derive(Default)]
pub(super) struct Compiled(Unit);

/// Numbers of what a module has before them.
pub(super) struct Before {
    pub(super) types: u32,
    pub(super) functions: u32,
    pub(super) stack_pointer: u32,
    pub(super) left: u32,
}

impl Compiled {
    /// Compiles what is worth it.
    pub(super) fn new(functions: &Functions<'_>, layout: &EngineLayout, before: &Before) -> Option<Compiled> {
        let Before { types, functions: count, stack_pointer, left } = *before;
        let bases = Bases { types, functions: count, stack_pointer, left };
        compile(functions.memory, layout.functions?, bases, functions.is_wanted).map(Compiled)
    }

    /// Functions for the engine's table.
    pub(super) fn members(&self) -> impl Iterator<Item = u32> {
        self.0.entries.iter().map(|entry| entry.function)
    }

    /// Returns words of the engine's memory and the indices that go there, for functions that begin at this index.
    pub(super) fn words(&self, first: u32) -> Words {
        (first..).zip(&self.0.entries).map(|(index, entry)| (entry.word, index)).collect()
    }

    pub(super) fn add_types(&self, types: &mut TypeSection) {
        for (parameters, results) in &self.0.types {
            types.ty().function(parameters.iter().copied(), results.iter().copied());
        }
    }

    pub(super) fn add_functions(&self, functions: &mut FunctionSection) {
        for (ty, _) in &self.0.functions {
            functions.function(*ty);
        }
    }

    pub(super) fn add_code(&self, code: &mut CodeSection) {
        for (_, body) in &self.0.functions {
            code.function(body);
        }
    }
}

/// Imports the global that compiled functions charge.
pub(super) fn import_meter(imports: &mut ImportSection) {
    let left = GlobalType { val_type: ValType::I64, mutable: true, shared: false };
    imports.import(super::module::ENGINE, LEFT, left);
}
