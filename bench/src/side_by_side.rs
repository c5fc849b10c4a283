//! Every workload in a fresh sandbox, ours and each peer's.
//!
//! Ours is measured before and after each peer, so that both see the same load; the trivial script in three turns,
//! since it is so short that momentary load dominates.

use crate::bench::Bench;
use crate::peers::Measured;
use crate::report::Row;
use crate::timing::TURNS;
use crate::workloads::{self, Kind, Workload};
use crate::{desk, waiting};
use agent_spaces::Space;
use anyhow::{Context, Result};

const GROUP: &str = "workloads";
const TRIVIAL: &str = "trivial";
/// Milliseconds that ours and each peer run a workload for.
const OURS: u64 = 300;
const THEIRS: u64 = 800;
/// The same workload at five sizes takes half as long each.
const SIZES: &str = "results-";

/// Minimum speedups over peers.
const BOUNDS: [(&str, &str, f64); 6] = [
    (TRIVIAL, "quickjs-emscripten", 15.0),
    (TRIVIAL, "quickjs-wasi", 50.0),
    (TRIVIAL, "quickjs-wasi-restore", 50.0),
    (TRIVIAL, "node-vm", 15.0),
    (TRIVIAL, "deno", 800.0),
    ("records", "quickjs-emscripten", 1.0),
];

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    for workload in workloads::all()? {
        if matches!(workload.kind, Kind::Script | Kind::Calls) && workload.name != waiting::WORKLOAD {
            let space = desk::space(&bench.engine()?)?;
            beside_peers(bench, &space, &workload).await.with_context(|| workload.name.clone())?;
        }
    }
    Ok(())
}

async fn beside_peers(bench: &mut Bench, space: &Space, workload: &Workload) -> Result<()> {
    let (ready, what) = (workload.ready(space)?, workload.title());
    let share = if workload.name.starts_with(SIZES) { 2 } else { 1 };
    let (own, theirs) = (bench.pace.budget(OURS / share), bench.pace.budget(THEIRS / share));
    let turns = if workload.name == TRIVIAL { TURNS } else { 1 };
    let mut before = ready.times(own).await?;
    let mut is_compared = false;
    for peer in bench.peers().await.iter().filter(|peer| peer.can(&workload.name)) {
        let mut ours = before;
        let mut measured: Option<Measured> = None;
        for _ in 0..turns {
            let turn = match peer.measure(&workload.name, theirs).await {
                Ok(turn) => turn,
                Err(error) => {
                    let skipped = if measured.is_some() { "fewer turns" } else { "skipped" };
                    bench.report.note(format!("{skipped}: {}: {}: {error:#}", peer.name, workload.name));
                    break;
                }
            };
            before = ready.times(own).await?;
            ours = ours.better_of(before);
            measured = Some(match measured {
                Some(other) => other.better_of(turn),
                None => turn,
            });
        }
        let Some(measured) = measured else { continue };
        is_compared = true;
        let row = bench.report.add(&what, ours.p50, "µs").p99(ours.p99);
        let row = row.faster_than(&peer.name, measured.p50).peer_p99(measured.p99);
        if let Some((.., bound)) = BOUNDS.iter().find(|(name, than, _)| *name == workload.name && *than == peer.name) {
            row.at_least(*bound);
        }
    }
    if !is_compared {
        bench.report.add(&what, before.p50, "µs").p99(before.p99);
    }
    Ok(())
}

/// True for a row of the trivial script.
pub(crate) fn is_trivial(row: &Row) -> bool {
    row.group == GROUP && row.what.split(':').next() == Some(TRIVIAL)
}
