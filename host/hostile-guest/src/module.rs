//! Core module of the hostile guest, with its imports and exports, and the component around it.

use super::import::{Import, types};
use super::interpreter;
use agent_spaces_linker::binding::world::World;
use anyhow::{Context, Result};
use wasm_encoder::{
    CodeSection, ConstExpr, DataSection, EntityType, ExportKind, ExportSection, FunctionSection, GlobalSection,
    GlobalType, ImportSection, MemorySection, MemoryType, Module, TypeSection, ValType,
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::abi::{AbiVariant, WasmSignature};
use wit_parser::{Function, Mangling, Resolve, WorldItem, WorldKey};

/// Built-ins of the component model: module, name, number of parameters and of results.
const BUILTINS: [(&str, &str, usize, usize); 11] = [
    ("$root", "[waitable-set-new]", 0, 1),
    ("$root", "[waitable-set-wait]", 2, 1),
    ("$root", "[waitable-set-poll]", 2, 1),
    ("$root", "[waitable-set-drop]", 1, 0),
    ("$root", "[waitable-join]", 2, 0),
    ("$root", "[subtask-drop]", 1, 0),
    ("$root", "[subtask-cancel]", 1, 1),
    ("$root", "[backpressure-inc]", 0, 0),
    ("$root", "[backpressure-dec]", 0, 0),
    ("$root", "[thread-yield]", 0, 1),
    ("[export]$root", "[task-cancel]", 0, 0),
];

/// Initial memory in pages: scratch memory, and room for what the host passes.
const PAGES: u64 = 8;

/// Builds the guest as a component of a world; returns it with its imports.
pub(super) fn component(world: &World) -> Result<(Vec<u8>, Vec<String>)> {
    let resolve = &world.resolve;
    let (runner, run) = runner(world)?;
    let (module, name, signature) = run.task_return_import(resolve, Some(runner), Mangling::Legacy);
    // `task.return` is import 0: the interpreter calls it by that index.
    let mut imports = vec![Import::new(module, name, &signature)];
    for (module, name, params, results) in BUILTINS {
        let (params, results) = (vec![ValType::I32; params], vec![ValType::I32; results]);
        imports.push(Import { module: module.to_owned(), name: name.to_owned(), params, results });
    }
    for (key, item) in &resolve.worlds[world.component].imports {
        let WorldItem::Interface { id, .. } = item else { continue };
        for function in resolve.interfaces[*id].functions.values() {
            let module = || resolve.name_world_key(key);
            let signature = resolve.wasm_signature(AbiVariant::GuestImport, function);
            imports.push(Import::new(module(), function.name.clone(), &signature));
            if function.kind.is_async() {
                let signature = resolve.wasm_signature(AbiVariant::GuestImportAsync, function);
                imports.push(Import::new(module(), format!("[async-lower]{}", function.name), &signature));
            }
        }
    }
    let lifted = format!("[async-lift]{}#{}", resolve.name_world_key(runner), run.name);
    let signature = resolve.wasm_signature(AbiVariant::GuestExportAsync, run);
    let mut module = encode(&imports, &lifted, &signature);
    embed_component_metadata(&mut module, resolve, world.component, StringEncoding::UTF8)?;
    let component = ComponentEncoder::default().validate(true).module(&module)?.encode()?;
    Ok((component, imports.iter().map(|import| format!("{} {}", import.module, import.name)).collect()))
}

/// Finds the exported interface and its function `run`.
fn runner(world: &World) -> Result<(&WorldKey, &Function)> {
    let resolve: &Resolve = &world.resolve;
    let mut exports = resolve.worlds[world.component].exports.iter();
    let found = exports.find_map(|(key, item)| match item {
        WorldItem::Interface { id, .. } => Some((key, resolve.interfaces[*id].functions.get("run")?)),
        _ => None,
    });
    found.context("the world exports no runner")
}

/// Encodes the core module; `lifted` is the name of the exported function.
fn encode(imports: &[Import], lifted: &str, run: &WasmSignature) -> Vec<u8> {
    let mut types_section = TypeSection::new();
    let mut import_section = ImportSection::new();
    for import in imports {
        let ty = types_section.len();
        types_section.ty().function(import.params.clone(), import.results.clone());
        import_section.import(&import.module, &import.name, EntityType::Function(ty));
    }
    let mut functions = FunctionSection::new();
    let mut code = CodeSection::new();
    let bodies = interpreter::functions(imports, types(&run.params));
    for interpreter::Body { params, results, function } in bodies {
        functions.function(types_section.len());
        types_section.ty().function(params, results);
        code.function(&function);
    }
    let mut memories = MemorySection::new();
    let memory = MemoryType { minimum: PAGES, maximum: None, memory64: false, shared: false, page_size_log2: None };
    memories.memory(memory);
    let mut globals = GlobalSection::new();
    for initial in interpreter::GLOBALS {
        let ty = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
        globals.global(ty, &ConstExpr::i32_const(initial));
    }
    let first = imports.len() as u32;
    let mut exports = ExportSection::new();
    exports.export("memory", ExportKind::Memory, 0);
    exports.export("cabi_realloc", ExportKind::Func, first + interpreter::REALLOC);
    exports.export(lifted, ExportKind::Func, first + interpreter::RUN);
    exports.export(&format!("[callback]{lifted}"), ExportKind::Func, first + interpreter::CALLBACK);
    let mut data = DataSection::new();
    data.active(0, &ConstExpr::i32_const(interpreter::SCRATCH), interpreter::scratch());

    let mut module = Module::new();
    module.section(&types_section).section(&import_section).section(&functions).section(&memories);
    module.section(&globals).section(&exports).section(&code).section(&data);
    module.finish()
}
