//! Drops the exports that only packing needed.

use anyhow::Result;
use std::convert::Infallible;
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{ExportSection, Module};
use wasmparser::{Export, Parser};

/// The module with the exports that a binding and the component use.
pub(crate) fn trim(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut module = Module::new();
    Trim.parse_core_module(&mut module, Parser::new(0), wasm)?;
    Ok(module.finish())
}

struct Trim;

fn is_kept(name: &str) -> bool {
    const NAMES: [&str; 11] = [
        "memory",
        "__indirect_function_table",
        "__stack_pointer",
        "BINDING_DATA",
        // What compiled functions need to know of the engine: `host/aot`.
        "js_compiled_layout",
        "cabi_realloc",
        "agent_spaces_embed",
        "agent_spaces_lift",
        "agent_spaces_lower",
        "agent_spaces_run",
        "agent_spaces_run_callback",
    ];
    NAMES.contains(&name) || name.starts_with("wit_dylib_")
}

impl Reencode for Trim {
    type Error = Infallible;

    fn parse_export(&mut self, exports: &mut ExportSection, export: Export<'_>) -> Result<(), Error> {
        if is_kept(export.name) {
            wasm_encoder::reencode::utils::parse_export(self, exports, export)?;
        }
        Ok(())
    }

    fn parse_custom_section(
        &mut self,
        _module: &mut Module,
        _section: wasmparser::CustomSectionReader<'_>,
    ) -> Result<(), Error> {
        Ok(())
    }
}
