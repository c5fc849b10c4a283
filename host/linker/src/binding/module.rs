//! Binding module: the canonical ABI for one world, beside a running engine.
//!
//! `wit-dylib` creates a position-independent library. Here it becomes an ordinary module that is
//! instantiated after the engine and shares its memory and table: its bases become constants, the
//! functions it does not use are not imported, those of the engine are called through the table, and a
//! start function appends its own functions to the table and hands its tables over. Before each call of the host the
//! engine tells it how much fuel is left, so that the host knows what was used when the call was made.
//!
//! The binding itself is not metered. It does a bounded amount of work for each value that it passes, and each of those it
//! gets from the engine or gives to it, by a call of a function that is charged.

use super::Inside;
use super::functions::{Before, Compiled, Functions, Words, import_meter};
use super::interpreted::{EngineTypes, Interpreted};
use agent_spaces_sandbox::engine::EngineLayout;
use agent_spaces_sandbox::sandbox::entry::RUNNER;
use agent_spaces_sandbox::snapshot::Snapshot;
use anyhow::{Context, Result, bail};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{
    CodeSection, ConstExpr, DataSection, ElementSection, Elements, EntityType, ExportKind, ExportSection, Function,
    FunctionSection, GlobalSection, GlobalType, ImportSection, InstructionSink, Module, TypeSection, ValType,
};
use wasmparser::{
    CompositeInnerType, ConstExpr as ParsedConst, Data, DataKind, ElementItems, Export, ExternalKind, FuncType,
    FunctionBody, Import, Operator, Parser, Payload, RecGroup, TypeRef,
};

pub(super) const ENGINE: &str = "env";
/// Module of the canonical ABI's builtins that no host function stands behind.
const BUILTINS: &str = "$root";
/// The engine's function that notes how much fuel is left.
const NOTE: &str = "agent_spaces_meter_note";
const CONSTRUCTORS: &str = "__wasm_call_ctors";
const RELOCATIONS: &str = "__wasm_apply_data_relocs";

