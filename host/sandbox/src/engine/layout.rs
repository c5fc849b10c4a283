//! Layout of the engine's core module: memory, table, imports and exports, as a generated binding needs them.

use super::ENGINE_WASM;
use anyhow::{Context, Result, bail};
use std::collections::HashMap;
use std::sync::OnceLock;
use wasm_encoder::ModuleType;
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasmparser::{
    CompositeInnerType, ConstExpr, Element, ElementItems, ElementKind, ExternalKind, FuncType, GlobalType, MemoryType,
    Operator, Parser, Payload, TableType, TypeRef,
};

/// Size of the engine's static buffer for a binding's data; `BINDING_DATA_BYTES` in the engine's source.
const BINDING_DATA_BYTES: usize = 1 << 20;

/// Layout of the engine's core module.
pub struct EngineLayout {
    /// Elements of the engine's table; a binding appends to it.
    pub table_size: u32,
    /// Initial memory size, in pages.
    pub memory_pages: u64,
    /// Size of the stack, at the beginning of the memory.
    pub stack_bytes: u32,
    /// Address of the buffer for a binding's data.
    pub binding_data: u32,
    /// Size of that buffer.
    pub binding_data_bytes: usize,
    /// Address at which the engine says what functions compiled beside it must know; `None` if it calls none.
    pub functions: Option<u32>,
    /// Table slots of exported functions, for those in the table.
    pub slots: HashMap<String, u32>,
    /// Functions that the engine imports: module and name.
    pub imports: Vec<(String, String)>,
    /// The module's type, for components that import it.
    pub module_type: ModuleType,
}

/// Interface of the engine's imports by which the host meters it.
const METER: &str = "agent-spaces:engine/meter@0.1.0";

