//! Snapshots of evaluated modules, stored in the code cache.

use super::capture::{Capture, run_for};
use super::{Snapshot, base};
use crate::engine::{CodeKey, ENGINE_SHA256, cache_key};
use crate::error::HostError;
use crate::execution::in_own_task;
use crate::modules::Modules;
use crate::program::Program;
use crate::sandbox::entry::Purpose;
use crate::state::DirtyPages;
use agent_spaces_types::limits::Limits;
use tokio::runtime::Handle;

/// Maximum gap of equal bytes that is copied rather than starting a new piece.
const MAX_GAP: usize = 256;

impl Snapshot {
    /// Captures the engine's memory after running a program, or loads it from the cache. Returns `None` if the memory
    /// is too large or not the same after every run. `binding` is the binding module of the program's sandbox.
    ///
    /// Blocks the thread: call it on a blocking one.
    pub fn of(program: &Program, binding: &[u8], limits: Limits) -> Result<Option<Snapshot>, HostError> {
        let engine = program.sandbox().engine();
        let key = key(engine.wasmtime(), binding, program.code(), program.modules());
        let cache = engine.config().cache.as_ref();
        if let Some(kept) = cache.and_then(|cache| cache.load(&key)) {
            return Ok(Snapshot::read(&kept));
        }
        let snapshot = match Handle::current().block_on(capture_evaluated(program, limits)) {
            Capture::Taken(memory) => Snapshot::between(base().map_err(HostError::build)?, &memory, MAX_GAP),
            Capture::Nondeterministic => None,
            // Not cached: a retry may succeed if the machine was busy or the limits too low.
            Capture::Unfinished => return Ok(None),
        };
        if let Some(cache) = cache {
            cache.store(&key, &snapshot.as_ref().map(Snapshot::write).unwrap_or_default());
        }
        Ok(snapshot)
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

/// Returns the cache key: a hash of everything that a snapshot depends on. The engine's memory has pointers into its
/// tables of the binding's functions and types, so the names of interfaces would not be enough.
fn key(engine: &wasmtime::Engine, binding: &[u8], code: &str, modules: &Modules) -> CodeKey {
    let version = env!("CARGO_PKG_VERSION");
    let modules: Vec<String> = modules.iter().map(|(name, module)| format!("{name}\0{module:?}")).collect();
    let mut parts = vec!["snapshot".as_bytes(), version.as_bytes(), ENGINE_SHA256.as_bytes(), binding, code.as_bytes()];
    parts.extend(modules.iter().map(String::as_bytes));
    cache_key(engine, &parts)
}

/// Captures the engine's memory after evaluating a program.
async fn capture_evaluated(program: &Program, limits: Limits) -> Capture<DirtyPages> {
    let program = program.clone();
    // In a task of its own: this may be inside another run's handler.
    match in_own_task(async move { run_for(&program, None, Purpose::EvaluatedMemory, limits).await }).await {
        Some(Capture::Taken(taken)) => Capture::Taken(taken.memory),
        Some(Capture::Nondeterministic) => Capture::Nondeterministic,
        Some(Capture::Unfinished) | None => Capture::Unfinished,
    }
}

#[cfg(test)]
mod tests {
    use super::{Modules, Snapshot, key};
    use crate::modules::ModuleSource;

    #[test]
    fn a_snapshot_is_read_as_it_was_written() {
        let snapshot = Snapshot { pages: 4, pieces: vec![(4096, vec![1; 32]), (8184, vec![2; 8])] };
        assert_eq!(Snapshot::read(&snapshot.write()), Some(snapshot));
        assert_eq!(Snapshot::read(b"short"), None);
    }

    #[test]
    fn the_key_covers_every_input_of_a_snapshot() {
        let engine = wasmtime::Engine::default();
        let modules = |text: &str| {
            let mut modules = Modules::default();
            modules.insert("m".into(), ModuleSource::Json(text.into()));
            modules
        };
        let of = |binding: &[u8], code: &str, text: &str| key(&engine, binding, code, &modules(text));
        let before = of(b"binding", "1", "2");
        assert_eq!(before, of(b"binding", "1", "2"));
        assert_ne!(before, of(b"another", "1", "2"));
        assert_ne!(before, of(b"binding", "2", "2"));
        assert_ne!(before, of(b"binding", "1", "3"));
        // Inputs are length-prefixed.
        assert_ne!(of(b"ab", "c", ""), of(b"a", "bc", ""));
    }
}
