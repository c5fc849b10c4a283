//! Memory snapshots of the engine: fresh instances start from a compiled script or from evaluated modules.
//!
//! - `capture`: runs executed only to capture a memory snapshot
//! - `evaluated`: snapshots of evaluated modules, kept in the cache
//! - `precompile`: scripts that are run often, compiled once; `functions`: functions of them as native code
//!
//! A snapshot is the difference between the memory of a fresh engine and of one that has compiled or evaluated
//! something. A compiled script is passed to the engine by each run: see `program::hot_script`. Evaluated modules become
//! data segments of the binding's module, which a fresh instance copies into place when it starts. Only deterministic
//! memory is kept: a script whose modules read the clock, randomness or a variable, or call a function while they are
//! evaluated, has no snapshot, and evaluates them in every run.

mod capture;
#[cfg(feature = "compile")]
mod evaluated;
#[cfg(feature = "compile")]
mod functions;
pub(crate) mod precompile;

pub use crate::program::Snapshot;

use crate::engine::{ENGINE_WASM, EngineLayout};
use crate::state::DirtyPages;
use anyhow::{Context, Result};
use std::sync::OnceLock;
use wasmparser::{DataKind, Operator, Parser, Payload};

/// Maximum size of a snapshot: copying a larger one is slower than evaluating.
const MAX_BYTES: usize = 32 << 20;

/// The same for compiled scripts, whose pieces have a header of one word.
const MAX_WORDS_GAP: usize = 2 * WORD;

/// Size of the engine's buffer: `MAX_BYTES` in its `compiled.rs`.
const MAX_COMPILED_BYTES: usize = 1 << 20;

const WORD: usize = 8;

const PAGE_BYTES: usize = 64 << 10;

impl Snapshot {
    /// Computes the difference between two memories: without the stack, which is empty, and without the buffer for a
    /// binding's data, which the binding fills itself. Pieces are whole words, more than `gap` bytes apart.
    fn between(before: &Base, after: &DirtyPages, gap: usize) -> Option<Snapshot> {
        let bindings = before.binding_data..before.binding_data + before.binding_data_bytes;
        let mut pieces: Vec<(u32, Vec<u8>)> = Vec::new();
        let mut total = 0;
        for (start, page) in &after.pages {
            // Memory that was grown was zero before.
            let old = |at: usize| before.memory.get(at..at + WORD).unwrap_or(&[0; WORD]);
            for (at, word) in (*start..).step_by(WORD).zip(page.chunks_exact(WORD)) {
                if at < before.stack_bytes || bindings.contains(&at) || word == old(at) {
                    continue;
                }
                match pieces.last_mut() {
                    Some((address, bytes)) if at - (*address as usize + bytes.len()) <= gap => {
                        let end = *address as usize + bytes.len();
                        // The bytes between are unchanged.
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

    /// Encodes it for the engine: the record `compiled` of the WIT.
    fn words(&self) -> Vec<u64> {
        let mut words = vec![self.pages];
        for (address, bytes) in &self.pieces {
            words.push(u64::from(*address) | ((bytes.len() / WORD) as u64) << 32);
            words.extend(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)));
        }
        words
    }
}

/// Encodes the memory of an engine that has compiled a script, as the difference to a fresh engine, or to one that starts
/// from a snapshot. Returns `None` if it is too large. Blocks the thread.
pub fn words(memory: &DirtyPages, start: Option<&Snapshot>) -> Option<Vec<u64>> {
    let base = base().ok()?;
    let difference = match start {
        Some(start) => Snapshot::between(&base.after(start)?, memory, MAX_WORDS_GAP),
        None => Snapshot::between(base, memory, MAX_WORDS_GAP),
    };
    let words = difference?.words();
    (words.len() * WORD <= MAX_COMPILED_BYTES).then_some(words)
}

/// Memory of a fresh engine.
struct Base {
    memory: Vec<u8>,
    stack_bytes: usize,
    binding_data: usize,
    binding_data_bytes: usize,
}

impl Base {
    /// Returns the memory with these pages.
    #[cfg(feature = "compile")]
    fn with_pages(&self, pages: &DirtyPages) -> Vec<u8> {
        let mut memory = self.memory.clone();
        memory.resize(memory.len().max(pages.length), 0);
        for (address, bytes) in &pages.pages {
            if let Some(room) = memory.get_mut(*address..address + bytes.len()) {
                room.copy_from_slice(bytes);
            }
        }
        memory
    }

    /// Returns the memory of an engine that starts from a snapshot.
    fn after(&self, snapshot: &Snapshot) -> Option<Base> {
        let pages = usize::try_from(snapshot.pages()).ok()?;
        let mut memory = self.memory.clone();
        memory.resize(memory.len().max(pages.checked_mul(PAGE_BYTES)?), 0);
        for (address, bytes) in snapshot.pieces() {
            let start = *address as usize;
            memory.get_mut(start..start + bytes.len())?.copy_from_slice(bytes);
        }
        Some(Base { memory, ..*self })
    }
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
    use super::{Base, DirtyPages, PAGE_BYTES, Snapshot};

    /// An engine of three pages with its stack, its data and the buffer for a binding's data.
    fn base() -> Base {
        let (stack_bytes, binding_data) = (4096, 8192);
        Base { memory: vec![7; 3 * PAGE_BYTES], stack_bytes, binding_data, binding_data_bytes: 4096 }
    }

    #[test]
    fn a_snapshot_has_only_the_written_words() {
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
        let memory = DirtyPages { length: 4 * PAGE_BYTES, pages };
        let snapshot = Snapshot::between(&base(), &memory, 16).unwrap();
        assert_eq!(snapshot.pages, 4);
        let places: Vec<_> = snapshot.pieces.iter().map(|(start, bytes)| (*start as usize, bytes.len())).collect();
        // Two near words are one piece. The stack and the binding's data are left out.
        assert_eq!(places, [(4096, 32), (8184, 8), (12288, 8), (3 * PAGE_BYTES + 8, 8)]);
        let mut whole = vec![7; 32];
        (whole[0], whole[24]) = (1, 1);
        assert_eq!(snapshot.pieces[0].1, whole);
        assert_eq!(snapshot.pieces[3].1, [0, 1, 0, 0, 0, 0, 0, 0]);
        let words = snapshot.words();
        assert_eq!(words[..2], [4, 4096 | 4 << 32]);
        assert_eq!(words[words.len() - 2..], [(3 * PAGE_BYTES + 8) as u64 | 1 << 32, 0x100]);
    }
}
