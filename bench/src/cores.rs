//! Scaling over cores: isolated runs on all cores, and the gain of a second thread.

use crate::bench::Bench;
use crate::{proc, spaces, workloads};
use agent_spaces::{Program, RunOptions};
use anyhow::Result;
use std::hint::black_box;
use std::time::Instant;

const RUNS_OF_EACH: usize = 5_000;
const TRIES: usize = 5;
/// Some tens of milliseconds.
const ADDITIONS: u64 = 30_000_000;
const COMPUTATIONS: usize = 10;

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let space = spaces::empty(&bench.engine()?)?;
    let program = space.prepare("bench.js", "1 + 1")?;
    let each = bench.pace.rounds(RUNS_OF_EACH);
    let cores = proc::cores();
    let mut most = 0f64;
    for _ in 0..TRIES {
        most = most.max(rate(&program, cores, each).await?);
    }
    bench
        .report
        .add(&format!("isolated runs on {cores} cores"), most, "per second")
        .more_is_better()
        .at_least(10_000.0);
    if cores < 2 {
        bench.report.note("skipped: two busy threads against one: there is one core");
        return Ok(());
    }
    let kernel = space.prepare("integers.js", &workloads::named("integers")?.source()?)?;
    for (what, program, each) in [("fresh runs", &program, each / 2), ("a kernel", &kernel, COMPUTATIONS)] {
        // The best of each: other load only ever slows down.
        let (mut ours, mut control) = ([0f64; 2], [0f64; 2]);
        for _ in 0..TRIES {
            for threads in [1, 2] {
                ours[threads - 1] = ours[threads - 1].max(rate(program, threads, each).await?);
                control[threads - 1] = control[threads - 1].max(plain_rate(threads));
            }
        }
        let row = bench.report.add(&format!("two busy threads against one, {what}"), ours[1] / ours[0], "times");
        row.against("additions in plain threads", control[1] / control[0]).more_is_better();
    }
    Ok(())
}

/// Runs per second of this many tasks with this many sequential runs each.
async fn rate(program: &Program, tasks: usize, each: usize) -> Result<f64> {
    let begun = Instant::now();
    let started = (0..tasks).map(|_| {
        let program = program.clone();
        tokio::spawn(async move {
            for _ in 0..each {
                program.run(RunOptions::default()).await.outcome?;
            }
            anyhow::Ok(())
        })
    });
    for task in started.collect::<Vec<_>>() {
        task.await??;
    }
    Ok((tasks * each) as f64 / begun.elapsed().as_secs_f64())
}

/// Additions per second of this many independent threads.
fn plain_rate(threads: usize) -> f64 {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| (0..ADDITIONS).fold(0u64, |sum, i| black_box(sum.wrapping_mul(31).wrapping_add(i))));
        }
    });
    threads as f64 / begun.elapsed().as_secs_f64()
}
