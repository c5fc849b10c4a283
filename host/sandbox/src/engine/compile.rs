//! Compilation of the engine, of sandboxes, and of foreign components.

use super::config::EngineConfig;
use super::{CodeCache, CodeKey, ENGINE_SHA256, ENGINE_WASM, Engine, Origin, compile_gate, layout};
use crate::error::HostError;
use agent_spaces_prebuilt_engine::config::{self, FIBER_STACK_BYTES, WASM_STACK_BYTES};
use agent_spaces_prebuilt_engine::determinism;
use blake3::Hasher;
use std::sync::{Arc, OnceLock};
use wasmtime::component::Component;
use wasmtime::{Config, Module};

/// Wasmtime engines with other configurations.
#[derive(Default)]
pub(super) struct FurtherEngines {
    /// Compiler of bindings.
    quick: OnceLock<wasmtime::Engine>,
    /// Engine of foreign components.
    foreign: OnceLock<wasmtime::Engine>,
    /// Compiler of hot functions.
    background: OnceLock<wasmtime::Engine>,
}

impl Engine {
    /// Loads the engine's prebuilt native code, or compiles it and stores that in the cache.
    pub fn new(config: EngineConfig) -> Result<Engine, HostError> {
        Engine::with_origin(config, |_| {}).map(|(engine, _)| engine)
    }

    /// Like [`Engine::new`], but calls `progress` before it compiles, and returns the origin of the code.
    pub fn with_origin(config: EngineConfig, progress: impl FnOnce(Origin)) -> Result<(Engine, Origin), HostError> {
        let wasmtime = wasmtime::Engine::new(&config.wasmtime()).map_err(HostError::engine)?;
        if let Some(code) = agent_spaces_prebuilt_engine::precompiled() {
            // SAFETY: the build of this program compiled it.
            #[expect(unsafe_code, reason = "native code cannot be checked, only trusted")]
            let loaded = unsafe { Module::deserialize(&wasmtime, code) };
            // A processor with fewer features than the build machine, or an engine with wasmtime's fuel, needs other code.
            if let Ok(module) = loaded {
                return Ok((Engine::assemble(config, wasmtime, module), Origin::Precompiled));
            }
        }
        let key = cache_key(&wasmtime, &[b"engine", ENGINE_SHA256.as_bytes()]);
        if let Some(module) = cached_module(config.cache.as_ref(), &wasmtime, &key) {
            return Ok((Engine::assemble(config, wasmtime, module), Origin::Cached));
        }
        progress(Origin::Compiled);
        let module = Module::new(&wasmtime, ENGINE_WASM).map_err(HostError::engine)?;
        if let Some(cache) = &config.cache {
            cache.store(&key, &module.serialize().map_err(HostError::engine)?);
        }
        Ok((Engine::assemble(config, wasmtime, module), Origin::Compiled))
    }

    /// Compiles another version of the engine, or loads it from the cache: durable runs end on the engine that they
    /// began with. Where that does not meter itself, wasmtime does.
    pub fn from_wasm(config: EngineConfig, wasm: &[u8]) -> Result<Engine, HostError> {
        let wasmtime_fuel = !layout::is_metered(wasm).map_err(HostError::build)?;
        let config = EngineConfig { wasmtime_fuel, ..config };
        let wasmtime = wasmtime::Engine::new(&config.wasmtime()).map_err(HostError::engine)?;
        let key = cache_key(&wasmtime, &[b"engine", wasm]);
        if let Some(module) = cached_module(config.cache.as_ref(), &wasmtime, &key) {
            return Ok(Engine::assemble(config, wasmtime, module));
        }
        let module = Module::new(&wasmtime, wasm).map_err(HostError::engine)?;
        if let Some(cache) = &config.cache {
            cache.store(&key, &module.serialize().map_err(HostError::engine)?);
        }
        Ok(Engine::assemble(config, wasmtime, module))
    }

    /// Compiles a component for this engine, or loads it from the cache.
    pub fn component(&self, wasm: &[u8]) -> Result<Component, HostError> {
        self.cached_or(b"sandbox", wasm, || {
            let _compiling = compile_gate::COMPILING.acquire();
            self.quick()?.precompile_component(wasm).map_err(HostError::engine)
        })
    }

    /// Compiles a component with functions that run often, on this thread alone: nobody waits for it. Loads it from the cache if
    /// it is there.
    pub(crate) fn hot_component(&self, wasm: &[u8]) -> Result<Component, HostError> {
        self.cached_or(b"hot", wasm, || self.background()?.precompile_component(wasm).map_err(HostError::engine))
    }

    /// Loads the native code of a component from the cache, or makes it.
    fn cached_or(
        &self,
        kind: &[u8],
        wasm: &[u8],
        compile: impl FnOnce() -> Result<Vec<u8>, HostError>,
    ) -> Result<Component, HostError> {
        let wasmtime = self.wasmtime();
        let key = cache_key(wasmtime, &[kind, wasm]);
        let cache = self.config().cache.as_ref();
        if let Some(component) = cached_component(cache, wasmtime, &key) {
            return Ok(component);
        }
        let code = compile()?;
        if let Some(cache) = cache {
            cache.store(&key, &code);
        }
        // SAFETY: compiled just now.
        #[expect(unsafe_code, reason = "native code cannot be checked, only trusted")]
        let component = unsafe { Component::deserialize(wasmtime, &code) };
        component.map_err(HostError::engine)
    }

