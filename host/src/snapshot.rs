//! What an engine has become by evaluating modules, for fresh instances to begin with.
//!
//! A snapshot is the difference between the memory of an engine that has just started and of one that has evaluated
//! something. It goes into the binding's module as data, which a fresh instance copies into place when it starts. Only
//! what every run would come to is kept: a script that looked at the clock, at randomness, at a variable or at the
//! outside while its modules were evaluated has no snapshot, and evaluates them in every run.

use crate::engine::{ENGINE_SHA256, ENGINE_WASM, EngineLayout, cache};
use crate::error::HostError;
use crate::limits::Limits;
use crate::modules::Modules;
use crate::program::Program;
use crate::run::{Prepared, take_snapshot};
use anyhow::{Context, Result};
use std::sync::OnceLock;
use tokio::runtime::Handle;
use wasmparser::{DataKind, Operator, Parser, Payload};

/// More than this is copied more slowly than it is evaluated.
const MAX_BYTES: usize = 32 << 20;

/// Equal bytes between two pieces that are copied rather than told apart.
const MAX_GAP: usize = 256;

const PAGE_BYTES: usize = 64 << 10;

/// Bytes that are compared at once.
const CHUNK: usize = 4 << 10;

/// What is different in an engine's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pages: u64,
    pieces: Vec<(u32, Vec<u8>)>,
}

impl Snapshot {
    /// How many pages of memory it needs.
    pub(crate) fn pages(&self) -> u64 {
        self.pages
    }

    /// Addresses, and the bytes that belong there.
    pub(crate) fn pieces(&self) -> &[(u32, Vec<u8>)] {
        &self.pieces
    }

    /// What an engine has become by running a program; nothing where that is not the same every time, or too large.
    /// Looked up in the cache first. `binding` is what stands beside the engine in the program's sandbox.
    ///
    /// Takes a thread while it compares: not for one that others wait for.
    pub(crate) fn of(program: &Program, binding: &[u8], limits: Limits) -> Result<Option<Snapshot>, HostError> {
        let engine = program.sandbox().engine();
        let key = key(engine.wasmtime(), binding, program.code(), program.modules());
        let cache = engine.config().cache.as_ref();
        if let Some(kept) = cache.and_then(|cache| cache.load(&key)) {
            return Ok(Snapshot::read(&kept));
        }
        let snapshot = match Handle::current().block_on(take_snapshot(program, limits)) {
            Prepared::Memory(memory) => Snapshot::between(base().map_err(HostError::build)?, &memory),
            Prepared::Differs => None,
            // A busy machine, or less than it needs: another time may be better.
            Prepared::Unknown => return Ok(None),
        };
        if let Some(cache) = cache {
            cache.store(&key, &snapshot.as_ref().map(Snapshot::write).unwrap_or_default());
        }
        Ok(snapshot)
    }

    /// The difference between two memories, without the room of a binding's data, which the binding fills itself.
    fn between(before: &Base, after: &[u8]) -> Option<Snapshot> {
        let bindings = before.binding_data..before.binding_data + before.binding_data_bytes;
        let old = |at: usize| before.memory.get(at).copied().unwrap_or(0);
        let mut pieces: Vec<(usize, usize)> = Vec::new();
        let mut at = 0;
        while at < after.len() {
            if bindings.contains(&at) {
                at = bindings.end;
                continue;
            }
            // Most of a memory is as it was.
            let chunk = at..at + CHUNK;
            let is_whole = at % CHUNK == 0 && !(chunk.start < bindings.end && bindings.start < chunk.end);
            if is_whole && after.get(chunk.clone()).is_some_and(|new| before.memory.get(chunk) == Some(new)) {
                at += CHUNK;
                continue;
            }
            if after.get(at).copied() != Some(old(at)) {
                match pieces.last_mut() {
                    Some((_, end)) if at - *end <= MAX_GAP && !(bindings.start >= *end && bindings.end <= at) => {
                        *end = at + 1;
                    }
                    _ => pieces.push((at, at + 1)),
                }
            }
            at += 1;
        }
        let total: usize = pieces.iter().map(|(start, end)| end - start).sum();
        if total > MAX_BYTES {
            return None;
        }
        let bytes = |(start, end): (usize, usize)| Some((u32::try_from(start).ok()?, after.get(start..end)?.to_vec()));
        let pages = after.len().div_ceil(PAGE_BYTES) as u64;
        Some(Snapshot { pages, pieces: pieces.into_iter().map(bytes).collect::<Option<_>>()? })
    }

