//! Puts the functions that bindings call into the engine's table.
//!
//! A binding calls some thirty functions of the engine, and a run a few of them. Imports are looked up by name for every
//! instance; what is called through the table is looked up when it is called first.

use crate::meter;
use anyhow::{Result, ensure};
use std::convert::Infallible;
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{ConstExpr, ElementSection, Elements, Module, TableSection};
use wasmparser::{ElementSectionReader, ExternalKind, Parser, Payload, TableSectionReader};

/// The module with those functions at the end of its table.
pub(crate) fn add(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut slots = Slots { functions: Vec::new(), first: 0 };
    let mut tables = 0;
    let mut elements = 0;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::TableSection(section) => {
                for table in section {
                    tables += 1;
                    slots.first = u32::try_from(table?.ty.initial)?;
                }
            }
            Payload::ElementSection(section) => elements += section.count(),
            Payload::ExportSection(section) => {
                for export in section {
                    let export = export?;
                    if export.kind == ExternalKind::Func && is_called(export.name) {
                        slots.functions.push(export.index);
                    }
                }
            }
            _ => {}
        }
    }
    ensure!(tables == 1 && elements > 0, "the engine has {tables} tables and {elements} element segments");
    let mut module = Module::new();
    slots.parse_core_module(&mut module, Parser::new(0), wasm)?;
    Ok(module.finish())
}

/// True if bindings call this export.
pub(crate) fn is_called(name: &str) -> bool {
    name.starts_with("wit_dylib_")
        || ["cabi_realloc", "agent_spaces_lower", "agent_spaces_lift", meter::NOTE].contains(&name)
}

struct Slots {
    functions: Vec<u32>,
    first: u32,
}

impl Reencode for Slots {
    type Error = Infallible;

    fn parse_table_section(&mut self, tables: &mut TableSection, section: TableSectionReader<'_>) -> Result<(), Error> {
        for table in section {
            let mut ty = self.table_type(table?.ty)?;
            ty.minimum += self.functions.len() as u64;
            tables.table(ty);
        }
        Ok(())
    }

    fn parse_element_section(
        &mut self,
        elements: &mut ElementSection,
        section: ElementSectionReader<'_>,
    ) -> Result<(), Error> {
        utils::parse_element_section(self, elements, section)?;
        let offset = ConstExpr::i32_const(self.first as i32);
        elements.active(None, &offset, Elements::Functions(self.functions.as_slice().into()));
        Ok(())
    }
}
