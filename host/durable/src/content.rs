//! Content of runs: programs and engines, hashed once.

use crate::error::DurableError;
use agent_spaces_journal::Content;
use agent_spaces_sandbox::engine::ENGINE_WASM;
use agent_spaces_sandbox::program::Program;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Program images that are kept.
const MAX_IMAGES: usize = 256;

/// Content of runs with its hashes: computing one takes longer than a short run.
#[derive(Default)]
pub(crate) struct ContentCache {
    /// This program's engine, once it was hashed.
    engine: OnceLock<Content>,
    /// Program images, by address.
    images: Mutex<HashMap<usize, Content>>,
}

impl ContentCache {
    /// Returns this program's engine.
    pub(crate) fn engine(&self) -> &Content {
        self.engine.get_or_init(|| Content::built_in(ENGINE_WASM))
    }

    /// Returns a program's image.
    pub(crate) fn image(&self, program: &Program) -> Result<Content, DurableError> {
        let bytes = program.image()?.ok_or(DurableError::NoImage)?;
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        let address = bytes.as_ptr() as usize;
        if let Some(image) = images.get(&address) {
            return Ok(image.clone());
        }
        if images.len() >= MAX_IMAGES {
            images.clear();
        }
        // The entry keeps the bytes, so that no others get their address.
        let image = Content::new(bytes);
        images.insert(address, image.clone());
        Ok(image)
    }
}
