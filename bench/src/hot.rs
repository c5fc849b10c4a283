//! Kernels that run often: scripts that are kept compiled, and handlers, beside peers that keep what they compiled.
//!
//! Each of our runs and calls still has a fresh sandbox, whose time is subtracted; a peer calls a function again and
//! again in one sandbox, which is the best that it can do.

use crate::bench::{Bench, Pace};
use crate::kernels::{self, PEER, by_turns, evaluation};
use crate::pairs::{Pairs, of_kernels};
use crate::peers::Peer;
use crate::timing::times_within;
use crate::workloads::{self, Ready, Workload};
use crate::{desk, providers};
use agent_spaces::{Engine, Limits, Program, RunOptions, RunReport, Space};
use anyhow::{Context, Result};
use std::time::Duration;
use tempfile::TempDir;

/// The second has a compiler for what is hot.
const PEERS: [&str; 2] = [PEER, "isolated-vm"];
const THEIRS: u64 = 400;
const HANDLER: u64 = 400;

/// Calls of a handler before it is measured: more than make it hot.
const CALLS_BEFORE: usize = 20;
/// Longest time that compiling the functions of a hot script takes.
const COMPILING: Duration = Duration::from_millis(500);

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let space = desk::space(&bench.engine()?)?;
    let idle = workloads::named("trivial")?.ready(&space)?;
    idle.keep().await?;
    let kernels = kernels::all()?;
    let mut ready = Vec::new();
    for kernel in &kernels {
        let own = kernel.ready(&space)?;
        own.keep().await.with_context(|| kernel.name.clone())?;
        ready.push((kernel, own));
    }
    // Their functions are compiled after that.
    tokio::time::sleep(COMPILING).await;
    let engine = bench.engine()?;
    let handlers = handlers(bench.pace, &engine, &kernels).await?;
    let mut peers = bench.peers().await;
    peers.retain(|peer| PEERS.contains(&peer.name.as_str()));
    for peer in &peers {
        let (mut scripts, mut calls) = (Pairs::default(), Pairs::default());
        for ((kernel, ready), handler) in ready.iter().zip(&handlers) {
            match pair(bench, peer, kernel, ready, &idle).await? {
                Ok((ours, theirs)) => {
                    scripts.push(ours, theirs);
                    calls.push(*handler, theirs);
                }
                Err(error) => bench.report.note(format!("skipped: {}: {} hot: {error:#}", peer.name, kernel.name)),
            }
        }
        for (what, pairs) in [("kept scripts", &scripts), ("handlers", &calls)] {
            let Some((ours, theirs)) = pairs.mean() else { continue };
            let what = format!("geometric mean {} as {what}", of_kernels(pairs.len(), kernels.len()));
            bench.report.add(&what, ours, "ms").faster_than(&peer.name, theirs);
        }
    }
    if peers.is_empty() {
        for (kernel, ready) in &ready {
            let ours = evaluation(bench, ready, &idle).await?.ms();
            bench.report.add(&title(kernel), ours, "ms");
        }
    }
    Ok(())
}

fn title(kernel: &Workload) -> String {
    format!("{}, kept", kernel.title())
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
    let pair = by_turns(bench, ready, idle, async || peer.measure_hot(&kernel.name, budget).await).await?;
    if let Ok((ours, theirs)) = pair {
        bench.report.add(&title(kernel), ours, "ms").faster_than(&peer.name, theirs);
    }
    Ok(pair)
}

/// Milliseconds of one call of each kernel as a handler, without those of a handler that only answers.
async fn handlers(pace: Pace, engine: &Engine, kernels: &[Workload]) -> Result<Vec<f64>> {
    let empty = Handler::of(engine, "export const note = ({ text }) => text;").await?;
    let mut times = Vec::new();
    for kernel in kernels {
        let handler = Handler::of(engine, &source(kernel)?).await?;
        let answers = |report: RunReport| {
            let answer = workloads::answer(&report)?;
            kernel.check(&serde_json::from_str(answer.as_str().context("the handler answered no text")?)?)
        };
        let idle =
            times_within(pace.budget(HANDLER / 10), || empty.call(), |report| workloads::answer(&report).map(|_| ()))
                .await?;
        for _ in 0..CALLS_BEFORE {
            handler.call().await;
        }
        tokio::time::sleep(COMPILING).await;
        let busy = times_within(pace.budget(HANDLER), || handler.call(), answers).await;
        times.push((busy.with_context(|| format!("{} as a handler", kernel.name))?.p50 - idle.p50) / 1e3);
    }
    Ok(times)
}

/// The kernel as a handler, which answers with its answer as text.
fn source(kernel: &Workload) -> Result<String> {
    let source = kernel.source()?;
    let (body, answer) = source.rsplit_once("export default ").context("the kernel has no answer")?;
    Ok(format!("{body}export const note = () => JSON.stringify({});\n", answer.trim_end().trim_end_matches(';')))
}

/// A script that calls a handler once.
struct Handler {
    program: Program,
    _space: Space,
    _files: TempDir,
}

impl Handler {
    async fn of(engine: &Engine, source: &str) -> Result<Handler> {
        let files = providers::written(source)?;
        let (_, space) = providers::first_call(files.path(), engine).await?;
        let script = "import { desk } from '@capabilities/desk'; export default await desk.note({ text: 'four' });";
        Ok(Handler { program: space.prepare("bench.js", script)?, _space: space, _files: files })
    }

    fn call(&self) -> impl Future<Output = RunReport> {
        let limits = Limits { fuel: workloads::FUEL, ..Limits::default() };
        self.program.run(RunOptions { limits: Some(limits), ..RunOptions::default() })
    }
}
