//! Nested executions: those inside another run's handler.
//!
//! Wasmtime does not support polling one store from within a call of another on the same stack, so a nested run gets a
//! task of its own, which takes turns on the processors like the run that waits for it.

use agent_spaces_calls::turns::{Turns, in_turn};
use std::cell::Cell;
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
pub(crate) fn depth() -> usize {
    POLLED.get().map_or(0, |depth| depth + 1)
}

/// Runs a future in a task of its own, which is aborted when the caller is dropped. Returns `None` if it panics.
pub async fn in_own_task<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Option<T> {
    let mut task = AbortOnDrop(tokio::spawn(in_turn(Turns::current(), work)));
    (&mut task.0).await.ok().flatten()
}

/// Task that is aborted when the handle is dropped.
pub(crate) struct AbortOnDrop<T>(pub(crate) JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
