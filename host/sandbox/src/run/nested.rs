//! Nested runs: runs inside another run's handler.
//!
//! Wasmtime does not support polling one store from within a call of another on the same stack, so a nested run gets a
//! task of its own.

use super::drive::{RunOptions, drive};
use super::outcome::RunReport;
use crate::program::Program;
use agent_spaces_types::code::Code;
use agent_spaces_types::run_error::RunError;
use std::cell::Cell;
use std::sync::Arc;
use tokio::task::JoinHandle;

thread_local! {
    /// Nesting depth of the run that this thread polls.
    static POLLED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Marks this thread as polling a run of this depth during `poll`.
pub(super) fn polling<T>(depth: usize, poll: impl FnOnce() -> T) -> T {
    /// Restores the mark even if the poll panics.
    struct Restore(Option<usize>);
    impl Drop for Restore {
        fn drop(&mut self) {
            POLLED.set(self.0);
        }
    }
    let _restore = Restore(POLLED.replace(Some(depth)));
    poll()
}

/// Returns the nesting depth of a run that starts here.
pub(super) fn depth() -> usize {
    POLLED.get().map_or(0, |depth| depth + 1)
}

/// Runs a program inline, or in a task of its own within another run's handler.
pub async fn run(program: &Program, run_id: Arc<str>, options: RunOptions) -> RunReport {
    let depth = depth();
    if depth == 0 {
        return drive(program, run_id, options, depth).await;
    }
    let program = program.clone();
    let id = run_id.clone();
    let mut task = AbortOnDrop(tokio::spawn(async move { drive(&program, id, options, depth).await }));
    (&mut task.0).await.unwrap_or_else(|error| RunReport {
        run_id,
        outcome: Err(RunError::new(Code::HostEngine, format!("The run's task failed: {error}"))),
        has_value: false,
        console: Vec::new(),
        usage: Default::default(),
    })
}

/// Runs a future in a task of its own, which is aborted when the caller is dropped. Returns `None` if it panics.
pub async fn in_own_task<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Option<T> {
    let mut task = AbortOnDrop(tokio::spawn(work));
    (&mut task.0).await.ok()
}

/// Task that is aborted when the handle is dropped.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