    fn quick(&self) -> Result<&wasmtime::Engine, HostError> {
        if let Some(quick) = self.0.further.quick.get() {
            return Ok(quick);
        }
        let quick = wasmtime::Engine::new(&self.0.config.quick_compiler()).map_err(HostError::engine)?;
        Ok(self.0.further.quick.get_or_init(|| quick))
    }

    fn background(&self) -> Result<&wasmtime::Engine, HostError> {
        if let Some(background) = self.0.further.background.get() {
            return Ok(background);
        }
        let mut config = config::pooled(1, self.0.config.wasmtime_fuel);
        make_deterministic(&mut config);
        config.parallel_compilation(false);
        let background = wasmtime::Engine::new(&config).map_err(HostError::engine)?;
        Ok(self.0.further.background.get_or_init(|| background))
    }

    /// Returns the wasmtime engine for foreign components, whose instances do not fit the pool.
    pub fn foreign(&self) -> Result<&wasmtime::Engine, HostError> {
        if let Some(foreign) = self.0.further.foreign.get() {
            return Ok(foreign);
        }
        let foreign = wasmtime::Engine::new(&self.0.config.foreign()).map_err(HostError::engine)?;
        Ok(self.0.further.foreign.get_or_init(|| foreign))
    }

    /// Compiles a foreign component, or loads it from the cache.
    pub fn foreign_component(&self, wasm: &[u8]) -> Result<Component, HostError> {
        let wasmtime = self.foreign()?;
        let key = cache_key(wasmtime, &[b"foreign", wasm]);
        let cache = self.config().cache.as_ref();
        if let Some(component) = cached_component(cache, wasmtime, &key) {
            return Ok(component);
        }
        let component = Component::new(wasmtime, wasm).map_err(HostError::engine)?;
        if let Some(cache) = cache {
            cache.store(&key, &component.serialize().map_err(HostError::engine)?);
        }
        Ok(component)
    }

    /// Serializes the compiled engine, for hosts that are built without the compiler.
    pub fn precompiled(&self) -> Result<Vec<u8>, HostError> {
        self.0.module.serialize().map_err(HostError::engine)
    }
}

/// Makes compiled code compute the same on every processor.
pub(super) fn make_deterministic(config: &mut Config) {
    determinism::enable(config);
}

/// Loads a module from the cache. `None` if it is not there, or does not fit this engine.
fn cached_module(cache: Option<&Arc<dyn CodeCache>>, wasmtime: &wasmtime::Engine, key: &CodeKey) -> Option<Module> {
    let code = cache?.load(key)?;
    // SAFETY: the entry's authentication shows that this program wrote it.
    #[expect(unsafe_code, reason = "native code cannot be checked, only trusted")]
    let loaded = unsafe { Module::deserialize(wasmtime, &code) };
    loaded.ok()
}

/// Loads a component from the cache. `None` if it is not there, or does not fit this engine.
fn cached_component(
    cache: Option<&Arc<dyn CodeCache>>,
    wasmtime: &wasmtime::Engine,
    key: &CodeKey,
) -> Option<Component> {
    let code = cache?.load(key)?;
    // SAFETY: the entry's authentication shows that this program wrote it.
    #[expect(unsafe_code, reason = "native code cannot be checked, only trusted")]
    let loaded = unsafe { Component::deserialize(wasmtime, &code) };
    loaded.ok()
}

/// Returns the cache key of code compiled by this engine from these inputs.
pub(crate) fn cache_key(engine: &wasmtime::Engine, parts: &[&[u8]]) -> CodeKey {
    /// Hashes everything in wasmtime and its configuration that compiled code depends on.
    struct Sink<'a>(&'a mut Hasher);
    impl std::hash::Hasher for Sink<'_> {
        fn finish(&self) -> u64 {
            0
        }
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }
    }
    let mut hasher = Hasher::new();
    std::hash::Hash::hash(&engine.precompile_compatibility_hash(), &mut Sink(&mut hasher));
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

impl EngineConfig {
    /// Returns the configuration for bindings: fast compilation instead of fast code, because a run waits for it. The
    /// code is compatible with an engine of [`EngineConfig::wasmtime`], and runs a few instructions per value.
    fn quick_compiler(&self) -> Config {
        let mut config = config::pooled(1, self.wasmtime_fuel);
        make_deterministic(&mut config);
        config
            .cranelift_opt_level(wasmtime::OptLevel::None)
            .cranelift_regalloc_algorithm(wasmtime::RegallocAlgorithm::SinglePass);
        config
    }

    /// Returns the configuration for foreign components: any number of instances, memories and tables, allocated on
    /// demand.
    fn foreign(&self) -> Config {
        let mut config = Config::new();
        config
            .max_wasm_stack(WASM_STACK_BYTES)
            .async_stack_size(FIBER_STACK_BYTES)
            .consume_fuel(true)
            .wasm_backtrace_max_frames(None)
            .generate_address_map(false);
        config
    }
}
