//! Handle of a run that executes in a task of its own.

use super::drive::{drive, span};
use super::options::RunOptions;
use super::report::RunReport;
use crate::program::Program;
use agent_spaces_calls::approval::{Pending, Request};
use agent_spaces_types::event::Event;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Status of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RunStatus {
    /// It is running or finished.
    Running,
    /// Some of its calls wait for approval. The rest of the script continues.
    AwaitingApproval(Vec<Arc<Request>>),
}

/// Handle of a run that executes in a task of its own.
pub struct Run {
    id: Arc<str>,
    cancel: CancellationToken,
    pending: Pending,
    events: mpsc::UnboundedReceiver<Event>,
    task: JoinHandle<RunReport>,
}

impl Run {
    /// Starts a program in a task of its own.
    pub(super) fn start(program: Program, options: RunOptions) -> Run {
        let (sender, events) = mpsc::unbounded_channel();
        let cancel = options.cancel.clone();
        let id = options.id();
        let pending = options.pending.unwrap_or_else(|| program.sandbox().rules().pending());
        let options = RunOptions { events: Some(sender), pending: Some(pending.clone()), ..options };
        let task = tokio::spawn({
            let (id, depth, span) = (id.clone(), options.depth(), span(&id, &options));
            async move { drive(&program, id, options, depth, span).await }
        });
        Run { id, cancel, pending, events, task }
    }

    /// Returns the run id: `run_…`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the token that cancels the run.
    pub fn cancellation_token(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Returns the status: running, or waiting for approval.
    pub fn status(&self) -> RunStatus {
        match self.pending.list() {
            requests if requests.is_empty() => RunStatus::Running,
            requests => RunStatus::AwaitingApproval(requests),
        }
    }

    /// Waits for the next event. Returns `None` when the run is over.
    pub async fn next_event(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Waits for the end of the run.
    pub async fn finish(self) -> RunReport {
        self.task.await.unwrap_or_else(|error| RunReport::task_failed(self.id, &error))
    }
}
