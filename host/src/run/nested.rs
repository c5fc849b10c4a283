//! A run inside another run's handler.
//!
//! Wasmtime drives a store's calls from one place on a thread's stack, so a run that is polled from
//! within another one's call goes to a task of its own.

use super::drive::{RunOptions, drive};
use super::outcome::RunReport;
use crate::error_report::RunError;
use crate::program::Program;
use std::cell::Cell;
use std::sync::Arc;
use tokio::task::JoinHandle;

thread_local! {
    /// In how many others the run is that this thread polls.
    static POLLED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Marks this thread as polling a run inside so many others for as long as `poll` takes.
pub(crate) fn polling<T>(depth: usize, poll: impl FnOnce() -> T) -> T {
    /// Unmarks the thread even if the poll panics.
    struct Restore(Option<usize>);
    impl Drop for Restore {
        fn drop(&mut self) {
            POLLED.set(self.0);
        }
    }
    let _restore = Restore(POLLED.replace(Some(depth)));
    poll()
}

/// In how many others a run is that begins here.
pub(super) fn depth() -> usize {
    POLLED.get().map_or(0, |depth| depth + 1)
}

/// Runs a program here, or in a task of its own if this is another run's handler.
pub(crate) async fn run(program: &Program, run_id: Arc<str>, options: RunOptions) -> RunReport {
    let depth = depth();
    if depth == 0 {
        return drive(program, run_id, options, depth).await;
    }
    let program = program.clone();
    let id = run_id.clone();
    let mut task = Apart(tokio::spawn(async move { drive(&program, id, options, depth).await }));
    (&mut task.0).await.unwrap_or_else(|error| RunReport {
        run_id,
        outcome: Err(RunError::new("host.engine", format!("The run's task failed: {error}"))),
        has_value: false,
        console: Vec::new(),
        usage: Default::default(),
    })
}

/// Does something in a task of its own, which ends with whoever waits for it. Nothing where it panics.
#[cfg(feature = "compiler")]
pub(crate) async fn apart<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Option<T> {
    let mut task = Apart(tokio::spawn(work));
    (&mut task.0).await.ok()
}

/// A task that ends with whoever waits for it.
struct Apart<T>(JoinHandle<T>);

impl<T> Drop for Apart<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