/// Whether an engine counts the fuel that it consumes.
#[cfg_attr(not(feature = "compile"), expect(dead_code, reason = "only a host that compiles takes other engines"))]
pub(super) fn is_metered(wasm: &[u8]) -> Result<bool> {
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::ImportSection(section) = payload? {
            for import in section.into_imports() {
                if import?.module == METER {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// Sections of a module that its type depends on.
#[derive(Default)]
struct Parts {
    types: Vec<FuncType>,
    imports: Vec<(String, String, u32)>,
    functions: Vec<u32>,
    tables: Vec<TableType>,
    memories: Vec<MemoryType>,
    globals: Vec<(GlobalType, Option<i32>)>,
    exports: Vec<(String, ExternalKind, u32)>,
    /// Functions in the table: slot and function index.
    elements: Vec<(u32, u32)>,
}

impl EngineLayout {
    /// Returns the layout of the prebuilt engine.
    pub fn prebuilt() -> Result<&'static EngineLayout> {
        static LAYOUT: OnceLock<EngineLayout> = OnceLock::new();
        if let Some(layout) = LAYOUT.get() {
            return Ok(layout);
        }
        let layout = EngineLayout::read(ENGINE_WASM)?;
        Ok(LAYOUT.get_or_init(|| layout))
    }

    fn read(wasm: &[u8]) -> Result<EngineLayout> {
        let parts = Parts::read(wasm)?;
        let table_size = parts.tables.first().context("the engine has no table")?.initial;
        let memory_pages = parts.memories.first().context("the engine has no memory")?.initial;
        Ok(EngineLayout {
            memory_pages,
            table_size: u32::try_from(table_size)?,
            stack_bytes: parts.address("__stack_pointer")?,
            binding_data: parts.address("BINDING_DATA")?,
            binding_data_bytes: BINDING_DATA_BYTES,
            functions: parts.address("js_compiled_layout").ok(),
            slots: parts.slots(),
            imports: parts.imports.iter().map(|(module, name, _)| (module.clone(), name.clone())).collect(),
            module_type: parts.module_type()?,
        })
    }
}

impl Parts {
    fn read(wasm: &[u8]) -> Result<Parts> {
        let mut parts = Parts::default();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::TypeSection(section) => {
                    for group in section {
                        for ty in group?.into_types() {
                            match ty.composite_type.inner {
                                CompositeInnerType::Func(ty) => parts.types.push(ty),
                                _ => bail!("the engine has types other than functions"),
                            }
                        }
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import?;
                        let TypeRef::Func(ty) = import.ty else {
                            bail!("the engine imports {}.{}", import.module, import.name)
                        };
                        parts.imports.push((import.module.to_owned(), import.name.to_owned(), ty));
                        parts.functions.push(ty);
                    }
                }
                Payload::FunctionSection(section) => {
                    for ty in section {
                        parts.functions.push(ty?);
                    }
                }
                Payload::TableSection(section) => {
                    for table in section {
                        parts.tables.push(table?.ty);
                    }
                }
                Payload::MemorySection(section) => {
                    for memory in section {
                        parts.memories.push(memory?);
                    }
                }
                Payload::GlobalSection(section) => {
                    for global in section {
                        let global = global?;
                        parts.globals.push((global.ty, constant(&global.init_expr)));
                    }
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        parts.exports.push((export.name.to_owned(), export.kind, export.index));
                    }
                }
                Payload::ElementSection(section) => {
                    for element in section {
                        parts.elements.extend(slots(element?)?);
                    }
                }
                Payload::CodeSectionStart { .. } => break,
                _ => {}
            }
        }
        Ok(parts)
    }

    /// Returns the initial value of an exported global.
    fn address(&self, name: &str) -> Result<u32> {
        let export = self.exports.iter().find(|(export, ..)| export == name);
        let value = export.and_then(|(_, _, index)| self.globals.get(*index as usize)?.1);
        Ok(value.with_context(|| format!("the engine does not export {name}"))? as u32)
    }

    fn slots(&self) -> HashMap<String, u32> {
        let slots: HashMap<u32, u32> = self.elements.iter().map(|(slot, function)| (*function, *slot)).collect();
        let functions = self.exports.iter().filter(|(_, kind, _)| *kind == ExternalKind::Func);
        functions.filter_map(|(name, _, index)| Some((name.clone(), *slots.get(index)?))).collect()
    }

    fn module_type(&self) -> Result<ModuleType> {
        let mut encoder = RoundtripReencoder;
        let mut module = ModuleType::new();
        for ty in &self.types {
            let ty = encoder.func_type(ty.clone())?;
            module.ty().func_type(&ty);
        }
        for (from, name, ty) in &self.imports {
            module.import(from, name, wasm_encoder::EntityType::Function(*ty));
        }
        for (name, kind, index) in &self.exports {
            let index = *index as usize;
            let missing = || format!("the export {name} is missing");
            let ty = match kind {
                ExternalKind::Func => TypeRef::Func(*self.functions.get(index).with_context(missing)?),
                ExternalKind::Table => TypeRef::Table(*self.tables.get(index).with_context(missing)?),
                ExternalKind::Memory => TypeRef::Memory(*self.memories.get(index).with_context(missing)?),
                ExternalKind::Global => TypeRef::Global(self.globals.get(index).with_context(missing)?.0),
                _ => bail!("the engine exports something unexpected: {name}"),
            };
            module.export(name, encoder.entity_type(ty)?);
        }
        Ok(module)
    }
}

/// Returns the functions of an element segment with their slots.
fn slots(element: Element<'_>) -> Result<Vec<(u32, u32)>> {
    let (ElementKind::Active { offset_expr, .. }, ElementItems::Functions(functions)) = (element.kind, element.items)
    else {
        return Ok(Vec::new());
    };
    let first = constant(&offset_expr).context("the engine's table has no constant offset")? as u32;
    (first..).zip(functions).map(|(slot, function)| Ok((slot, function?))).collect()
}

fn constant(expression: &ConstExpr<'_>) -> Option<i32> {
    match expression.get_operators_reader().read() {
        Ok(Operator::I32Const { value }) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::ENGINE_WASM;
    use crate::engine::layout::{EngineLayout, ExternalKind, Parts};

    /// A function without a slot would be imported, which is slower.
    #[test]
    fn functions_that_bindings_call_are_in_the_table() {
        let layout = EngineLayout::prebuilt().unwrap();
        let parts = Parts::read(ENGINE_WASM).unwrap();
        let functions = parts.exports.iter().filter(|(_, kind, _)| *kind == ExternalKind::Func);
        let called: Vec<_> = functions.filter(|(name, ..)| name.starts_with("wit_dylib_")).collect();
        assert!(called.len() > 40, "{called:?}");
        for (name, _, index) in called {
            let slot = layout.slots[name];
            assert!(slot < layout.table_size && parts.elements.contains(&(slot, *index)), "{name}");
        }
    }
}
