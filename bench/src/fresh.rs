//! A fresh run of a trivial script.

use crate::bare::Bare;
use crate::report::Report;
use crate::spaces;
use crate::timing::times;
use agent_spaces::{EngineConfig, RunOptions};
use anyhow::Result;
use std::time::Instant;

const SCRIPT: &str = "1 + 1";
const ROUNDS: usize = 5_000;

pub(crate) async fn measure(report: &mut Report) -> Result<()> {
    let space = spaces::empty(&spaces::engine(EngineConfig::default())?)?;
    let program = space.prepare("bench.js", SCRIPT)?;
    let bare = Bare::new(SCRIPT, true)?;

    // Alternating, so that both meet the same weather.
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    let mut instantiations = Vec::new();
    for _ in 0..5 {
        ours.push(times(ROUNDS / 5, || program.run(RunOptions::default())).await);
        theirs.push(times(ROUNDS / 5, || bare.run()).await);
        instantiations.push(times(ROUNDS / 5, || bare.instantiate()).await.p50);
    }
    let best = |samples: &[f64]| samples.iter().copied().fold(f64::INFINITY, f64::min);
    let p50 = |all: &[crate::timing::Times]| best(&all.iter().map(|times| times.p50).collect::<Vec<_>>());
    let p99 = best(&ours.iter().map(|times| times.p99).collect::<Vec<_>>());
    let (ours, theirs) = (p50(&ours), p50(&theirs));
    report.add("fresh run of `1 + 1`, p50", ours, "µs").against("bare wasmtime, same snapshot", theirs).at_most(2.0);
    report.add("fresh run of `1 + 1`, p99", p99, "µs");
    report.add("bare instantiate alone, p50", best(&instantiations), "µs");
    let outcome = program.run(RunOptions::default()).await;
    report.add("fuel of `1 + 1`", outcome.usage.fuel as f64, "units");
    report.add("linear memory of `1 + 1`", outcome.usage.memory_bytes as f64 / 1024.0, "KiB");
    runs_per_second(report, &program).await;
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
    report.add("prepare the quickstart script", begun.elapsed().as_secs_f64() * 1e6 / 200.0, "µs");
    Ok(())
}

async fn runs_per_second(report: &mut Report, program: &agent_spaces::Program) {
    const EACH: usize = 5_000;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let begun = Instant::now();
    let tasks: Vec<_> = (0..cores)
        .map(|_| {
            let program = program.clone();
            tokio::spawn(async move {
                for _ in 0..EACH {
                    let _ = program.run(RunOptions::default()).await;
                }
            })
        })
        .collect();
    for task in tasks {
        let _ = task.await;
    }
    let rate = (cores * EACH) as f64 / begun.elapsed().as_secs_f64();
    report.add(&format!("fresh runs on {cores} cores"), rate, "per second");
}
