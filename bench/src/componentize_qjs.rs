//! Peer `componentize-qjs`: the same scripts as components, each instantiated afresh in bare wasmtime.

use crate::bench::Bench;
use crate::kernels::evaluation;
use crate::timing::{Times, times_within};
use crate::workloads::{self, Kind, Workload};
use crate::{desk, peers};
use anyhow::{Context, Result};
use std::path::Path;
use std::time::Duration;
use wasmtime::component::{Component, ComponentExportIndex, InstancePre, Linker};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store};
use wasmtime_wasi::{ResourceTable, WasiCtx, WasiCtxView, WasiView};

const NAME: &str = "componentize-qjs in bare wasmtime";
const MAKING: Duration = Duration::from_secs(120);
const BUDGET: u64 = 500;

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    // The reason was already noted.
    if bench.peers().await.is_empty() {
        return Ok(());
    }
    let (trivial, folder) = (workloads::named("trivial")?, tempfile::tempdir()?);
    let relative = match Relative::of(&trivial, folder.path()).await {
        Ok(relative) => relative,
        Err(error) => {
            bench.report.note(format!("skipped: componentize-qjs: {error:#}"));
            return Ok(());
        }
    };
    let space = desk::space(&bench.engine()?)?;
    let (idle, budget) = (trivial.ready(&space)?, bench.pace.budget(BUDGET));
    let before = idle.times(budget).await?;
    let base = relative.times(&trivial, budget).await?;
    let ours = before.better_of(idle.times(budget).await?);
    let row = bench.report.add(&trivial.title(), ours.p50, "µs").p99(ours.p99);
    drop(row.faster_than(NAME, base.p50).peer_p99(base.p99));

    for kernel in workloads::all()?.iter().filter(|workload| workload.kind == Kind::Kernel) {
        let (ready, relative) = (kernel.ready(&space)?, Relative::of(kernel, folder.path()).await?);
        let before = evaluation(bench, &ready, &idle).await?;
        let theirs = (relative.times(kernel, budget).await?.p50 - base.p50) / 1e3;
        let ours = before.better_of(evaluation(bench, &ready, &idle).await?).ms();
        bench.report.add(&kernel.title(), ours, "ms").faster_than(NAME, theirs);
    }
    Ok(())
}

struct Relative {
    engine: Engine,
    pre: InstancePre<State>,
    run: ComponentExportIndex,
}

struct State {
    context: WasiCtx,
    table: ResourceTable,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.context, table: &mut self.table }
    }
}

impl Relative {
    /// Builds the component and compiles it with our settings, fuel included.
    async fn of(workload: &Workload, folder: &Path) -> Result<Relative> {
        let file = folder.join(format!("{}.wasm", workload.name));
        let path = file.to_str().context("the folder's name is not UTF-8")?;
        peers::node(&["componentize.mjs", &workload.path(), path], MAKING).await?;
        let mut pool = PoolingAllocationConfig::default();
        pool.max_memory_size(1 << 30)
            .linear_memory_keep_resident(1 << 20)
            .table_keep_resident(64 << 10)
            .pagemap_scan(Enabled::Auto)
            .total_memories(100)
            .total_stacks(100);
        let mut config = Config::new();
        config
            .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
            .memory_guaranteed_dense_image_size(32 << 20)
            .consume_fuel(true);
        let engine = Engine::new(&config)?;
        let component = Component::from_file(&engine, &file)?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        let pre = linker.instantiate_pre(&component)?;
        let run = component.get_export_index(None, "run").context("the component has no run")?;
        Ok(Relative { engine, pre, run })
    }

    async fn times(&self, workload: &Workload, budget: Duration) -> Result<Times> {
        times_within(budget, || self.run(), |answer| workload.check(&serde_json::from_str(&answer?)?)).await
    }

    /// Instantiates and evaluates.
    async fn run(&self) -> Result<String> {
        let state = State { context: WasiCtx::builder().build(), table: ResourceTable::new() };
        let mut store = Store::new(&self.engine, state);
        store.set_fuel(u64::MAX)?;
        let instance = self.pre.instantiate_async(&mut store).await?;
        let function = instance.get_typed_func::<(), (String,)>(&mut store, self.run)?;
        let (answer,) = function.call_async(&mut store, ()).await?;
        Ok(answer)
    }
}