/// Encodes the binding module of a library, with an embedded program or snapshot. With functions of a script, returns the words
/// of the engine's memory that name them, too.
pub(super) fn binding(
    library: &[u8],
    layout: &EngineLayout,
    inside: Inside<'_>,
    functions: Option<&Functions<'_>>,
) -> Result<(Vec<u8>, Words)> {
    let library = Library::parse(library)?;
    let (embedded, snapshot) = match inside {
        Inside::Nothing => (None, None),
        Inside::Program(embedded) => (Some(embedded), None),
        Inside::Snapshot(snapshot) => (None, Some(snapshot)),
    };
    let interpreted = Interpreted::find(&library, layout)?;
    let plan = Plan::new(&library, interpreted.as_ref(), embedded.is_some(), layout)?;
    library.check_room(layout)?;

    let mut module = Module::new();
    let mut mapping = plan.mapping();
    mapping.bases = TABLE_BASE + u32::from(functions.is_some());
    let mut types = TypeSection::new();
    for group in &library.types {
        mapping.parse_recursive_type_group(types.ty(), group.clone())?;
    }
    let start_type = types.len();
    mapping.note = layout.slots.get(NOTE).map(|slot| Indirect { slot: *slot, ty: start_type });
    types.ty().function([], []);
    let embed_type = types.len();
    types.ty().function([ValType::I32; 2], []);
    let engine_types = EngineTypes::add(&mut types);
    let kept = plan.fates.iter().filter(|fate| **fate != Fate::Gone).count() as u32;
    let before = Before {
        types: types.len(),
        // The start function is the last of the others.
        functions: plan.function_imports + kept + 1,
        stack_pointer: STACK_POINTER,
        left: TABLE_BASE,
    };
    let compiled = functions.and_then(|functions| Compiled::new(functions, layout, &before)).unwrap_or_default();
    compiled.add_types(&mut types);
    module.section(&types);

    let mut imports = ImportSection::new();
    for import in &plan.imports {
        let ty = mapping.entity_type(import.ty)?;
        imports.import(import.module, import.name, ty);
    }
    if embedded.is_some() {
        imports.import(ENGINE, "agent_spaces_embed", EntityType::Function(embed_type));
    }
    if functions.is_some() {
        import_meter(&mut imports);
    }
    module.section(&imports);

    let mut functions = FunctionSection::new();
    for (place, ty) in library.functions.iter().enumerate() {
        if plan.fates.get(place) != Some(&Fate::Gone) {
            functions.function(*ty);
        }
    }
    functions.function(start_type);
    let start = plan.function_imports + functions.len() - 1;
    compiled.add_functions(&mut functions);
    module.section(&functions);

    let mut globals = GlobalSection::new();
    let constant = GlobalType { val_type: ValType::I32, mutable: false, shared: false };
    globals.global(constant, &ConstExpr::i32_const(layout.table_size as i32));
    globals.global(constant, &ConstExpr::i32_const(layout.binding_data as i32));
    module.section(&globals);

    let mut exports = ExportSection::new();
    for export in library.exports.iter().filter(|export| export.is_entry_point()) {
        if plan.is_gone(export.index) {
            continue;
        }
        exports.export(export.name, ExportKind::Func, mapping.function_index(export.index)?);
    }
    module.section(&exports);

    module.section(&wasm_encoder::StartSection { function_index: start });

    let mut elements = ElementSection::new();
    let members = library.elements.iter().map(|index| mapping.function_index(*index));
    let mut members = members.collect::<Result<Vec<_>, _>>()?;
    let words = compiled.words(layout.table_size + members.len() as u32);
    members.extend(compiled.members());
    elements.passive(Elements::Functions(members.as_slice().into()));
    module.section(&elements);
    let pieces = snapshot.map(Snapshot::pieces).unwrap_or_default();
    let data_count = library.data.len() as u32 + u32::from(embedded.is_some()) + pieces.len() as u32;
    module.section(&wasm_encoder::DataCountSection { count: data_count });

    let mut code = CodeSection::new();
    let mut calls = match &interpreted {
        Some(interpreted) => interpreted.code(&mut mapping, engine_types)?.into_iter(),
        None => Vec::new().into_iter(),
    };
    for (body, fate) in library.code.iter().zip(&plan.fates) {
        match fate {
            Fate::Kept => mapping.parse_function_body(&mut code, body.clone())?,
            Fate::Replaced => drop(calls.next().map(|call| code.function(&call))),
            Fate::Gone => {}
        }
    }
    let parts = StartParts { members: members.len() as u32, embedded: embedded.map(<[u8]>::len), snapshot };
    code.function(&plan.start_function(&library, &mut mapping, &parts, layout)?);
    compiled.add_code(&mut code);
    module.section(&code);

    let mut data = DataSection::new();
    for segment in &library.data {
        data.active(0, &ConstExpr::i32_const(layout.binding_data as i32), segment.data.iter().copied());
    }
    if let Some(embedded) = embedded {
        data.passive(embedded.iter().copied());
    }
    for (_, bytes) in pieces {
        data.passive(bytes.iter().copied());
    }
    module.section(&data);
    Ok((module.finish(), words))
}

/// Parsed output of `wit-dylib`.
#[derive(Default)]
pub(super) struct Library<'a> {
    types: Vec<RecGroup>,
    pub(super) imports: Vec<Import<'a>>,
    functions: Vec<u32>,
    exports: Vec<Export<'a>>,
    /// Functions for the table, from its base on.
    elements: Vec<u32>,
    pub(super) code: Vec<FunctionBody<'a>>,
    data: Vec<Data<'a>>,
}

trait EntryPoint {
    /// True if the component lifts it.
    fn is_entry_point(&self) -> bool;
}

impl EntryPoint for Export<'_> {
    fn is_entry_point(&self) -> bool {
        self.kind == ExternalKind::Func && !self.name.starts_with("__wasm_") && self.name != "cabi_realloc"
    }
}

