//! Compute-bound JavaScript with fuel metering, compared with other engines.
//!
//! Every run compiles the script, as the peers do; `hot` has what is kept compiled. Peers report the time of the
//! evaluation only. Ours includes creating the sandbox, so the time of a trivial run is subtracted.

use crate::bench::Bench;
use crate::desk;
use crate::pairs::{Pairs, of_kernels};
use crate::peers::{Measured, Peer};
use crate::timing::TURNS;
use crate::workloads::{self, Kind, Ready, Workload};
use agent_spaces::EngineConfig;
use anyhow::Result;

pub(crate) const GROUP: &str = "kernels";
/// Main peer; the others have one row each.
pub(crate) const PEER: &str = "quickjs-emscripten";
/// What the row of the lowest ratio begins with.
pub(crate) const LEAST: &str = "lowest ratio";
const OTHERS: [&str; 4] = ["quickjs-ng", "quickjs-wasi", "node-vm", "isolated-vm"];

/// Milliseconds that ours and each peer run a kernel for in a turn.
const OURS: u64 = 250;
const THEIRS: u64 = 400;

const LEAST_OF_EACH: f64 = 0.9;
const LEAST_OF_ALL: f64 = 1.2;

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let config = EngineConfig { keep_compiled: false, ..EngineConfig::default() };
    let space = desk::space(&bench.engine_with(config)?)?;
    let idle = workloads::named("trivial")?.ready(&space)?;
    let kernels = all()?;
    let ready = kernels.iter().map(|kernel| Ok((kernel, kernel.ready(&space)?))).collect::<Result<Vec<_>>>()?;
    let mut peers = bench.peers().await;
    peers.retain(|peer| peer.name == PEER || OTHERS.contains(&peer.name.as_str()));
    for peer in &peers {
        let mut pairs = Pairs::default();
        for (kernel, ready) in ready.iter().filter(|(kernel, _)| peer.can(&kernel.name)) {
            match pair(bench, peer, kernel, ready, &idle).await? {
                Ok((ours, theirs)) => pairs.push(ours, theirs),
                Err(error) => bench.report.note(format!("skipped: {}: {}: {error:#}", peer.name, kernel.name)),
            }
        }
        sums(bench, peer, &pairs, kernels.len());
    }
    if peers.is_empty() {
        for (kernel, ready) in &ready {
            let ours = evaluation(bench, ready, &idle).await?.ms();
            bench.report.add(&kernel.title(), ours, "ms");
        }
    }
    Ok(())
}

pub(crate) fn all() -> Result<Vec<Workload>> {
    Ok(workloads::all()?.into_iter().filter(|workload| workload.kind == Kind::Kernel).collect())
}

/// Measures ours and the peer's by turns.
async fn pair(
    bench: &mut Bench,
    peer: &Peer,
    kernel: &Workload,
    ready: &Ready,
    idle: &Ready,
) -> Result<Result<(f64, f64)>> {
    let budget = bench.pace.budget(THEIRS);
    let pair = by_turns(bench, ready, idle, async || peer.measure(&kernel.name, budget).await).await?;
    if let Ok((ours, theirs)) = pair
        && peer.name == PEER
    {
        bench.report.add(&kernel.title(), ours, "ms").faster_than(&peer.name, theirs).at_least(LEAST_OF_EACH);
    }
    Ok(pair)
}

/// Measures a kernel and a peer in turns. Returns the milliseconds of both, or why there are none of the peer.
pub(crate) async fn by_turns(
    bench: &Bench,
    ready: &Ready,
    idle: &Ready,
    mut peer: impl AsyncFnMut() -> Result<Measured>,
) -> Result<Result<(f64, f64)>> {
    let (mut ours, mut theirs) = (Evaluation::default(), f64::INFINITY);
    for _ in 0..TURNS {
        ours = ours.better_of(evaluation(bench, ready, idle).await?);
        theirs = match peer().await {
            Ok(measured) => theirs.min(measured.p50 / 1e3),
            Err(error) => return Ok(Err(error)),
        };
    }
    Ok(Ok((ours.ms(), theirs)))
}

/// Microseconds of a run with a kernel, and of one without anything.
pub(crate) struct Evaluation {
    pub(crate) busy: f64,
    pub(crate) idle: f64,
}

impl Default for Evaluation {
    fn default() -> Evaluation {
        Evaluation { busy: f64::INFINITY, idle: f64::INFINITY }
    }
}

impl Evaluation {
    /// Returns the better of both parts: the least of their differences would have a slow run without anything.
    pub(crate) fn better_of(self, other: Evaluation) -> Evaluation {
        Evaluation { busy: self.busy.min(other.busy), idle: self.idle.min(other.idle) }
    }

    /// Milliseconds of the kernel without those of the sandbox.
    pub(crate) fn ms(&self) -> f64 {
        (self.busy - self.idle) / 1e3
    }
}

/// Measures a kernel once.
pub(crate) async fn evaluation(bench: &Bench, ready: &Ready, idle: &Ready) -> Result<Evaluation> {
    let busy = ready.times(bench.pace.budget(OURS)).await?.p50;
    let idle = idle.times(bench.pace.budget(OURS / 10)).await?.p50;
    Ok(Evaluation { busy, idle })
}

/// The geometric mean, and beside the main peer the lowest ratio.
fn sums(bench: &mut Bench, peer: &Peer, pairs: &Pairs, all: usize) {
    let of_kernels = of_kernels(pairs.len(), all);
    if let Some((ours, theirs)) = pairs.mean() {
        let what = format!("geometric mean {of_kernels}");
        let row = bench.report.add(&what, ours, "ms").faster_than(&peer.name, theirs);
        if peer.name == PEER {
            row.at_least(LEAST_OF_ALL);
        }
    }
    if let Some((ours, theirs)) = pairs.least().filter(|_| peer.name == PEER) {
        let what = format!("{LEAST} {of_kernels}");
        bench.report.add(&what, ours, "ms").faster_than(&peer.name, theirs).at_least(LEAST_OF_EACH);
    }
}
