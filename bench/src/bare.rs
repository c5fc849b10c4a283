//! Baseline: bare wasmtime with the same engine and snapshot.
//!
//! A script compiled into its own component is instantiated and called without anything around it: no limits, no events,
//! no report. Its imports return constants. The engine charges its fuel as always, to an account without end.

use agent_spaces::{Interfaces, Target, compile};
use anyhow::{Context, Result};
use wasmtime::component::{Component, ComponentExportIndex, ComponentType, InstancePre, Lift, Linker, Lower};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store, StoreContextMut};

/// A compiled script in bare wasmtime.
pub(crate) struct Bare {
    engine: Engine,
    pre: InstancePre<()>,
    run: ComponentExportIndex,
}

/// Error of a call, as `agent-spaces:host/types` has it.
#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct CapabilityError {
    code: String,
    message: String,
    retryable: bool,
    details: Option<String>,
}

#[derive(ComponentType, Lift)]
#[component(record)]
#[allow(dead_code, reason = "lifted whole, as the host does")]
struct ScriptError {
    code: String,
    name: Option<String>,
    message: String,
    stack: Option<String>,
    hint: Option<String>,
    details: Option<String>,
    retryable: bool,
}

#[derive(Clone, Copy, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
#[allow(dead_code, reason = "made by the guest")]
enum Level {
    #[component(name = "log")]
    Log,
    #[component(name = "info")]
    Info,
    #[component(name = "warn")]
    Warn,
    #[component(name = "error")]
    Error,
    #[component(name = "debug")]
    Debug,
}

impl Bare {
    pub(crate) fn new(source: &str) -> Result<Bare> {
        Bare::with(source, &Interfaces::new()?, |_| Ok(()))
    }

    /// With imported interfaces, implemented by what `link` adds.
    pub(crate) fn with(
        source: &str,
        interfaces: &Interfaces,
        link: impl FnOnce(&mut Linker<()>) -> Result<()>,
    ) -> Result<Bare> {
        let compiled = compile("bench.js", source, interfaces, None, Target::Host)?;
        let mut pool = PoolingAllocationConfig::default();
        pool.total_component_instances(100)
            .total_core_instances(200)
            .total_memories(100)
            .total_tables(100)
            .total_stacks(100)
            .max_memory_size(1 << 30)
            .linear_memory_keep_resident(1 << 20)
            .table_keep_resident(64 << 10)
            .pagemap_scan(Enabled::Auto);
        let mut config = Config::new();
        config
            .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
            .memory_guaranteed_dense_image_size(32 << 20);
        let engine = Engine::new(&config)?;
        let component = Component::new(&engine, &compiled.wasm)?;
        let mut linker = Linker::<()>::new(&engine);
        let mut clock = linker.instance("agent-spaces:engine/clock@0.1.0")?;
        clock.func_wrap("now", |_: StoreContextMut<'_, ()>, (): ()| Ok((0u64,)))?;
        clock.func_wrap("monotonic", |_: StoreContextMut<'_, ()>, (): ()| Ok((0u64,)))?;
        let mut random = linker.instance("agent-spaces:engine/random@0.1.0")?;
        random.func_wrap("get-u64", |_: StoreContextMut<'_, ()>, (): ()| Ok((4u64,)))?;
        let mut console = linker.instance("agent-spaces:engine/console@0.1.0")?;
        console.func_wrap("write", |_: StoreContextMut<'_, ()>, (_, _): (Level, String)| Ok(()))?;
        let mut timers = linker.instance("agent-spaces:engine/timers@0.1.0")?;
        timers.func_wrap_concurrent("sleep", |_, (_,): (u64,)| Box::pin(async { Ok(()) }))?;
        link(&mut linker)?;
        let pre = linker.instantiate_pre(&component)?;
        let program = component.get_export_index(None, "agent-spaces:engine/program@0.1.0").context("no program")?;
        let run = component.get_export_index(Some(&program), "run").context("no run")?;
        Ok(Bare { engine, pre, run })
    }

    /// Instantiates and evaluates.
    pub(crate) async fn run(&self) -> Result<String> {
        let mut store = Store::new(&self.engine, ());
        let instance = self.pre.instantiate_async(&mut store).await?;
        let function = instance.get_typed_func::<(), (Result<String, ScriptError>,)>(&mut store, self.run)?;
        let (answer,) = function.call_async(&mut store, ()).await?;
        answer.map_err(|error| anyhow::anyhow!(error.message))
    }

    /// Instantiates only.
    pub(crate) async fn instantiate(&self) -> Result<()> {
        let mut store = Store::new(&self.engine, ());
        self.pre.instantiate_async(&mut store).await?;
        Ok(())
    }
}