impl<'a> Library<'a> {
    fn parse(wasm: &'a [u8]) -> Result<Library<'a>> {
        let mut library = Library::default();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::TypeSection(section) => library.types = section.into_iter().collect::<Result<_, _>>()?,
                Payload::ImportSection(section) => {
                    library.imports = section.into_imports().collect::<Result<_, _>>()?;
                }
                Payload::FunctionSection(section) => {
                    library.functions = section.into_iter().collect::<Result<_, _>>()?
                }
                Payload::ExportSection(section) => library.exports = section.into_iter().collect::<Result<_, _>>()?,
                Payload::ElementSection(section) => {
                    for element in section {
                        let ElementItems::Functions(functions) = element?.items else { bail!("unexpected elements") };
                        for function in functions {
                            library.elements.push(function?);
                        }
                    }
                }
                Payload::CodeSectionEntry(body) => library.code.push(body),
                Payload::DataSection(section) => library.data = section.into_iter().collect::<Result<_, _>>()?,
                _ => {}
            }
        }
        Ok(library)
    }

    /// Refuses data that does not fit the engine's space for it.
    fn check_room(&self, layout: &EngineLayout) -> Result<()> {
        let mut bytes = 0;
        for segment in &self.data {
            match &segment.kind {
                DataKind::Active { memory_index: 0, offset_expr } if is_memory_base(offset_expr) => {}
                _ => bail!("unexpected data segment"),
            }
            bytes += segment.data.len();
        }
        if self.data.len() > 1 {
            bail!("more than one data segment");
        }
        if bytes > layout.binding_data_bytes {
            bail!(
                "the imported interfaces need {bytes} bytes of type information and {} are available: \
                 import fewer functions in one script",
                layout.binding_data_bytes
            );
        }
        Ok(())
    }

    /// Says what becomes of each function. The engine exports its runner itself, and lifts results itself.
    fn fates(&self, interpreted: Option<&Interpreted>) -> Vec<Fate> {
        let first = self.imports.iter().filter(|import| matches!(import.ty, TypeRef::Func(_))).count();
        let runner: HashSet<usize> = self
            .exports
            .iter()
            .filter(|export| export.kind == ExternalKind::Func && export.name.contains(RUNNER))
            .filter_map(|export| (export.index as usize).checked_sub(first))
            .collect();
        let fate = |place: usize| match interpreted {
            _ if runner.contains(&place) => Fate::Gone,
            Some(interpreted) if interpreted.is_gone(place) => Fate::Gone,
            Some(interpreted) if place < interpreted.len() => Fate::Replaced,
            _ => Fate::Kept,
        };
        (0..self.code.len()).map(fate).collect()
    }

    /// Returns the types of functions, by index.
    pub(super) fn function_types(&self) -> Vec<FuncType> {
        let types = self.types.iter().flat_map(RecGroup::types);
        let functions = types.filter_map(|ty| match &ty.composite_type.inner {
            CompositeInnerType::Func(ty) => Some(ty.clone()),
            _ => None,
        });
        functions.collect()
    }

    fn function(&self, name: &str) -> Option<u32> {
        let found = self.exports.iter().find(|export| export.kind == ExternalKind::Func && export.name == name)?;
        Some(found.index)
    }
}

fn is_memory_base(offset: &ParsedConst<'_>) -> bool {
    matches!(offset.get_operators_reader().read(), Ok(Operator::GlobalGet { .. }))
}

/// Inputs of a binding's start function.
struct StartParts<'a> {
    /// Functions for the table.
    members: u32,
    /// Length of the embedded program in bytes.
    embedded: Option<usize>,
    snapshot: Option<&'a Snapshot>,
}

/// What becomes of a function of the library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Kept,
    /// It has other code.
    Replaced,
    /// Nothing calls it.
    Gone,
}

/// Imports that stay, and the new indices of everything.
struct Plan<'a> {
    /// What becomes of the library's own functions.
    fates: Vec<Fate>,
    imports: Vec<Import<'a>>,
    function_imports: u32,
    /// New indices of the library's imported functions; `None` where it is not used.
    imported: Vec<Option<u32>>,
    /// The new index of the library's `cabi_realloc`, where something is embedded.
    realloc: Option<u32>,
    /// The library's imported functions that are called through the table.
    indirect: HashMap<u32, Indirect>,
    /// The library's imported functions that are the host's.
    host: HashSet<u32>,
}

