//! Cost of a typed call.

use crate::bench::Bench;
use crate::spaces;
use agent_spaces::{Limits, Program, RunOptions, Space};
use anyhow::Result;

/// Calls per run, enough to make the cost of the run itself negligible.
const CALLS: u64 = 2_000;

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let space = spaces::trains(&bench.engine()?)?;
    for (count, calls) in [(3, CALLS), (1_000, 50), (10_000, 5)] {
        let typed = per_call(&space, "get", count, calls).await?;
        let json = per_call(&space, "getJson", count, calls).await?;
        let what = format!("typed call, {count} records");
        bench.report.add(&what, typed, "µs").against("the same as JSON text", json);
    }
    let fuel = prepare(&space, "get", 3, 1)?.run(RunOptions::default()).await.usage.fuel;
    let none = prepare(&space, "get", 3, 0)?.run(RunOptions::default()).await.usage.fuel;
    bench.report.add("fuel of a typed call, 3 records", (fuel - none) as f64, "units");
    Ok(())
}

fn prepare(space: &Space, function: &str, count: u64, calls: u64) -> Result<Program> {
    let script = format!(
        "import {{ trains }} from '@capabilities/trains';
         for (let i = 0; i < {calls}; i++) await trains.{function}({{ count: {count} }});"
    );
    Ok(space.prepare("bench.js", &script)?)
}

async fn per_call(space: &Space, function: &str, count: u64, calls: u64) -> Result<f64> {
    let limits = Limits { calls: CALLS, ..Limits::default() };
    let with = prepare(space, function, count, calls)?;
    let without = prepare(space, function, count, 0)?;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let all = with.run(RunOptions { limits: Some(limits.clone()), ..RunOptions::default() }).await;
        let none = without.run(RunOptions { limits: Some(limits.clone()), ..RunOptions::default() }).await;
        all.outcome.map_err(|error| anyhow::anyhow!("{error:?}"))?;
        best = best.min((all.usage.wall_ms - none.usage.wall_ms) * 1e3 / calls as f64);
    }
    Ok(best)
}
