//! Parallel execution of all tests.

use crate::execute::{Ending, execute};
use crate::reasons;
use crate::selection::Selection;
use crate::suite::{Mode, Suite};
use agent_spaces::Space;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Result of one test in one mode.
pub(crate) struct Outcome {
    /// The test's place in the suite.
    pub(crate) test: usize,
    pub(crate) mode: Mode,
    pub(crate) ending: Ending,
    /// Reason of the failure, in the words of the baseline; `None` if it passed.
    pub(crate) reason: Option<String>,
    /// The fuel it took.
    pub(crate) fuel: u64,
}

impl Outcome {
    pub(crate) fn is_pass(&self) -> bool {
        self.reason.is_none()
    }
}

/// Runs between progress messages.
const PROGRESS_INTERVAL: usize = 10_000;

/// Runs every selected test in each of its modes; gives the outcomes in order.
pub(crate) fn run(space: Space, suite: &Arc<Suite>, selection: &Selection) -> Vec<Outcome> {
    let tests = suite.tests.iter().enumerate().filter(|(index, test)| selection.has(*index, &test.path));
    let all: Vec<(usize, Mode)> =
        tests.flat_map(|(index, test)| test.modes().iter().map(move |mode| (index, *mode))).collect();
    let (space, next) = (Arc::new(space), AtomicUsize::new(0));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        // A thread for each core, with an executor of its own: tests share nothing but the engine.
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(|| work(&space, suite, &all, &next))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("what tests do is caught")).collect()
    });
    outcomes.sort_by_key(|outcome| (outcome.test, outcome.mode));
    outcomes
}

/// Runs tests until none is left.
fn work(space: &Arc<Space>, suite: &Arc<Suite>, all: &[(usize, Mode)], next: &AtomicUsize) -> Vec<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let mut outcomes = Vec::new();
    loop {
        let turn = next.fetch_add(1, Ordering::Relaxed);
        let Some((test, mode)) = all.get(turn).copied() else { return outcomes };
        if turn > 0 && turn.is_multiple_of(PROGRESS_INTERVAL) {
            eprintln!("test262: {turn} of {} runs", all.len());
        }
        // A task of its own, so that a panic of the host is that test's ending.
        let (space, owned) = (space.clone(), suite.clone());
        let task = runtime.spawn(async move { execute(&space, &owned, &owned.tests[test], mode).await });
        let ending = runtime.block_on(task);
        let panic = |error: tokio::task::JoinError| (Ending::Ended("host.panic".into(), error.to_string()), 0);
        let (ending, fuel) = ending.unwrap_or_else(panic);
        let is_pass = ending.is_pass(&suite.tests[test].front);
        let reason = (!is_pass).then(|| reasons::reason(&suite.tests[test], &ending));
        outcomes.push(Outcome { test, mode, ending, reason, fuel });
    }
}
