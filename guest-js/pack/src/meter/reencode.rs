//! Writer of the metered module.

use super::charge::{CALL_COST, Meter, loop_cost};
use super::module::{Facts, REPLACED, Replacement};
use super::{LEFT, METER, NOTE, bulk, support};
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::convert::Infallible;
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, EntityType, ExportSection, Function, FunctionSection, GlobalSection, GlobalType,
    ImportSection, Module, TypeSection, ValType,
};
use wasmparser::{Export, ExternalKind, FunctionBody, Operator, Parser};

/// Exports that the host calls to run the engine.
const ENTRIES: [&str; 2] = ["agent_spaces_run", "agent_spaces_run_callback"];
/// Export that the host calls while the engine may not call it.
const REALLOC: &str = "cabi_realloc";

pub(super) fn write(wasm: &[u8], facts: &Facts, entries: &BTreeSet<usize>, charges: bool) -> Result<Vec<u8>> {
    let kept = facts.imported - facts.replaced.count();
    let added = kept + IMPORTS + facts.functions.len() as u32;
    let mut metered = Metered {
        facts,
        entries,
        refill_import: kept,
        note_import: kept + 1,
        meter: Meter { global: facts.globals, refill: added, is_on: charges },
        note: added + 1,
        wrappers: Vec::new(),
        next: 0,
    };
    for name in ENTRIES.into_iter().chain([REALLOC]) {
        let function = facts.exports.get(name).with_context(|| format!("the engine does not export {name}"))?;
        metered.wrappers.push((name, *function));
    }
    let mut module = Module::new();
    metered.parse_core_module(&mut module, Parser::new(0), wasm)?;
    Ok(module.finish())
}

/// Imports that are added: `refill` and `note`.
const IMPORTS: u32 = 2;

struct Metered<'a> {
    facts: &'a Facts,
    entries: &'a BTreeSet<usize>,
    refill_import: u32,
    note_import: u32,
    meter: Meter,
    note: u32,
    /// Exports that are wrapped in a function, with the functions inside.
    wrappers: Vec<(&'static str, u32)>,
    /// The next function whose code is written.
    next: usize,
}

/// A further turn of a loop.
#[derive(Clone, Copy)]
struct Turn {
    cost: i64,
    /// True if it asks for more where nothing is left.
    asks: bool,
}

impl Turn {
    fn charge(self, meter: Meter, function: &mut Function) {
        match self.asks {
            true => meter.charge(function, self.cost),
            false => meter.note(function, self.cost),
        }
    }
}

impl Metered<'_> {
    /// Index of the first of the types that are added: of the functions added, of `refill`, of `note`.
    fn first_type(&self) -> u32 {
        self.facts.types.len() as u32
    }

    fn wrapper(&self, name: &str) -> Option<u32> {
        let position = self.wrappers.iter().position(|(wrapped, _)| *wrapped == name)?;
        Some(self.note + 1 + position as u32)
    }

    fn add_functions(&mut self, code: &mut CodeSection) -> Result<(), Error> {
        let meter = self.meter;
        code.function(&support::refill(meter.global, self.refill_import));
        code.function(&support::note(meter.global, self.note_import));
        for (name, function) in self.wrappers.clone() {
            let ty = self.facts.signatures[function as usize];
            let parameters = self.facts.types[ty as usize].params().len() as u32;
            let function = self.function_index(function)?;
            code.function(&match name {
                REALLOC => support::on_credit(function, parameters, meter),
                _ => support::noting(function, parameters, self.note),
            });
        }
        Ok(())
    }
}

