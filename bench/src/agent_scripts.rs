//! Scripts as agents write them, each run being the first of its script: prepared, in a fresh sandbox, compiled there.
//!
//! *Cold* is the first execution without the start of its sandbox: peers report the time of their evaluation, and from
//! ours the time of a trivial run is subtracted. The whole has the start on both sides.

use crate::bench::Bench;
use crate::kernels::Evaluation;
use crate::pairs::Pairs;
use crate::peers::Peer;
use crate::timing::{TURNS, times_within};
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

/// Milliseconds that ours and each peer run a script for in a turn.
const OURS: u64 = 400;
const THEIRS: u64 = 800;

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let config = EngineConfig { keep_compiled: false, ..EngineConfig::default() };
    let space = desk::space(&bench.engine_with(config)?)?;
    let scripts: Vec<Workload> = workloads::all()?.into_iter().filter(|one| one.kind == Kind::Agent).collect();
    let mut peers = bench.peers().await;
    peers.retain(|peer| PEERS.contains(&peer.name.as_str()));
    for peer in &peers {
        let (mut cold, mut whole) = (Pairs::default(), Pairs::default());
        for script in &scripts {
            let (ours, theirs) = match pair(bench, &space, peer, script).await? {
                Ok(pair) => pair,
                Err(error) => {
                    bench.report.note(format!("skipped: {}: {}: {error:#}", peer.name, script.name));
                    continue;
                }
            };
            cold.push(ours.cold, theirs.cold);
            whole.push(ours.whole, theirs.whole);
            rows(bench, &script.title(), &peer.name, (ours.cold, theirs.cold), (ours.whole, theirs.whole));
        }
        if let (Some(cold), Some(whole)) = (cold.mean(), whole.mean()) {
            rows(bench, "geometric mean of the agents' scripts", &peer.name, cold, whole);
        }
    }
    if peers.is_empty() {
        for script in &scripts {
            let ours = evaluation(bench, &space, script).await?;
            bench.report.add(&format!("{}, cold", script.title()), ours.ms(), "ms");
        }
    }
    Ok(())
}

/// Milliseconds of a script.
struct Times {
    cold: f64,
    whole: f64,
}

/// Measures ours and the peer's by turns.
async fn pair(bench: &Bench, space: &Space, peer: &Peer, script: &Workload) -> Result<Result<(Times, Times)>> {
    let mut ours = Evaluation::default();
    let mut theirs = Times { cold: f64::INFINITY, whole: f64::INFINITY };
    for _ in 0..TURNS {
        ours = ours.better_of(evaluation(bench, space, script).await?);
        let measured = match peer.measure(&script.name, bench.pace.budget(THEIRS)).await {
            Ok(measured) => measured,
            Err(error) => return Ok(Err(error)),
        };
        let evaluation = measured.evaluation.with_context(|| format!("{} reports no evaluation", peer.name))?;
        theirs = Times { cold: theirs.cold.min(evaluation / 1e3), whole: theirs.whole.min(measured.p50 / 1e3) };
    }
    Ok(Ok((Times { cold: ours.ms(), whole: ours.busy / 1e3 }, theirs)))
}

/// Measures first executions of a script, and of one that does nothing.
async fn evaluation(bench: &Bench, space: &Space, script: &Workload) -> Result<Evaluation> {
    let busy = first_runs(space, script, bench.pace.budget(OURS)).await?;
    let idle = first_runs(space, &workloads::named("trivial")?, bench.pace.budget(OURS / 10)).await?;
    Ok(Evaluation { busy, idle })
}

/// Microseconds from the text of a script to its answer, in the median of fresh programs.
async fn first_runs(space: &Space, script: &Workload, budget: Duration) -> Result<f64> {
    let source = script.source()?;
    let run = || async { anyhow::Ok(script.prepare(space, &source)?.run().await) };
    let times = times_within(budget, run, |report| script.check(workloads::answer(&report?)?)).await;
    Ok(times.with_context(|| script.name.clone())?.p50)
}

/// Rows of a script beside a peer, each pair being ours and theirs.
fn rows(bench: &mut Bench, title: &str, peer: &str, cold: (f64, f64), whole: (f64, f64)) {
    let row = bench.report.add(&format!("{title}, cold"), cold.0, "ms").against(peer, cold.1);
    drop(if peer == BOUNDED { row.at_most(MOST_COLD) } else { row });
    let row = bench.report.add(&format!("{title}, with a fresh sandbox"), whole.0, "ms").faster_than(peer, whole.1);
    drop(if peer == BOUNDED { row.at_least(LEAST_WHOLE) } else { row });
}
