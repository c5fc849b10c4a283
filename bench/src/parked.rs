//! Memory of runs that wait.

use crate::report::Report;
use crate::spaces;
use agent_spaces::{EngineConfig, EventKind, Limits};
use anyhow::Result;
use std::time::Duration;

const RUNS: usize = 10_000;

pub(crate) async fn measure(report: &mut Report) -> Result<()> {
    let engine = spaces::engine(EngineConfig { max_runs: RUNS as u32 + 100, ..EngineConfig::default() })?;
    let space = spaces::trains(&engine)?;
    let program = space
        .prepare("bench.js", "import { trains } from '@capabilities/trains'; export default await trains.wait()")?;
    let limits = Limits { time: Duration::from_secs(600), ..Limits::default() };
    let (memory, maps) = (resident_bytes(), mappings());
    let mut runs = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let mut run = program.start(limits.clone());
        while let Some(event) = run.next_event().await {
            if matches!(event.kind, EventKind::CallScheduled { .. }) {
                break;
            }
        }
        runs.push(run);
    }
    let each = (resident_bytes().saturating_sub(memory)) as f64 / RUNS as f64 / 1024.0;
    report.add(&format!("resident memory of each of {RUNS} parked runs"), each, "KiB").at_most(400.0);
    report.add("address-space mappings of each", (mappings() - maps) as f64 / RUNS as f64, "mappings");
    for run in &runs {
        run.cancel_handle().cancel();
    }
    for run in runs {
        run.finish().await;
    }
    Ok(())
}

/// What the system says this process holds, with what it shares among its own mappings counted once;
/// zero where it does not say.
fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("Pss:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<usize>().ok()).unwrap_or(0) * 1024
}

fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").map_or(0, |text| text.lines().count())
}