impl Reencode for Metered<'_> {
    type Error = Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32, Error> {
        let added = if index < self.facts.imported { 0 } else { IMPORTS };
        Ok(index - self.facts.replaced.before(index) + added)
    }

    fn parse_type_section(
        &mut self,
        types: &mut TypeSection,
        section: wasmparser::TypeSectionReader<'_>,
    ) -> Result<(), Error> {
        utils::parse_type_section(self, types, section)?;
        types.ty().function([], []);
        types.ty().function([ValType::I64], [ValType::I64]);
        types.ty().function([ValType::I64], []);
        Ok(())
    }

    fn parse_import_section(
        &mut self,
        imports: &mut ImportSection,
        section: wasmparser::ImportSectionReader<'_>,
    ) -> Result<(), Error> {
        for import in section.into_imports() {
            let import = import?;
            if import.module != REPLACED {
                let ty = self.entity_type(import.ty)?;
                imports.import(import.module, import.name, ty);
            }
        }
        imports.import(METER, "refill", EntityType::Function(self.first_type() + 1));
        imports.import(METER, "note", EntityType::Function(self.first_type() + 2));
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: wasmparser::FunctionSectionReader<'_>,
    ) -> Result<(), Error> {
        utils::parse_function_section(self, functions, section)?;
        functions.function(self.first_type()).function(self.first_type());
        for (_, wrapped) in &self.wrappers {
            functions.function(self.facts.signatures[*wrapped as usize]);
        }
        Ok(())
    }

    fn parse_global_section(
        &mut self,
        globals: &mut GlobalSection,
        section: wasmparser::GlobalSectionReader<'_>,
    ) -> Result<(), Error> {
        utils::parse_global_section(self, globals, section)?;
        // Nothing is given before the host is asked.
        globals.global(GlobalType { val_type: ValType::I64, mutable: true, shared: false }, &ConstExpr::i64_const(0));
        Ok(())
    }

    fn parse_export_section(
        &mut self,
        exports: &mut ExportSection,
        section: wasmparser::ExportSectionReader<'_>,
    ) -> Result<(), Error> {
        utils::parse_export_section(self, exports, section)?;
        exports.export(NOTE, wasm_encoder::ExportKind::Func, self.note);
        exports.export(LEFT, wasm_encoder::ExportKind::Global, self.meter.global);
        Ok(())
    }

    fn parse_export(&mut self, exports: &mut ExportSection, export: Export<'_>) -> Result<(), Error> {
        match self.wrapper(export.name) {
            Some(wrapper) if export.kind == ExternalKind::Func => {
                exports.export(export.name, wasm_encoder::ExportKind::Func, wrapper);
                Ok(())
            }
            _ => utils::parse_export(self, exports, export),
        }
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: wasmparser::CodeSectionReader<'_>,
    ) -> Result<(), Error> {
        utils::parse_code_section(self, code, section)?;
        self.add_functions(code)
    }

    fn parse_function_body(&mut self, code: &mut CodeSection, body: FunctionBody<'_>) -> Result<(), Error> {
        let number = self.next;
        self.next += 1;
        let (meter, facts) = (self.meter, &self.facts.functions[number]);
        let mut locals = Vec::new();
        let signature = self.facts.signatures[self.facts.imported as usize + number];
        let mut amount = self.facts.types[signature as usize].params().len() as u32;
        for local in body.get_locals_reader()? {
            let (count, ty) = local?;
            amount += count;
            locals.push((count, self.val_type(ty)?));
        }
        let operators = body.get_operators_reader()?.into_iter().collect::<Result<Vec<_>, _>>()?;
        if operators.iter().any(bulk::is_bulk) {
            locals.push((2, ValType::I32));
        }
        let mut function = Function::new(locals);
        if self.entries.contains(&number) {
            meter.charge(&mut function, CALL_COST);
        }
        // The loop that each open block is, by what a turn of it costs.
        let mut open: Vec<Option<Turn>> = vec![None];
        let mut loops = 0;
        for operator in operators {
            let target = |depth: u32| open.len().checked_sub(1 + depth as usize).and_then(|block| open[block]);
            if let Some(replacement) = self.facts.replaced.of(&operator) {
                match replacement {
                    Replacement::Step => meter.step(&mut function),
                    Replacement::More => drop(function.instructions().call(meter.refill)),
                    Replacement::Back => meter.back(&mut function),
                    Replacement::Charge => meter.charge_loaded(&mut function),
                    Replacement::Tell => drop(function.instructions().call(self.note)),
                    Replacement::Paid | Replacement::Inside => {}
                }
                continue;
            }
            match &operator {
                Operator::MemoryGrow { .. } if meter.is_on => {
                    bulk::grow(meter, &mut function, amount, self.note);
                    continue;
                }
                operator if meter.is_on && bulk::is_bulk(operator) => {
                    bulk::charge(meter, &mut function, operator, amount);
                }
                // What leads back to a loop is charged. Most loops find what they look for in their first turn.
                Operator::Br { relative_depth } => {
                    if let Some(turn) = target(*relative_depth) {
                        turn.charge(meter, &mut function);
                    }
                }
                Operator::BrIf { relative_depth } => {
                    if let Some(turn) = target(*relative_depth) {
                        function.instructions().if_(BlockType::Empty);
                        turn.charge(meter, &mut function);
                        function.instructions().br(relative_depth + 1).end();
                        continue;
                    }
                }
                Operator::BrTable { targets } => {
                    let depths = targets.targets().chain([Ok(targets.default())]).collect::<Result<Vec<_>, _>>()?;
                    let turns = depths.into_iter().filter_map(target);
                    if let Some(turn) = turns.max_by_key(|turn| turn.cost) {
                        turn.charge(meter, &mut function);
                    }
                }
                Operator::Loop { .. } => {
                    let cost = loop_cost(facts.loops[loops]);
                    open.push(match &facts.uncharged {
                        _ if facts.is_paid => None,
                        None => Some(Turn { cost, asks: true }),
                        Some(uncharged) if uncharged.contains(&loops) => None,
                        // The interpreter's other loops end by themselves: they are over arguments, variables, and the
                        // prototypes of an object. Its next step asks for more.
                        Some(_) => Some(Turn { cost, asks: false }),
                    });
                    loops += 1;
                }
                Operator::Block { .. } | Operator::If { .. } => open.push(None),
                Operator::End => {
                    open.pop();
                }
                _ => {}
            }
            function.instruction(&self.instruction(operator)?);
        }
        code.function(&function);
        Ok(())
    }
}
