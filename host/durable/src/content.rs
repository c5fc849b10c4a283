//! Content of runs: programs and engines, stored once for all runs that have them.

use crate::error::DurableError;
use crate::log::Storing;
use agent_spaces_journal::{Claim, Store};
use agent_spaces_sandbox::engine::ENGINE_WASM;
use agent_spaces_sandbox::program::Program;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Hashes of stored content that are remembered.
const MAX_KEPT: usize = 10_000;
/// Program images whose hashes are kept.
const MAX_HASHES: usize = 256;

/// Hashes of content, and of what is in the store: computing one takes longer than a short run.
#[derive(Default)]
pub(crate) struct ContentCache {
    /// Hash of this program's engine, once it was computed.
    engine: OnceLock<String>,
    /// Hashes of content that is in the store.
    kept: Mutex<HashSet<String>>,
    /// Program images, by address.
    images: Mutex<HashMap<usize, HashedImage>>,
}

/// Program image and its hash.
#[derive(Clone)]
pub(crate) struct HashedImage {
    bytes: Arc<[u8]>,
    /// BLAKE3, in hexadecimal digits.
    pub(crate) hash: String,
}

/// Content of a run.
enum Content {
    Engine,
    Program(HashedImage),
}

impl Content {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Content::Engine => ENGINE_WASM.to_vec(),
            Content::Program(image) => image.bytes.to_vec(),
        }
    }
}

impl ContentCache {
    /// Returns the hash of this program's engine.
    pub(crate) fn engine_hash(&self) -> &str {
        self.engine.get_or_init(|| blake3::hash(ENGINE_WASM).to_hex().to_string())
    }

    /// Returns a program's image and its hash.
    pub(crate) fn image(&self, program: &Program) -> Result<HashedImage, DurableError> {
        let bytes = program.image()?.ok_or(DurableError::NoImage)?;
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        let address = bytes.as_ptr() as usize;
        if let Some(image) = images.get(&address) {
            return Ok(image.clone());
        }
        if images.len() >= MAX_HASHES {
            images.clear();
        }
        let image = HashedImage { hash: blake3::hash(&bytes).to_hex().to_string(), bytes };
        // The entry keeps the bytes, so that no others get their address.
        images.insert(address, image.clone());
        Ok(image)
    }

    /// Keeps the engine and a program for as long as the run exists. They are in the store after the first run that has
    /// them.
    pub(crate) fn keep(&self, store: &Arc<dyn Store>, claim: &Claim, image: HashedImage) -> Option<Storing> {
        let program = image.hash.clone();
        let contents = [(self.engine_hash(), Content::Engine), (program.as_str(), Content::Program(image))];
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            // Storing content again does no harm.
            kept.clear();
        }
        let mut keeping = Vec::new();
        for (hash, content) in contents {
            if kept.insert(hash.to_owned()) {
                // It is written before all that is queued after it.
                let (_hash, _queued) = store.put_blob(claim, content.bytes());
            } else {
                keeping.push((store.keep_blob(claim, hash), content));
            }
        }
        if keeping.is_empty() {
            return None;
        }
        let (store, claim) = (store.clone(), claim.clone());
        let keep = async move {
            for (kept, content) in keeping {
                // Another process may have pruned the runs that had it.
                if !kept.await? {
                    let (_hash, stored) = store.put_blob(&claim, content.bytes());
                    stored.await?;
                }
            }
            Ok(())
        };
        Some(tokio::spawn(keep))
    }
}
