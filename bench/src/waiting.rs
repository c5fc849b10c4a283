//! A thousand concurrent runs, each waiting 50 ms for a call.

use crate::bench::Bench;
use crate::timing::least;
use crate::workloads::{self, Ready};
use crate::{desk, parked, spaces};
use agent_spaces::EngineConfig;
use anyhow::Result;
use std::sync::Arc;
use std::time::Instant;

pub(crate) const GROUP: &str = "waiting";
pub(crate) const WORKLOAD: &str = "waiting";
/// Prefix of the memory rows.
pub(crate) const MEMORY: &str = "memory of each";
const RUNS: usize = 1_000;
const TRIES: usize = 3;

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let runs = bench.pace.rounds(RUNS);
    let ready = Arc::new(workloads::named(WORKLOAD)?.ready(&desk::space(&bench.engine()?)?)?);
    let engine = spaces::engine_with(EngineConfig { max_runs: runs as u32 + 10, ..EngineConfig::default() })?;
    let parked = parked::Parked::start(&engine, runs).await?;
    let memory = parked.each_kib;
    parked.end().await;
    let (time, each) = (format!("{runs} runs at once, each waiting 50 ms"), format!("{MEMORY} of {runs} waiting runs"));
    let mut before = at_once(&ready, runs).await?;
    let mut is_compared = false;
    for peer in bench.peers().await.iter().filter(|peer| peer.can(WORKLOAD)) {
        let measured = match peer.measure_at_once(WORKLOAD, runs).await {
            Ok(measured) => measured,
            Err(error) => {
                bench.report.note(format!("skipped: {}: {WORKLOAD}: {error:#}", peer.name));
                continue;
            }
        };
        let after = at_once(&ready, runs).await?;
        bench.report.add(&time, before.min(after), "ms").faster_than(&peer.name, measured.p50 / 1e3);
        (before, is_compared) = (after, true);
        if let Some(resident) = measured.resident {
            bench.report.add(&each, memory, "KiB").against(&peer.name, resident / 1024.0 / runs as f64);
        }
    }
    if !is_compared {
        bench.report.add(&time, before, "ms");
    }
    Ok(())
}

/// Best time until all are done, in milliseconds.
async fn at_once(ready: &Arc<Ready>, runs: usize) -> Result<f64> {
    let mut tries = Vec::new();
    for _ in 0..TRIES {
        let begun = Instant::now();
        let started = (0..runs).map(|_| {
            let ready = ready.clone();
            tokio::spawn(async move { ready.check(&ready.run().await) })
        });
        for run in started.collect::<Vec<_>>() {
            run.await??;
        }
        tries.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(least(tries))
}
