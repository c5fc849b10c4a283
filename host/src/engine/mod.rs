//! The engine: QuickJS as one compiled core module, shared by every sandbox. The module itself, its native code and the
//! configuration that both need are the crate `agent-spaces-prebuilt-engine`'s.
//!
//! - [`Engine`]: compiled or loaded once; cheap to clone.
//! - [`config`]: how wasmtime is set up, with the reason for each choice.
//! - [`layout`]: what a binding must know of it.
//! - [`memory_budget`]: what all runs together may use.
//! - [`places`]: which run has a place in the pool.
//! - [`cache`]: compiled code on disk; `compile_gate`: how much is compiled at one time.

#[cfg(feature = "compiler")]
pub(crate) mod cache;
#[cfg(feature = "compiler")]
mod compile_gate;
mod config;
#[cfg(feature = "compiler")]
mod layout;
mod memory_budget;
mod places;

pub use agent_spaces_prebuilt_engine::{ENGINE_SHA256, ENGINE_VERSION, ENGINE_WASM};
#[cfg(feature = "compiler")]
pub use cache::{Cache, CacheError};
pub use config::EngineConfig;
#[cfg(feature = "compiler")]
pub(crate) use layout::EngineLayout;
#[cfg(feature = "compiler")]
pub(crate) use memory_budget::HeldMemory;
pub(crate) use memory_budget::{EXHAUSTED, EXHAUSTED_HINT, MemoryBudget};
pub(crate) use places::{MAX_DEPTH, Place, Places};

use crate::error::HostError;
use std::sync::Arc;
use wasmtime::Module;
#[cfg(feature = "compiler")]
use wasmtime::component::Component;

/// The compiled engine and the pool that runs take their instances from.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    wasmtime: wasmtime::Engine,
    module: Module,
    places: Places,
    memory: Arc<MemoryBudget>,
    config: EngineConfig,
    /// Compiles bindings; made when it is first needed.
    #[cfg(feature = "compiler")]
    quick: std::sync::OnceLock<wasmtime::Engine>,
    /// Runs components of others; made when it is first needed.
    #[cfg(feature = "compiler")]
    foreign: std::sync::OnceLock<wasmtime::Engine>,
}

/// How the engine came to be, for progress and for those who measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Native code that came with the program.
    Precompiled,
    /// Compiled just now.
    Compiled,
    /// Loaded from the cache.
    Cached,
}

impl Engine {
    /// Loads the engine's native code that came with the program, or compiles it and keeps that in the cache.
    #[cfg(feature = "compiler")]
    pub fn new(config: EngineConfig) -> Result<Engine, HostError> {
        Engine::with_origin(config, |_| {}).map(|(engine, _)| engine)
    }

    /// As [`Engine::new`]; calls `progress` before it compiles, and says what it did.
    #[cfg(feature = "compiler")]
    pub fn with_origin(config: EngineConfig, progress: impl FnOnce(Origin)) -> Result<(Engine, Origin), HostError> {
        let wasmtime = wasmtime::Engine::new(&config.wasmtime()).map_err(HostError::engine)?;
        if let Some(code) = agent_spaces_prebuilt_engine::precompiled() {
            // SAFETY: the build of this program compiled it.
            #[expect(unsafe_code, reason = "native code cannot be checked, only trusted")]
            let loaded = unsafe { Module::deserialize(&wasmtime, code) };
            // A processor that has less than the one of the build, or an engine without fuel, needs other code.
            if let Ok(module) = loaded {
                return Ok((Engine::assemble(config, wasmtime, module), Origin::Precompiled));
            }
        }
        let key = cache::key(&wasmtime, &[b"engine", ENGINE_SHA256.as_bytes()]);
        if let Some(code) = config.cache.as_ref().and_then(|cache| cache.load(&key)) {
            // SAFETY: the entry's authentication shows that this program wrote it.
            #[expect(unsafe_code, reason = "native code cannot be checked, only trusted")]
            let loaded = unsafe { Module::deserialize(&wasmtime, &code) };
            if let Ok(module) = loaded {
                return Ok((Engine::assemble(config, wasmtime, module), Origin::Cached));
            }
        }
        progress(Origin::Compiled);
        let module = Module::new(&wasmtime, ENGINE_WASM).map_err(HostError::engine)?;
        if let Some(cache) = &config.cache {
            cache.store(&key, &module.serialize().map_err(HostError::engine)?);
        }
        Ok((Engine::assemble(config, wasmtime, module), Origin::Compiled))
    }

