//! Compute-bound JavaScript with fuel metering, compared with other engines.
//!
//! Peers report the time of the evaluation only. Ours includes creating the sandbox, so the time of a trivial run is
//! subtracted.

use crate::bench::Bench;
use crate::desk;
use crate::peers::Peer;
use crate::workloads::{self, Kind, Ready, Workload};
use anyhow::Result;

pub(crate) const GROUP: &str = "kernels";
/// Main peer; the others have one row each.
pub(crate) const PEER: &str = "quickjs-emscripten";
const OTHERS: [&str; 4] = ["quickjs-ng", "quickjs-wasi", "node-vm", "isolated-vm"];

/// Milliseconds that ours and each peer run a kernel for.
const OURS: u64 = 400;
const THEIRS: u64 = 600;

const LEAST_OF_EACH: f64 = 0.8;
const LEAST_OF_ALL: f64 = 1.2;

/// The milliseconds of each kernel, ours and theirs.
type Pairs = Vec<(f64, f64)>;

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let space = desk::space(&bench.engine()?)?;
    let idle = workloads::named("trivial")?.ready(&space)?;
    let kernels: Vec<Workload> = workloads::all()?.into_iter().filter(|one| one.kind == Kind::Kernel).collect();
    let ready = kernels.iter().map(|kernel| Ok((kernel, kernel.ready(&space)?))).collect::<Result<Vec<_>>>()?;
    let mut peers = bench.peers().await;
    peers.retain(|peer| peer.name == PEER || OTHERS.contains(&peer.name.as_str()));
    for peer in &peers {
        let mut pairs = Pairs::new();
        for (kernel, ready) in ready.iter().filter(|(kernel, _)| peer.can(&kernel.name)) {
            match pair(bench, peer, kernel, ready, &idle).await? {
                Ok(pair) => pairs.push(pair),
                Err(error) => bench.report.note(format!("skipped: {}: {}: {error:#}", peer.name, kernel.name)),
            }
        }
        mean(bench, peer, &pairs, kernels.len());
    }
    if peers.is_empty() {
        for (kernel, ready) in &ready {
            let ours = evaluation(bench, ready, &idle).await?;
            bench.report.add(&kernel.title(), ours, "ms");
        }
    }
    Ok(())
}

/// Measures ours before and after the peer's.
async fn pair(
    bench: &mut Bench,
    peer: &Peer,
    kernel: &Workload,
    ready: &Ready,
    idle: &Ready,
) -> Result<Result<(f64, f64)>> {
    let before = evaluation(bench, ready, idle).await?;
    let theirs = match peer.measure(&kernel.name, bench.pace.budget(THEIRS)).await {
        Ok(measured) => measured.p50 / 1e3,
        Err(error) => return Ok(Err(error)),
    };
    let ours = before.min(evaluation(bench, ready, idle).await?);
    if peer.name == PEER {
        bench.report.add(&kernel.title(), ours, "ms").faster_than(&peer.name, theirs).at_least(LEAST_OF_EACH);
    }
    Ok(Ok((ours, theirs)))
}

/// Milliseconds of a kernel without those of the sandbox.
pub(crate) async fn evaluation(bench: &Bench, ready: &Ready, idle: &Ready) -> Result<f64> {
    let busy = ready.times(bench.pace.budget(OURS)).await?.p50;
    let idle = idle.times(bench.pace.budget(OURS / 10)).await?.p50;
    Ok((busy - idle) / 1e3)
}

fn mean(bench: &mut Bench, peer: &Peer, pairs: &Pairs, all: usize) {
    if pairs.is_empty() {
        return;
    }
    let mean =
        |of: fn(&(f64, f64)) -> f64| (pairs.iter().map(|pair| of(pair).ln()).sum::<f64>() / pairs.len() as f64).exp();
    let what = match pairs.len() {
        some if some < all => format!("geometric mean of {some} kernels"),
        _ => "geometric mean of the kernels".to_owned(),
    };
    let row = bench.report.add(&what, mean(|pair| pair.0), "ms").faster_than(&peer.name, mean(|pair| pair.1));
    if peer.name == PEER {
        row.at_least(LEAST_OF_ALL);
    }
}
