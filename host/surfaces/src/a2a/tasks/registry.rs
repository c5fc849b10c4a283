//! Tasks that are worked on in this process.

use super::Tasks;
use super::live::Live;
use crate::a2a::bounds::{MAX_CALLER_LIVE, MAX_LIVE};
use crate::a2a::error::{A2aError, ErrorKind};
use crate::a2a::types::TaskState;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

impl Tasks {
    /// Counts a task among those that are worked on.
    pub(super) fn register(&self, live: Live) -> Result<(Arc<Live>, Registered), A2aError> {
        let mut entries = self.entries();
        let of_caller: Vec<&Arc<Live>> = entries.values().filter(|other| other.owner == live.owner).collect();
        if self.0.stopping.is_cancelled() || entries.len() >= MAX_LIVE || of_caller.len() >= MAX_CALLER_LIVE {
            return Err(A2aError::new(ErrorKind::Busy, "Too many tasks are worked on: try again later"));
        }
        let is_same = |other: &Live| other.agent == live.agent && other.context == live.context && !other.is_over();
        let busy = of_caller.iter().find(|other| is_same(other));
        if let Some(other) = busy {
            let message = format!(
                "The context is busy with task {}: wait until it is over, answer it if it needs input, or send the \
                 message without `contextId`",
                other.id
            );
            return Err(A2aError::of_task(ErrorKind::Unsupported, &other.id, message));
        }
        let live = Arc::new(live);
        entries.insert(live.id.clone(), live.clone());
        self.0.count.send_replace(entries.len());
        Ok((live.clone(), Registered { tasks: self.clone(), live }))
    }

    pub(super) fn entries(&self) -> MutexGuard<'_, HashMap<String, Arc<Live>>> {
        self.0.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no task is worked on.
    pub(in crate::a2a) async fn drained(&self) {
        let mut count = self.0.count.subscribe();
        // The sender is this one's own.
        let _ = count.wait_for(|count| *count == 0).await;
    }

    /// Ends all tasks, and takes no more.
    pub(in crate::a2a) fn stop(&self) {
        self.0.stopping.cancel();
    }
}

/// A task that is counted, until this is dropped. Nothing works on it then: it is over.
pub(super) struct Registered {
    tasks: Tasks,
    live: Arc<Live>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        // Otherwise those who wait for it would wait forever after a panic.
        self.live.finish(TaskState::Failed, Some("The server failed"), Vec::new());
        let mut entries = self.tasks.entries();
        entries.remove(&self.live.id);
        self.tasks.0.count.send_replace(entries.len());
        self.live.ended.cancel();
    }
}
