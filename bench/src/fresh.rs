//! Latency of a fresh run of a trivial script.

use crate::bare::Bare;
use crate::bench::Bench;
use crate::timing::{Times, least, times};
use crate::{spaces, workloads};
use agent_spaces::{EngineConfig, RunOptions};
use anyhow::Result;
use std::time::{Duration, Instant};

const SCRIPT: &str = "1 + 1";
const ROUNDS: usize = 5_000;

/// A workload that dirties many pages.
const LARGE: &str = "objects";

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let space = spaces::empty(&bench.engine()?)?;
    let program = space.prepare("bench.js", SCRIPT)?;
    let every_time = spaces::engine_with(EngineConfig { keep_compiled: false, ..EngineConfig::default() })?;
    let every_time = spaces::empty(&every_time)?.prepare("bench.js", SCRIPT)?;
    let bare = Bare::new(SCRIPT)?;

    // Interleaved, so that both see the same load on the machine.
    let mut ours = Vec::new();
    let mut compiling = Vec::new();
    let mut theirs = Vec::new();
    let mut instantiations = Vec::new();
    let rounds = bench.pace.rounds(ROUNDS) / 5;
    for _ in 0..5 {
        ours.push(times(rounds, || program.run(RunOptions::default())).await);
        compiling.push(times(rounds, || every_time.run(RunOptions::default())).await);
        theirs.push(times(rounds, || bare.run()).await);
        instantiations.push(times(rounds, || bare.instantiate()).await.p50);
    }
    let p99 = least(ours.iter().map(|times| times.p99));
    let p50 = |all: &[Times]| least(all.iter().map(|times| times.p50));
    let (ours, theirs) = (p50(&ours), p50(&theirs));
    let row = bench.report.add("fresh run of `1 + 1`", ours, "µs").p99(p99);
    drop(row.against("bare wasmtime, same snapshot", theirs).at_most(2.0));
    let row = bench.report.add("the same, compiled every time", p50(&compiling), "µs");
    drop(row.against("bare wasmtime, same snapshot", theirs));
    bench.report.add("bare instantiate alone, p50", least(instantiations), "µs");
    let large = workloads::named(LARGE)?.ready(&space)?;
    let mut after = Vec::new();
    for _ in 0..5 {
        large.times(Duration::ZERO).await?;
        after.push(times(rounds, || program.run(RunOptions::default())).await);
    }
    drop(bench.report.add("the same after a large run", p50(&after), "µs").against("before it", ours));
    let outcome = program.run(RunOptions::default()).await;
    bench.report.add("linear memory of `1 + 1`", outcome.usage.memory_bytes as f64 / 1024.0, "KiB");
    let script = include_str!("../../examples/quickstart/agent.ts");
    let begun = Instant::now();
    for _ in 0..200 {
        let _ = agent_spaces::script::prepare(
            script,
            "agent.ts",
            agent_spaces::script::Language::TypeScript,
            agent_spaces::script::SourceKind::Script,
            &mut |site| Ok(site.specifier.to_owned()),
        );
    }
    bench.report.add("prepare the quickstart script", begun.elapsed().as_secs_f64() * 1e6 / 200.0, "µs");
    Ok(())
}
