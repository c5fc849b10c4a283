//! Scripts as agents write them, each run being the first of its script: prepared, in a fresh sandbox, compiled there.
//!
//! *Cold* is the first execution without the start of its sandbox: peers report the time of their evaluation, and from
//! ours the time of a trivial run is subtracted. The whole has the start on both sides.

use crate::bench::Bench;
use crate::pairs::Pairs;
use crate::timing::times_within;
use crate::workloads::{self, Kind, Workload};
use crate::{desk, kernels};
use agent_spaces::{EngineConfig, Space};
use anyhow::{Context, Result};
use std::time::Duration;

pub(crate) const GROUP: &str = "agent";

/// Peers that tell the evaluation from the start.
const PEERS: [&str; 7] = [kernels::PEER, "quickjs-ng", "quickjs-wasi", BOUNDED, "node-vm", "workerd", "deno"];
/// Peer that the bounds are for: V8 with its compiler, in the process of the host as ours.
const BOUNDED: &str = "isolated-vm";
const MOST_COLD: f64 = 3.0;
const LEAST_WHOLE: f64 = 1.0;

/// Milliseconds that ours and each peer run a script for.
const OURS: u64 = 600;
const THEIRS: u64 = 1_500;

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let config = EngineConfig { keep_compiled: false, ..EngineConfig::default() };
    let space = desk::space(&bench.engine_with(config)?)?;
    let scripts: Vec<Workload> = workloads::all()?.into_iter().filter(|one| one.kind == Kind::Agent).collect();
    let mut peers = bench.peers().await;
    peers.retain(|peer| PEERS.contains(&peer.name.as_str()));
    for peer in &peers {
        let (mut cold, mut whole) = (Pairs::default(), Pairs::default());
        for script in &scripts {
            let before = Times::of(bench, &space, script).await?;
            let theirs = match peer.measure(&script.name, bench.pace.budget(THEIRS)).await {
                Ok(theirs) => theirs,
                Err(error) => {
                    bench.report.note(format!("skipped: {}: {}: {error:#}", peer.name, script.name));
                    continue;
                }
            };
            let ours = before.better_of(Times::of(bench, &space, script).await?);
            let evaluation = theirs.evaluation.with_context(|| format!("{} reports no evaluation", peer.name))?;
            cold.push(ours.cold, evaluation / 1e3);
            whole.push(ours.whole, theirs.p50 / 1e3);
            rows(bench, &script.title(), &peer.name, (ours.cold, evaluation / 1e3), (ours.whole, theirs.p50 / 1e3));
        }
        if let (Some(cold), Some(whole)) = (cold.mean(), whole.mean()) {
            rows(bench, "geometric mean of the agents' scripts", &peer.name, cold, whole);
        }
    }
    if peers.is_empty() {
        for script in &scripts {
            let ours = Times::of(bench, &space, script).await?;
            bench.report.add(&format!("{}, cold", script.title()), ours.cold, "ms");
        }
    }
    Ok(())
}

/// Milliseconds of a script.
struct Times {
    cold: f64,
    whole: f64,
}

impl Times {
    async fn of(bench: &Bench, space: &Space, script: &Workload) -> Result<Times> {
        let whole = first_runs(space, script, bench.pace.budget(OURS)).await?;
        let start = first_runs(space, &workloads::named("trivial")?, bench.pace.budget(OURS / 10)).await?;
        Ok(Times { cold: whole - start, whole })
    }

    fn better_of(self, other: Times) -> Times {
        Times { cold: self.cold.min(other.cold), whole: self.whole.min(other.whole) }
    }
}

/// Milliseconds from the text of a script to its answer, in the median of fresh programs.
async fn first_runs(space: &Space, script: &Workload, budget: Duration) -> Result<f64> {
    let source = script.source()?;
    let run = || async { anyhow::Ok(script.prepare(space, &source)?.run().await) };
    let times = times_within(budget, run, |report| script.check(workloads::answer(&report?)?)).await;
    Ok(times.with_context(|| script.name.clone())?.p50 / 1e3)
}

/// Rows of a script beside a peer, each pair being ours and theirs.
fn rows(bench: &mut Bench, title: &str, peer: &str, cold: (f64, f64), whole: (f64, f64)) {
    let row = bench.report.add(&format!("{title}, cold"), cold.0, "ms").against(peer, cold.1);
    drop(if peer == BOUNDED { row.at_most(MOST_COLD) } else { row });
    let row = bench.report.add(&format!("{title}, with a fresh sandbox"), whole.0, "ms").faster_than(peer, whole.1);
    drop(if peer == BOUNDED { row.at_least(LEAST_WHOLE) } else { row });
}
