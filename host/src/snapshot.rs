//! What an engine has become by compiling a script or by evaluating modules, for fresh instances to begin with.
//!
//! A snapshot is the difference between the memory of an engine that has just started and of one that has compiled or
//! evaluated something. What a script compiles to is handed to the engine by its runs: see `run/again.rs`. What modules
//! evaluate to goes into the binding's module as data, which a fresh instance copies into place when it starts. Only
//! what every run would come to is kept: a script that looked at the clock, at randomness, at a variable or at the
//! outside while its modules were evaluated has no snapshot, and evaluates them in every run.

use crate::engine::{ENGINE_SHA256, ENGINE_WASM, EngineLayout, cache};
use crate::error::HostError;
use crate::limits::Limits;
use crate::modules::Modules;
use crate::program::Program;
use crate::run::{Came, Memory, take_snapshot};
use anyhow::{Context, Result};
use std::sync::OnceLock;
use tokio::runtime::Handle;
use wasmparser::{DataKind, Operator, Parser, Payload};

/// More than this is copied more slowly than it is evaluated.
const MAX_BYTES: usize = 32 << 20;

/// Equal bytes between two pieces that are copied rather than told apart.
const MAX_GAP: usize = 256;

/// The same where a piece takes a word more, and few of them a call.
const MAX_WORDS_GAP: usize = 2 * WORD;

/// What the engine has room for: `MAX_BYTES` in its `compiled.rs`.
const MAX_COMPILED_BYTES: usize = 1 << 20;

const WORD: usize = 8;

const PAGE_BYTES: usize = 64 << 10;

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
            Came::There(memory) => Snapshot::between(base().map_err(HostError::build)?, &memory, MAX_GAP),
            Came::Otherwise => None,
            // A busy machine, or less than it needs: another time may be better.
            Came::ToNothing => return Ok(None),
        };
        if let Some(cache) = cache {
            cache.store(&key, &snapshot.as_ref().map(Snapshot::write).unwrap_or_default());
        }
        Ok(snapshot)
    }

    /// The difference between two memories: without the stack, which is empty, and without the room of a binding's data,
    /// which the binding fills itself. Pieces are whole words, and further apart than so many bytes.
    fn between(before: &Base, after: &Memory, gap: usize) -> Option<Snapshot> {
        let bindings = before.binding_data..before.binding_data + before.binding_data_bytes;
        let mut pieces: Vec<(u32, Vec<u8>)> = Vec::new();
        let mut total = 0;
        for (start, page) in &after.pages {
            // What was added to the memory was nothing before.
            let old = |at: usize| before.memory.get(at..at + WORD).unwrap_or(&[0; WORD]);
            for (at, word) in (*start..).step_by(WORD).zip(page.chunks_exact(WORD)) {
                if at < before.stack_bytes || bindings.contains(&at) || word == old(at) {
                    continue;
                }
                match pieces.last_mut() {
                    Some((address, bytes)) if at - (*address as usize + bytes.len()) <= gap => {
                        let end = *address as usize + bytes.len();
                        // The bytes between are as they were.
                        (end..at).step_by(WORD).for_each(|between| bytes.extend(old(between)));
                        total += at - end;
                        bytes.extend(word);
                    }
                    _ => pieces.push((u32::try_from(at).ok()?, word.to_vec())),
                }
                total += WORD;
                if total > MAX_BYTES {
                    return None;
                }
            }
        }
        Some(Snapshot { pages: after.length.div_ceil(PAGE_BYTES) as u64, pieces })
    }

    /// As the engine takes it: the record `compiled` of the WIT.
    fn words(&self) -> Vec<u64> {
        let mut words = vec![self.pages];
        for (address, bytes) in &self.pieces {
            words.push(u64::from(*address) | ((bytes.len() / WORD) as u64) << 32);
            words.extend(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)));
        }
        words
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

/// The difference between an engine that has just started and this memory of one that has compiled a script, as an engine
/// takes it; nothing where that is too much. Takes a thread while it compares.
pub(crate) fn words(memory: &Memory) -> Option<Vec<u64>> {
    let words = Snapshot::between(base().ok()?, memory, MAX_WORDS_GAP)?.words();
    (words.len() * WORD <= MAX_COMPILED_BYTES).then_some(words)
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

/// The memory of an engine that has just started.
struct Base {
    memory: Vec<u8>,
    stack_bytes: usize,
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
    let stack_bytes = layout.stack_bytes as usize;
    let base = Base { memory, stack_bytes, binding_data, binding_data_bytes: layout.binding_data_bytes };
    Ok(BASE.get_or_init(|| base))
}

#[cfg(test)]
mod tests {
    use super::{Base, PAGE_BYTES, Snapshot, key};
    use crate::binding::world::{self, Names};
    use crate::binding::{self, Inside};
    use crate::interfaces::Interfaces;
    use crate::modules::Modules;
    use crate::run::Memory;
    use std::collections::BTreeSet;

    /// The binding of one interface of this text.
    fn binding(functions: &str) -> Vec<u8> {
        let mut interfaces = Interfaces::new().unwrap();
        let wit = format!("package test:desk@1.0.0;\ninterface desk {{ {functions} }}");
        interfaces.add("desk.wit", &wit).unwrap();
        let imports: BTreeSet<String> = interfaces.names().map(str::to_owned).collect();
        let names = Names { imports: &imports, exports: &BTreeSet::new() };
        binding::build(&interfaces.select(&imports).unwrap(), world::Base::Sandbox, &names, Inside::Nothing).unwrap()
    }

    /// Where an engine of three pages has its stack, its data and the room for a binding's.
    fn base() -> Base {
        let (stack_bytes, binding_data) = (4096, 8192);
        Base { memory: vec![7; 3 * PAGE_BYTES], stack_bytes, binding_data, binding_data_bytes: 4096 }
    }

    #[test]
    fn what_was_written_is_told_apart() {
        let page = |start: usize, changes: &[usize]| {
            let mut bytes = vec![if start < 3 * PAGE_BYTES { 7 } else { 0 }; 4096];
            changes.iter().for_each(|at| bytes[*at] = 1);
            (start, bytes)
        };
        let pages = vec![
            page(0, &[100]),
            page(4096, &[0, 24, 4088]),
            page(8192, &[0, 4095]),
            page(12288, &[0]),
            page(16384, &[]),
            page(3 * PAGE_BYTES, &[9]),
        ];
        let memory = Memory { length: 4 * PAGE_BYTES, pages };
        let snapshot = Snapshot::between(&base(), &memory, 16).unwrap();
        assert_eq!(snapshot.pages, 4);
        let places: Vec<_> = snapshot.pieces.iter().map(|(start, bytes)| (*start as usize, bytes.len())).collect();
        // Two words of the data are near enough to be one piece. Neither the stack nor the binding's data is among them.
        assert_eq!(places, [(4096, 32), (8184, 8), (12288, 8), (3 * PAGE_BYTES + 8, 8)]);
        let mut whole = vec![7; 32];
        (whole[0], whole[24]) = (1, 1);
        assert_eq!(snapshot.pieces[0].1, whole);
        assert_eq!(snapshot.pieces[3].1, [0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(Snapshot::read(&snapshot.write()), Some(snapshot.clone()));
        let words = snapshot.words();
        assert_eq!(words[..2], [4, 4096 | 4 << 32]);
        assert_eq!(words[words.len() - 2..], [(3 * PAGE_BYTES + 8) as u64 | 1 << 32, 0x100]);
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