    fn write(&self) -> Vec<u8> {
        let mut bytes = self.pages.to_le_bytes().to_vec();
        for (address, piece) in &self.pieces {
            bytes.extend(address.to_le_bytes());
            bytes.extend((piece.len() as u32).to_le_bytes());
            bytes.extend(piece);
        }
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Snapshot> {
        let (pages, mut rest) = bytes.split_first_chunk::<8>()?;
        let mut pieces = Vec::new();
        while let Some((address, after)) = rest.split_first_chunk::<4>() {
            let (length, after) = after.split_first_chunk::<4>()?;
            let (piece, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            pieces.push((u32::from_le_bytes(*address), piece.to_vec()));
            rest = after;
        }
        Some(Snapshot { pages: u64::from_le_bytes(*pages), pieces })
    }
}

/// All that a snapshot depends on. The engine has pointers into its tables of the binding's functions and types, so the
/// names of interfaces would not be enough.
fn key(engine: &wasmtime::Engine, binding: &[u8], code: &str, modules: &Modules) -> blake3::Hash {
    let version = env!("CARGO_PKG_VERSION");
    let modules: Vec<String> = modules.iter().map(|(name, module)| format!("{name}\0{module:?}")).collect();
    let mut parts = vec!["snapshot".as_bytes(), version.as_bytes(), ENGINE_SHA256.as_bytes(), binding, code.as_bytes()];
    parts.extend(modules.iter().map(String::as_bytes));
    cache::key(engine, &parts)
}

/// The memory of an engine that has just started, but for its first byte.
struct Base {
    memory: Vec<u8>,
    binding_data: usize,
    binding_data_bytes: usize,
}

fn base() -> Result<&'static Base> {
    static BASE: OnceLock<Base> = OnceLock::new();
    if let Some(base) = BASE.get() {
        return Ok(base);
    }
    let layout = EngineLayout::prebuilt()?;
    let mut memory = vec![0; layout.memory_pages as usize * PAGE_BYTES];
    for payload in Parser::new(0).parse_all(ENGINE_WASM) {
        let Payload::DataSection(section) = payload? else { continue };
        for segment in section {
            let segment = segment?;
            let DataKind::Active { offset_expr, .. } = &segment.kind else { continue };
            let Operator::I32Const { value } = offset_expr.get_operators_reader().read()? else { continue };
            let start = value as u32 as usize;
            let room = memory.get_mut(start..start + segment.data.len()).context("the engine's data has no room")?;
            room.copy_from_slice(segment.data);
        }
    }
    let binding_data = layout.binding_data as usize;
    let base = Base { memory, binding_data, binding_data_bytes: layout.binding_data_bytes };
    Ok(BASE.get_or_init(|| base))
}

#[cfg(test)]
mod tests {
    use super::key;
    use crate::binding::world::{Base, Names};
    use crate::binding::{self, Inside};
    use crate::interfaces::Interfaces;
    use crate::modules::Modules;
    use std::collections::BTreeSet;

    /// The binding of one interface of this text.
    fn binding(functions: &str) -> Vec<u8> {
        let mut interfaces = Interfaces::new().unwrap();
        let wit = format!("package test:desk@1.0.0;\ninterface desk {{ {functions} }}");
        interfaces.add("desk.wit", &wit).unwrap();
        let imports: BTreeSet<String> = interfaces.names().map(str::to_owned).collect();
        let names = Names { imports: &imports, exports: &BTreeSet::new() };
        binding::build(&interfaces.select(&imports).unwrap(), Base::Handlers, &names, Inside::Nothing).unwrap()
    }

    #[test]
    fn an_interface_that_has_become_another_under_its_name_has_snapshots_of_its_own() {
        let engine = wasmtime::Engine::default();
        let of = |functions: &str| key(&engine, &binding(functions), "1", &Modules::default());
        let before = of("note: async func(text: string) -> result<string, string>;");
        assert_eq!(before, of("note: async func(text: string) -> result<string, string>;"));
        assert_ne!(before, of("note: async func(text: string) -> result<u32, string>;"));
        assert_ne!(before, of("note: async func(text: string) -> result<string, string>; more: func();"));
    }
}
