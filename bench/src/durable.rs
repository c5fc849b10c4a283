//! Durable runs: the cost of a journal, of durable calls, of parked runs, and the speed of replay.

use crate::bench::Bench;
use crate::timing::{least, times};
use crate::{proc, spaces};
use agent_spaces::durable::verify::verify;
use agent_spaces::durable::{DurableRuns, RunInfo, Settings, State};
use agent_spaces::journal::{Filter, SqliteStore, Status};
use agent_spaces::{Limits, Program, RunOptions};
use anyhow::{Context, Result, ensure};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const ROUNDS: usize = 2_000;
/// Calls of one run.
const CALLS: u64 = 20;
/// Runs that make calls at once.
const CONCURRENT: [usize; 3] = [1, 16, 64];
const PARKED: usize = 10_000;

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let runs = durable(&folder, Settings::default())?;
    without_calls(bench, &runs).await?;
    calls(bench, &runs).await?;
    replay(bench, &runs).await?;
    runs.store().flush().await?;
    parked(bench).await
}

fn durable(folder: &TempDir, settings: Settings) -> Result<DurableRuns> {
    let store = SqliteStore::open(folder.path(), Default::default())?;
    Ok(DurableRuns::new(Arc::new(store), settings))
}

async fn run(runs: &DurableRuns, program: &Program) -> Result<State> {
    let done = runs.run(program, RunOptions::default(), RunInfo::default()).await?;
    if done.state == State::Ended {
        done.report.outcome?;
    }
    Ok(done.state)
}

/// A run without calls waits for no disk.
async fn without_calls(bench: &mut Bench, runs: &DurableRuns) -> Result<()> {
    let program = spaces::empty(&bench.engine()?)?.prepare("bench.js", "1 + 1")?;
    let rounds = bench.pace.rounds(ROUNDS) / 5;
    let (mut plain, mut durable) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        plain.push(times(rounds, || program.run(RunOptions::default())).await.p50);
        durable.push(times(rounds, || run(runs, &program)).await.p50);
        // The queue is bounded; a host that starts nothing but such runs is as fast as its disk.
        runs.store().flush().await?;
    }
    let (plain, durable) = (least(plain), least(durable));
    drop(bench.report.add("durable run of `1 + 1`", durable, "µs").against("plain run", plain));
    bench.report.add("what the journal adds to it", durable - plain, "µs").at_most(50.0);
    Ok(())
}

fn caller(bench: &mut Bench) -> Result<Program> {
    let script = format!(
        "import {{ trains }} from '@capabilities/trains';
         for (let i = 0; i < {CALLS}; i++) await trains.get({{ count: 1 }});"
    );
    Ok(spaces::trains(&bench.engine()?)?.prepare("bench.js", &script)?)
}

/// Calls that may not be repeated wait for the disk before they leave; runs share its flushes.
async fn calls(bench: &mut Bench, runs: &DurableRuns) -> Result<()> {
    let program = caller(bench)?;
    let plain = least([times(bench.pace.rounds(200), || program.run(RunOptions::default())).await.p50]);
    for concurrent in CONCURRENT {
        let rounds = bench.pace.rounds(20);
        let begun = Instant::now();
        for _ in 0..rounds {
            let tasks: Vec<_> = (0..concurrent)
                .map(|_| {
                    let (runs, program) = (runs.clone(), program.clone());
                    tokio::spawn(async move { run(&runs, &program).await })
                })
                .collect();
            for task in tasks {
                task.await??;
            }
        }
        let calls = (rounds * concurrent) as f64 * CALLS as f64;
        let per_second = calls / begun.elapsed().as_secs_f64();
        let each = begun.elapsed().as_secs_f64() * 1e6 * concurrent as f64 / calls;
        let what = format!("durable call, {concurrent} runs at once");
        drop(bench.report.add(&what, each, "µs").against("plain call", plain / CALLS as f64));
        let row =
            bench.report.add(&format!("durable calls per second, {concurrent} runs at once"), per_second, "calls/s");
        if concurrent == 64 {
            drop(row.at_least(5_000.0));
        }
    }
    Ok(())
}

/// A replay executes the script again, with recorded answers.
async fn replay(bench: &mut Bench, runs: &DurableRuns) -> Result<()> {
    let program = caller(bench)?;
    let engine = bench.engine()?;
    let done = runs.run(&program, RunOptions::default(), RunInfo::default()).await?;
    runs.store().flush().await?;
    let id = done.report.run_id;
    let checked = verify(runs.store(), &id, &engine).await?;
    ensure!(checked.diverged.is_none(), "the replay diverged: {:?}", checked.diverged);
    let each = times(bench.pace.rounds(50), || verify(runs.store(), &id, &engine)).await.p50;
    bench.report.add(&format!("replay of a run with {CALLS} calls"), each, "µs");
    Ok(())
}

/// Parked runs are rows.
async fn parked(bench: &mut Bench) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let settings = Settings { park_after: Duration::from_millis(1), ..Settings::default() };
    let runs = durable(&folder, settings)?;
    let script = "await new Promise((done) => setTimeout(done, 3_600_000)); 1";
    let space = spaces::empty(&bench.engine()?)?;
    let program = space.prepare("bench.js", script)?;
    let limits = Limits { time: Duration::from_secs(7_200), ..Limits::default() };
    let count = bench.pace.rounds(PARKED);
    // The first run stores program and engine.
    park(&runs, &program, &limits).await?;
    runs.store().flush().await?;
    let (size, memory) = (runs.store().size().await?, proc::resident_bytes());
    for batch in 0..count.div_ceil(100) {
        let tasks: Vec<_> = (0..(count - batch * 100).min(100))
            .map(|_| {
                let (runs, program, limits) = (runs.clone(), program.clone(), limits.clone());
                tokio::spawn(async move { park(&runs, &program, &limits).await })
            })
            .collect();
        for task in tasks {
            task.await??;
        }
    }
    runs.store().flush().await?;
    let grown = runs.store().size().await?.bytes.saturating_sub(size.bytes) as f64 / count as f64;
    bench.report.add(&format!("disk of each of {count} parked runs"), grown, "bytes");
    let memory = proc::resident_bytes().saturating_sub(memory) as f64 / count as f64;
    bench.report.add(&format!("memory of each of {count} parked runs"), memory, "bytes").at_most(4_096.0);
    let filter = Filter { statuses: vec![Status::Parked], limit: 1, ..Filter::default() };
    let one = runs.store().list(filter).await?.into_iter().next().context("a parked run")?;
    let begun = Instant::now();
    runs.store().request_cancel(&one.id).await?;
    let done = runs.resume(&one.id, &space, RunOptions::default()).await?;
    ensure!(done.state == State::Ended, "{:?}", done.state);
    bench.report.add("from the wake-up of one of them to its end", begun.elapsed().as_secs_f64() * 1e6, "µs");
    Ok(())
}

async fn park(runs: &DurableRuns, program: &Program, limits: &Limits) -> Result<()> {
    let options = RunOptions { limits: Some(limits.clone()), ..RunOptions::default() };
    let done = runs.run(program, options, RunInfo::default()).await?;
    ensure!(matches!(done.state, State::Parked(_)), "{:?}: {:?}", done.state, done.report.outcome);
    Ok(())
}
