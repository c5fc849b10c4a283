//! Timing of repeated work.

use agent_spaces::{Program, RunOptions};
use anyhow::Result;
use std::time::{Duration, Instant};

/// Quantiles in microseconds.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

/// Turns of ours and a peer, of which the best median of each counts: other load, and a processor that slows down for seconds,
/// only ever raise one.
pub(crate) const TURNS: usize = 3;

/// Minimum number of rounds, whatever the budget.
const LEAST_ROUNDS: usize = 5;

/// Times `count` rounds after a warm-up of a tenth of that.
pub(crate) async fn times<F: Future>(count: usize, mut work: impl FnMut() -> F) -> Times {
    for _ in 0..count / 10 {
        work().await;
    }
    let mut samples = Vec::with_capacity(count);
    for _ in 0..count {
        let begun = Instant::now();
        work().await;
        samples.push(microseconds(begun));
    }
    Times::of(samples)
}

/// Runs a program `count` times from a task of the runtime, as the command and the server do: runs that answer its
/// calls then continue on the same thread.
pub(crate) async fn times_in_task(count: usize, program: &Program) -> Result<Times> {
    let program = program.clone();
    Ok(tokio::spawn(async move { times(count, || program.run(RunOptions::default())).await }).await?)
}

/// Times rounds within a budget after a warm-up of a tenth of it, and checks each result.
pub(crate) async fn times_within<F: Future>(
    budget: Duration,
    mut work: impl FnMut() -> F,
    check: impl Fn(F::Output) -> Result<()>,
) -> Result<Times> {
    let begun = Instant::now();
    while begun.elapsed() < budget / 10 {
        check(work().await)?;
    }
    let (begun, mut samples) = (Instant::now(), Vec::new());
    while samples.len() < LEAST_ROUNDS || begun.elapsed() < budget {
        let round = Instant::now();
        let answer = work().await;
        samples.push(microseconds(round));
        check(answer)?;
    }
    Ok(Times::of(samples))
}

impl Times {
    fn of(mut samples: Vec<f64>) -> Times {
        samples.sort_by(f64::total_cmp);
        Times { p50: samples[samples.len() / 2], p99: samples[samples.len() * 99 / 100] }
    }

    /// Returns the one with the lower median: other load only ever raises it.
    pub(crate) fn better_of(self, other: Times) -> Times {
        if other.p50 < self.p50 { other } else { self }
    }
}

fn microseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
}

/// The least of some figures.
pub(crate) fn least(figures: impl IntoIterator<Item = f64>) -> f64 {
    figures.into_iter().fold(f64::INFINITY, f64::min)
}