    /// Loads what [`Engine::precompiled`] gave.
    ///
    /// # Safety
    /// The bytes must be what `precompiled` gave, unchanged: they are native code.
    #[expect(unsafe_code, reason = "native code cannot be checked, only trusted")]
    pub unsafe fn from_precompiled(config: EngineConfig, code: &[u8]) -> Result<Engine, HostError> {
        let wasmtime = wasmtime::Engine::new(&config.wasmtime()).map_err(HostError::engine)?;
        // SAFETY: the caller vouches for the bytes.
        let module = unsafe { Module::deserialize(&wasmtime, code) }.map_err(HostError::engine)?;
        Ok(Engine::assemble(config, wasmtime, module))
    }

    /// The compiled engine, for hosts that are built without the compiler.
    #[cfg(feature = "compiler")]
    pub fn precompiled(&self) -> Result<Vec<u8>, HostError> {
        self.0.module.serialize().map_err(HostError::engine)
    }

    fn assemble(config: EngineConfig, wasmtime: wasmtime::Engine, module: Module) -> Engine {
        let places = Places::new(config.max_runs);
        let memory = Arc::new(MemoryBudget::new(config.memory_budget));
        Engine(Arc::new(Inner {
            wasmtime,
            module,
            places,
            memory,
            config,
            #[cfg(feature = "compiler")]
            quick: std::sync::OnceLock::new(),
            #[cfg(feature = "compiler")]
            foreign: std::sync::OnceLock::new(),
        }))
    }

    /// Compiles a component for this engine, with what was compiled before taken from the cache.
    #[cfg(feature = "compiler")]
    pub(crate) fn component(&self, wasm: &[u8]) -> Result<Component, HostError> {
        let wasmtime = self.wasmtime();
        let key = cache::key(wasmtime, &[b"sandbox", wasm]);
        let cache = self.config().cache.as_ref();
        if let Some(code) = cache.and_then(|cache| cache.load(&key)) {
            // SAFETY: the entry's authentication shows that this program wrote it.
            #[expect(unsafe_code, reason = "native code cannot be checked, only trusted")]
            let loaded = unsafe { Component::deserialize(wasmtime, &code) };
            if let Ok(component) = loaded {
                return Ok(component);
            }
        }
        let compiling = compile_gate::COMPILING.enter();
        let code = self.quick()?.precompile_component(wasm).map_err(HostError::engine)?;
        drop(compiling);
        if let Some(cache) = cache {
            cache.store(&key, &code);
        }
        // SAFETY: compiled just now.
        #[expect(unsafe_code, reason = "native code cannot be checked, only trusted")]
        let component = unsafe { Component::deserialize(wasmtime, &code) };
        component.map_err(HostError::engine)
    }

    #[cfg(feature = "compiler")]
    fn quick(&self) -> Result<&wasmtime::Engine, HostError> {
        if let Some(quick) = self.0.quick.get() {
            return Ok(quick);
        }
        let quick = wasmtime::Engine::new(&self.0.config.quick_compiler()).map_err(HostError::engine)?;
        Ok(self.0.quick.get_or_init(|| quick))
    }

    /// For components of others, whose instances the pool has no room for.
    #[cfg(feature = "compiler")]
    pub(crate) fn foreign(&self) -> Result<&wasmtime::Engine, HostError> {
        if let Some(foreign) = self.0.foreign.get() {
            return Ok(foreign);
        }
        let foreign = wasmtime::Engine::new(&self.0.config.foreign()).map_err(HostError::engine)?;
        Ok(self.0.foreign.get_or_init(|| foreign))
    }

    /// Compiles a component of others, with what was compiled before taken from the cache.
    #[cfg(feature = "compiler")]
    pub(crate) fn foreign_component(&self, wasm: &[u8]) -> Result<Component, HostError> {
        let wasmtime = self.foreign()?;
        let key = cache::key(wasmtime, &[b"foreign", wasm]);
        let cache = self.config().cache.as_ref();
        if let Some(code) = cache.and_then(|cache| cache.load(&key)) {
            // SAFETY: the entry's authentication shows that this program wrote it.
            #[expect(unsafe_code, reason = "native code cannot be checked, only trusted")]
            let loaded = unsafe { Component::deserialize(wasmtime, &code) };
            if let Ok(component) = loaded {
                return Ok(component);
            }
        }
        let component = Component::new(wasmtime, wasm).map_err(HostError::engine)?;
        if let Some(cache) = cache {
            cache.store(&key, &component.serialize().map_err(HostError::engine)?);
        }
        Ok(component)
    }

    pub(crate) fn wasmtime(&self) -> &wasmtime::Engine {
        &self.0.wasmtime
    }

    pub(crate) fn module(&self) -> &Module {
        &self.0.module
    }

    /// Places in the pool; a run waits here while all are taken.
    pub(crate) fn places(&self) -> &Places {
        &self.0.places
    }

    /// What all runs together may use.
    pub(crate) fn memory(&self) -> &Arc<MemoryBudget> {
        &self.0.memory
    }

    pub(crate) fn config(&self) -> &EngineConfig {
        &self.0.config
    }
}
