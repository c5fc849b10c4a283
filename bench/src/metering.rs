//! What metering fuel costs in compute-bound JavaScript: kernels with the meter and without.
//!
//! Charges are in the engine's code. `just unmetered FILE` makes an engine without them, which `AGENT_SPACES_UNMETERED` names
//! here. Without it, only the limit is taken away.

use crate::bench::Bench;
use crate::desk;
use crate::kernels::{self, Evaluation, evaluation};
use crate::pairs::Pairs;
use crate::timing::TURNS;
use crate::workloads;
use agent_spaces::{Engine, EngineConfig};
use anyhow::{Context, Result};

const ENGINE: &str = "AGENT_SPACES_UNMETERED";
const MOST: f64 = 1.08;

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let config = EngineConfig { keep_compiled: false, ..EngineConfig::default() };
    let (without, unmetered) = match std::env::var_os(ENGINE) {
        Some(path) => {
            let wasm =
                std::fs::read(&path).with_context(|| format!("reading {}, which {ENGINE} names", path.display()))?;
            let config = EngineConfig { meter_fuel: false, ..config.clone() };
            ("an engine without charges", Engine::from_wasm(config, &wasm)?)
        }
        None => {
            bench.report.note(format!("metering: without {ENGINE} only the limit is taken away, not the charges"));
            ("without a limit", bench.engine_with(EngineConfig { meter_fuel: false, ..config.clone() })?)
        }
    };
    let mut spaces = Vec::new();
    for engine in [bench.engine_with(config)?, unmetered] {
        let space = desk::space(&engine)?;
        let idle = workloads::named("trivial")?.ready(&space)?;
        spaces.push((space, idle));
    }
    let mut pairs = Pairs::default();
    for kernel in kernels::all()? {
        let mut times = [Evaluation::default(), Evaluation::default()];
        let ready = spaces.iter().map(|(space, idle)| Ok((kernel.ready(space)?, idle))).collect::<Result<Vec<_>>>()?;
        // Interleaved, so that both see the same load on the machine.
        for _ in 0..TURNS {
            for ((ready, idle), best) in ready.iter().zip(&mut times) {
                *best = std::mem::take(best).better_of(evaluation(bench, ready, idle).await?);
            }
        }
        let [with, bare] = times.map(|best| best.ms());
        pairs.push(with, bare);
        drop(bench.report.add(&format!("{}, metered", kernel.title()), with, "ms").against(without, bare));
    }
    if let Some((with, bare)) = pairs.mean() {
        let row = bench.report.add("geometric mean of the kernels, metered", with, "ms");
        drop(row.against(without, bare).at_most(MOST));
    }
    Ok(())
}
