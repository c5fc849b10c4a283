//! Facts about a module that metering needs.

use super::dispatch;
use anyhow::{Result, bail};
use std::collections::{BTreeMap, HashMap};
use wasmparser::{BlockType, ElementItems, ExternalKind, FuncType, FunctionBody, Operator, Parser, Payload, TypeRef};

/// Imports of the engine's own code, which are replaced by code.
pub(crate) const REPLACED: &str = "agent-spaces:engine/meter";

/// Code that replaces the call of such an import.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Replacement {
    /// Charges a step of a script, and returns whether nothing is left.
    Step,
    /// Asks for more.
    More,
    /// Gives a step back.
    Back,
    /// Charges its parameter, for which the next step asks.
    Charge,
    /// Tells the host what is left.
    Tell,
    /// Marks a function that is not charged at its entry nor by turns of its loops: it is paid for by steps and charges.
    Paid,
    /// Marks a function that is not charged at its entry.
    Inside,
}

impl Replacement {
    fn named(name: &str) -> Result<Replacement> {
        Ok(match name {
            "step" => Replacement::Step,
            "more" => Replacement::More,
            "back" => Replacement::Back,
            "charge" => Replacement::Charge,
            "tell" => Replacement::Tell,
            "paid" => Replacement::Paid,
            "inside" => Replacement::Inside,
            _ => bail!("the engine's code has something unknown metered: {name}"),
        })
    }
}

/// Those imports, by their indices.
#[derive(Default)]
pub(super) struct Replaced(BTreeMap<u32, Replacement>);

impl Replaced {
    pub(super) fn count(&self) -> u32 {
        self.0.len() as u32
    }

    /// Returns how many of them have lower indices.
    pub(super) fn before(&self, index: u32) -> u32 {
        self.0.range(..index).count() as u32
    }

    /// Returns what a call stands for; `None` if it is one.
    pub(super) fn of(&self, operator: &Operator<'_>) -> Option<Replacement> {
        match operator {
            Operator::Call { function_index } => self.0.get(function_index).copied(),
            _ => None,
        }
    }
}

/// Sections of the module, by the indices that they have before metering.
#[derive(Default)]
pub(super) struct Facts {
    pub types: Vec<FuncType>,
    /// Imported functions, and the types of all functions.
    pub imported: u32,
    pub signatures: Vec<u32>,
    pub replaced: Replaced,
    pub globals: u32,
    pub exports: HashMap<String, u32>,
    /// Functions in the table.
    pub held: Vec<u32>,
    /// Defined functions, in their order.
    pub functions: Vec<FunctionFacts>,
}

/// Facts about a function's code.
#[derive(Default)]
pub(super) struct FunctionFacts {
    pub calls: Vec<u32>,
    /// Types of the functions that are called through the table.
    pub indirect: Vec<u32>,
    /// For each loop, in the order of their beginnings: instructions outside of the loops inside.
    pub loops: Vec<u32>,
    /// True if it executes steps of scripts.
    pub steps: bool,
    /// True if it executes one before it calls anything: a cycle of calls that it is on is charged.
    pub steps_first: bool,
    /// True if it has the mark [`Replacement::Paid`].
    pub is_paid: bool,
    /// True if it has the mark [`Replacement::Inside`].
    pub is_inside: bool,
    /// Of the interpreter, its loops over bytecode, by their number in `loops`.
    pub uncharged: Option<Vec<usize>>,
}

impl Facts {
    pub(super) fn read(wasm: &[u8]) -> Result<Facts> {
        let mut facts = Facts::default();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::TypeSection(section) => {
                    for ty in section.into_iter_err_on_gc_types() {
                        facts.types.push(ty?);
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import?;
                        let TypeRef::Func(ty) = import.ty else {
                            bail!("the engine imports something else than functions: {}.{}", import.module, import.name)
                        };
                        if import.module == REPLACED {
                            facts.replaced.0.insert(facts.imported, Replacement::named(import.name)?);
                        }
                        facts.signatures.push(ty);
                        facts.imported += 1;
                    }
                }
                Payload::FunctionSection(section) => {
                    for ty in section {
                        facts.signatures.push(ty?);
                    }
                }
                Payload::GlobalSection(section) => facts.globals = section.count(),
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        if export.kind == ExternalKind::Func {
                            facts.exports.insert(export.name.to_owned(), export.index);
                        }
                    }
                }
                Payload::StartSection { .. } => bail!("the engine has a start function, which would run unmetered"),
                Payload::ElementSection(section) => {
                    for element in section {
                        let ElementItems::Functions(functions) = element?.items else {
                            bail!("the engine's table has something else than functions")
                        };
                        for function in functions {
                            facts.held.push(function?);
                        }
                    }
                }
                Payload::CodeSectionEntry(body) => facts.functions.push(FunctionFacts::read(&body, &facts.replaced)?),
                _ => {}
            }
        }
        Ok(facts)
    }

    /// The interpreter's functions, by their numbers among the defined functions. The lexer and the compiler jump by as
    /// many values, but do not execute steps of scripts.
    pub(super) fn interpreters(&self) -> Vec<usize> {
        let functions = (0..).zip(&self.functions);
        functions.filter(|(_, facts)| facts.uncharged.is_some()).map(|(number, _)| number).collect()
    }
}

impl FunctionFacts {
    fn read(body: &FunctionBody<'_>, replaced: &Replaced) -> Result<FunctionFacts> {
        let mut facts = FunctionFacts::default();
        // For each open block, the loop that it is in.
        let mut open: Vec<Option<usize>> = Vec::new();
        let mut inside = None;
        for operator in body.get_operators_reader()? {
            let operator = operator?;
            if let Some(inside) = inside {
                let count: &mut u32 = &mut facts.loops[inside];
                *count += 1;
            }
            match replaced.of(&operator) {
                Some(Replacement::Step) => facts.steps = true,
                Some(Replacement::Paid) => facts.is_paid = true,
                Some(Replacement::Inside) => facts.is_inside = true,
                _ => {}
            }
            match operator {
                Operator::Loop { blockty: BlockType::FuncType(_) } => bail!("the engine has a loop with operands"),
                Operator::Loop { .. } => {
                    open.push(inside);
                    inside = Some(facts.loops.len());
                    facts.loops.push(0);
                }
                Operator::Block { .. } | Operator::If { .. } => open.push(inside),
                Operator::End => inside = open.pop().flatten(),
                operator if replaced.of(&operator).is_some() => {}
                Operator::Call { function_index } => facts.calls.push(function_index),
                Operator::CallIndirect { type_index, .. } => facts.indirect.push(type_index),
                Operator::ReturnCall { .. } | Operator::ReturnCallIndirect { .. } | Operator::CallRef { .. } => {
                    bail!("the engine calls in a way that is not metered: {operator:?}")
                }
                _ => {}
            }
        }
        if facts.steps {
            facts.uncharged = dispatch::loops(body, replaced)?;
            facts.steps_first = dispatch::steps_first(body, replaced)?;
        }
        Ok(facts)
    }
}