/// A function in the engine's table.
#[derive(Clone, Copy)]
struct Indirect {
    slot: u32,
    ty: u32,
}

impl<'a> Plan<'a> {
    fn new(
        library: &Library<'a>,
        interpreted: Option<&Interpreted>,
        embeds: bool,
        layout: &EngineLayout,
    ) -> Result<Plan<'a>> {
        let fates = library.fates(interpreted);
        let called: HashSet<u32> = match interpreted {
            Some(interpreted) => called_functions(library, &fates).chain(interpreted.called()).collect(),
            None => called_functions(library, &fates).collect(),
        };
        let held = held_functions(library);
        let mut indirect = HashMap::new();
        let mut host = HashSet::new();
        let mut realloc = None;
        let mut imports = Vec::new();
        let mut imported = Vec::new();
        let mut kept = 0;
        for import in &library.imports {
            match import.ty {
                // An embedded program needs memory, whether or not the library allocates; and no component may
                // import one name twice.
                TypeRef::Func(_) if embeds && import.name == "cabi_realloc" => {
                    realloc = Some(kept);
                    imported.push(realloc);
                    kept += 1;
                    imports.push(*import);
                }
                TypeRef::Func(ty) => {
                    let index = imported.len() as u32;
                    if import.module != ENGINE && import.module != BUILTINS {
                        host.insert(index);
                    }
                    match layout.slots.get(import.name) {
                        Some(slot) if import.module == ENGINE && !held.contains(&index) => {
                            indirect.insert(index, Indirect { slot: *slot, ty });
                            imported.push(None);
                        }
                        _ if called.contains(&index) || held.contains(&index) => {
                            imported.push(Some(kept));
                            kept += 1;
                            imports.push(*import);
                        }
                        _ => imported.push(None),
                    }
                }
                // The bases become constants of the binding's own.
                TypeRef::Global(_) if import.name != "__stack_pointer" => {}
                _ => imports.push(*import),
            }
        }
        if embeds && realloc.is_none() {
            bail!("the library does not import cabi_realloc");
        }
        let function_imports = kept + u32::from(embeds);
        Ok(Plan { fates, imports, function_imports, imported, realloc, indirect, host })
    }

    fn mapping(&self) -> Mapping {
        let first_defined = self.imported.len() as u32;
        let (imported, indirect) = (self.imported.clone(), self.indirect.clone());
        let mut next = self.function_imports;
        let place = |fate: &Fate| {
            let place = next;
            next += u32::from(*fate != Fate::Gone);
            place
        };
        // What is gone has the place of another, so that the tables can name something.
        let defined = self.fates.iter().map(place).collect();
        Mapping { imported, first_defined, defined, indirect, host: self.host.clone(), note: None, bases: TABLE_BASE }
    }

    /// Returns true if there is no code any more for a function of the library.
    fn is_gone(&self, index: u32) -> bool {
        let place = (index as usize).checked_sub(self.imported.len());
        place.and_then(|place| self.fates.get(place)) == Some(&Fate::Gone)
    }

    /// Encodes the start function: it copies the snapshot, appends to the engine's table, then registers the embedded
    /// program and the tables.
    fn start_function(
        &self,
        library: &Library<'_>,
        mapping: &mut Mapping,
        parts: &StartParts<'_>,
        layout: &EngineLayout,
    ) -> Result<Function> {
        let StartParts { members, embedded, snapshot } = *parts;
        let embed = self.function_imports.saturating_sub(1);
        let mut function = Function::new(if embedded.is_some() { vec![(1, ValType::I32)] } else { vec![] });
        let mut sink = function.instructions();
        if let Some(snapshot) = snapshot {
            // A refused growth ends the run by itself.
            sink.i32_const(snapshot.pages().saturating_sub(layout.memory_pages) as i32).memory_grow(0).drop();
            for (index, (address, bytes)) in (library.data.len() as u32..).zip(snapshot.pieces()) {
                sink.i32_const(*address as i32).i32_const(0).i32_const(bytes.len() as i32).memory_init(0, index);
                sink.data_drop(index);
            }
        }
        sink.ref_null(wasm_encoder::HeapType::FUNC).i32_const(members as i32).table_grow(0).drop();
        sink.global_get(mapping.bases).i32_const(0).i32_const(members as i32).table_init(0, 0);
        if let (Some(length), Some(realloc)) = (embedded, self.realloc) {
            sink.i32_const(0).i32_const(0).i32_const(1).i32_const(length as i32).call(realloc).local_tee(0);
            sink.i32_const(0).i32_const(length as i32).memory_init(0, library.data.len() as u32);
            sink.local_get(0).i32_const(length as i32).call(embed);
        }
        if let Some(relocations) = library.function(RELOCATIONS) {
            sink.call(mapping.function_index(relocations)?);
        }
        let constructors = library.function(CONSTRUCTORS).context("the library has no constructor")?;
        sink.call(mapping.function_index(constructors)?);
        sink.end();
        Ok(function)
    }
}

