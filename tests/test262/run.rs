//! All tests, on all cores.

use crate::execute::{Ending, execute};
use crate::suite::{Mode, Suite};
use agent_spaces::Space;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What came of one test in one mode.
pub(crate) struct Outcome {
    /// The test's place in the suite.
    pub(crate) test: usize,
    pub(crate) mode: Mode,
    pub(crate) is_pass: bool,
    pub(crate) ending: Ending,
}

/// How often the progress is told, in runs.
const PROGRESS_INTERVAL: usize = 10_000;

/// Runs every test whose path has the filter in it, in each of its modes; gives the outcomes in order.
pub(crate) async fn run(space: Arc<Space>, suite: Arc<Suite>, filter: &str) -> Vec<Outcome> {
    let tests = suite.tests.iter().enumerate().filter(|(_, test)| test.path.contains(filter));
    let all = tests.flat_map(|(index, test)| test.modes().iter().map(move |mode| (index, *mode)));
    let all: Arc<Vec<(usize, Mode)>> = Arc::new(all.collect());
    let next = Arc::new(AtomicUsize::new(0));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers: Vec<_> = (0..cores)
        .map(|_| tokio::spawn(work(space.clone(), suite.clone(), all.clone(), next.clone())))
        .collect();
    let mut outcomes = Vec::with_capacity(all.len());
    for worker in workers {
        outcomes.extend(worker.await.expect("a worker catches what its tests do"));
    }
    outcomes.sort_by_key(|outcome| (outcome.test, outcome.mode));
    outcomes
}

async fn work(
    space: Arc<Space>,
    suite: Arc<Suite>,
    all: Arc<Vec<(usize, Mode)>>,
    next: Arc<AtomicUsize>,
) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    loop {
        let turn = next.fetch_add(1, Ordering::Relaxed);
        let Some((test, mode)) = all.get(turn).copied() else { return outcomes };
        if turn > 0 && turn % PROGRESS_INTERVAL == 0 {
            eprintln!("{turn} of {} runs", all.len());
        }
        // A task of its own, so that a panic of the host is that test's ending.
        let (space, suite) = (space.clone(), suite.clone());
        let task = tokio::spawn({
            let suite = suite.clone();
            async move { execute(&space, &suite, &suite.tests[test], mode).await }
        });
        let ending = task.await.unwrap_or_else(|error| Ending::Ended("host.panic".into(), error.to_string()));
        let is_pass = ending.is_pass(&suite.tests[test].front);
        outcomes.push(Outcome { test, mode, is_pass, ending });
    }
}
