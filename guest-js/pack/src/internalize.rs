//! Points the engine's WASI imports at the functions it exports for them.

use anyhow::{Context, Result};
use std::collections::HashMap;
use std::convert::Infallible;
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{ImportSection, Module};
use wasmparser::{ExternalKind, Imports, Parser, Payload, TypeRef};

const WASI: &str = "wasi_snapshot_preview1";
/// The engine's answer to `fd_write` is its export `preview1_fd_write`.
const ANSWER_PREFIX: &str = "preview1_";

/// The module without its WASI imports.
pub(crate) fn internalize(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut functions = Functions::new(wasm)?;
    let mut module = Module::new();
    functions.parse_core_module(&mut module, Parser::new(0), wasm)?;
    Ok(module.finish())
}

/// Where each function of the old module is in the new one.
struct Functions {
    imported: Vec<u32>,
    removed: u32,
}

impl Functions {
    fn new(wasm: &[u8]) -> Result<Functions> {
        let mut imports = Vec::new();
        let mut exports = HashMap::new();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import?;
                        if let TypeRef::Func(_) = import.ty {
                            imports.push((import.module, import.name));
                        }
                    }
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        if export.kind == ExternalKind::Func {
                            exports.insert(export.name, export.index);
                        }
                    }
                }
                _ => {}
            }
        }
        let removed = imports.iter().filter(|(module, _)| *module == WASI).count() as u32;
        let mut kept = 0;
        let mut imported = Vec::with_capacity(imports.len());
        for (module, name) in imports {
            if module == WASI {
                let answer = exports
                    .get(format!("{ANSWER_PREFIX}{name}").as_str())
                    .with_context(|| format!("the engine has no answer to {WASI}.{name}: see guest-js/src/wasi.rs"))?;
                imported.push(answer - removed);
            } else {
                imported.push(kept);
                kept += 1;
            }
        }
        Ok(Functions { imported, removed })
    }
}

impl Reencode for Functions {
    type Error = Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32, Error> {
        Ok(self.imported.get(index as usize).copied().unwrap_or(index.wrapping_sub(self.removed)))
    }

    fn parse_imports(&mut self, section: &mut ImportSection, imports: Imports<'_>) -> Result<(), Error> {
        match &imports {
            Imports::Single(_, import) if import.module == WASI => Ok(()),
            _ => wasm_encoder::reencode::utils::parse_imports(self, section, imports),
        }
    }

    /// Names of functions would need the same care and nobody reads them.
    fn parse_custom_section(
        &mut self,
        _module: &mut Module,
        _section: wasmparser::CustomSectionReader<'_>,
    ) -> Result<(), Error> {
        Ok(())
    }
}
