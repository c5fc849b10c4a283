//! Cost of fuel metering in compute-bound JavaScript.

use crate::bench::Bench;
use crate::spaces;
use agent_spaces::{EngineConfig, Limits, RunOptions};
use anyhow::Result;

const FIB: &str = "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } fib(27)";
const OBJECTS: &str = "const a = [];
    for (let i = 0; i < 100000; i++) a.push({ id: 't' + i, hour: i % 24, ok: i % 2 == 0 });
    const r = a.filter(t => t.hour < 12).map(t => t.id + ':' + t.hour);
    JSON.parse(JSON.stringify(a)).length + r.length";

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let limits = Limits { memory: 256 << 20, fuel: u64::MAX / 2, ..Limits::default() };
    for (name, script) in [("fib(27)", FIB), ("100,000 objects", OBJECTS)] {
        let mut best = [f64::INFINITY; 2];
        for (slot, meter_fuel) in [(0, true), (1, false)] {
            let space = spaces::empty(&spaces::engine_with(EngineConfig { meter_fuel, ..EngineConfig::default() })?)?;
            let program = space.prepare("bench.js", script)?;
            for _ in 0..3 {
                let run = program.run(RunOptions { limits: Some(limits.clone()), ..RunOptions::default() }).await;
                run.outcome.map_err(|error| anyhow::anyhow!("{error:?}"))?;
                best[slot] = best[slot].min(run.usage.wall_ms);
            }
        }
        bench.report.add(name, best[0], "ms").against("without fuel", best[1]);
    }
    Ok(())
}
