//! Memory of waiting runs.

use crate::bench::Bench;
use crate::{proc, spaces};
use agent_spaces::{Engine, EngineConfig, EventKind, Limits, Run, RunOptions};
use anyhow::Result;
use std::time::Duration;

const RUNS: usize = 10_000;

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let runs = bench.pace.rounds(RUNS);
    let engine = spaces::engine_with(EngineConfig { max_runs: runs as u32 + 100, ..EngineConfig::default() })?;
    let maps = proc::mappings();
    let parked = Parked::start(&engine, runs).await?;
    let each = (proc::mappings() - maps) as f64 / runs as f64;
    bench.report.add(&format!("resident memory of each of {runs} parked runs"), parked.each_kib, "KiB").at_most(300.0);
    bench.report.add(&format!("mappings of each of {runs} parked runs"), each, "mappings");
    parked.end().await;
    Ok(())
}

/// Runs that wait for a call that is never answered.
pub(crate) struct Parked {
    runs: Vec<Run>,
    /// Memory of each.
    pub(crate) each_kib: f64,
}

impl Parked {
    pub(crate) async fn start(engine: &Engine, count: usize) -> Result<Parked> {
        let script = "import { trains } from '@capabilities/trains'; export default await trains.wait()";
        let program = spaces::trains(engine)?.prepare("bench.js", script)?;
        let limits = Limits { time: Duration::from_secs(600), ..Limits::default() };
        let before = proc::resident_bytes();
        let mut runs = Vec::with_capacity(count);
        for _ in 0..count {
            let mut run = program.start(RunOptions { limits: Some(limits.clone()), ..RunOptions::default() });
            while let Some(event) = run.next_event().await {
                if matches!(event.kind, EventKind::CallScheduled { .. }) {
                    break;
                }
            }
            runs.push(run);
        }
        let grown = proc::resident_bytes().saturating_sub(before);
        Ok(Parked { runs, each_kib: grown as f64 / count as f64 / 1024.0 })
    }

    pub(crate) async fn end(self) {
        for run in &self.runs {
            run.cancellation_token().cancel();
        }
        for run in self.runs {
            run.finish().await;
        }
    }
}