/// The stack pointer is the one global that is imported, but for compiled functions; the bases follow.
const STACK_POINTER: u32 = 0;
const TABLE_BASE: u32 = 1;

pub(super) struct Mapping {
    imported: Vec<Option<u32>>,
    first_defined: u32,
    /// New indices of the library's own functions.
    defined: Vec<u32>,
    indirect: HashMap<u32, Indirect>,
    /// The host's functions, and the function that is called before each of them.
    host: HashSet<u32>,
    note: Option<Indirect>,
    /// Index of the table base, which the memory base follows.
    bases: u32,
}

impl Mapping {
    /// Writes the call that tells the host how much fuel is left.
    pub(super) fn note(&self, sink: &mut InstructionSink<'_>) {
        if let Some(Indirect { slot, ty }) = self.note {
            sink.i32_const(slot as i32).call_indirect(0, ty);
        }
    }
}

impl Reencode for Mapping {
    type Error = Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32, Error> {
        Ok(match self.imported.get(index as usize) {
            Some(mapped) => mapped.unwrap_or(u32::MAX),
            None => self.defined.get((index - self.first_defined) as usize).copied().unwrap_or(u32::MAX),
        })
    }

    /// `wit-dylib` imports table base, memory base and stack pointer, in this order.
    fn global_index(&mut self, index: u32) -> Result<u32, Error> {
        Ok(match index {
            0 => self.bases,
            1 => self.bases + 1,
            _ => STACK_POINTER,
        })
    }

    fn parse_function_body(&mut self, code: &mut CodeSection, body: FunctionBody<'_>) -> Result<(), Error> {
        let mut function = self.new_function_with_parsed_locals(&body)?;
        for operator in body.get_operators_reader()? {
            let operator = operator?;
            let indirect = match &operator {
                Operator::Call { function_index } => self.indirect.get(function_index),
                _ => None,
            };
            if let Operator::Call { function_index } = &operator
                && self.host.contains(function_index)
            {
                self.note(&mut function.instructions());
            }
            match indirect {
                Some(Indirect { slot, ty }) => {
                    function.instructions().i32_const(*slot as i32).call_indirect(0, *ty);
                }
                None => {
                    function.instruction(&self.instruction(operator)?);
                }
            }
        }
        code.function(&function);
        Ok(())
    }
}

/// Returns the functions that are called by code that is kept.
fn called_functions<'a>(library: &'a Library<'_>, fates: &'a [Fate]) -> impl Iterator<Item = u32> + 'a {
    let kept = library.code.iter().zip(fates).filter(|(_, fate)| **fate == Fate::Kept);
    let operators = kept.filter_map(|(body, _)| body.get_operators_reader().ok()).flatten().filter_map(Result::ok);
    operators.filter_map(|operator| match operator {
        Operator::Call { function_index } => Some(function_index),
        _ => None,
    })
}

/// Returns the functions that are in the table or exported.
fn held_functions(library: &Library<'_>) -> HashSet<u32> {
    let exported = library.exports.iter().filter(|export| export.is_entry_point()).map(|export| export.index);
    library.elements.iter().copied().chain(exported).collect()
}
