//! Options of a run.

use crate::execution::depth;
use agent_spaces_calls::approval::Pending;
use agent_spaces_calls::host_memory::RunMemory;
use agent_spaces_calls::journal::RunJournal;
use agent_spaces_calls::parent::ParentCall;
use agent_spaces_calls::run_id;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::event::Event;
use agent_spaces_types::limits::Limits;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Options of a run.
#[derive(Default)]
pub struct RunOptions {
    /// Resource limits; `None` is those of the space: [`Program::limits`].
    ///
    /// [`Program::limits`]: crate::program::Program::limits
    pub limits: Option<Limits>,
    /// Receiver of its events.
    pub events: Option<mpsc::UnboundedSender<Event>>,
    /// Token that cancels the run within a few milliseconds: a computing one at its next yield, a waiting one at once.
    pub cancel: CancellationToken,
    /// Identity on whose behalf it runs.
    pub caller: Arc<Caller>,
    /// Pending approval requests, for a caller that lists them.
    pub pending: Option<Pending>,
    /// Call of another run that it answers.
    pub parent: Option<ParentCall>,
    /// Memory of the run whose call it answers, which it is charged to: see [`Call::memory`].
    ///
    /// [`Call::memory`]: agent_spaces_calls::call::Call::memory
    pub memory: Option<RunMemory>,
    /// Time already used: preparing the script counts towards the time limit.
    pub spent: Duration,
    /// Run id, if the host made it before the run: [`run_id::new`]. No two runs may have the same.
    pub run_id: Option<Arc<str>>,
    /// Journal of a durable run. It also gives the run its id.
    pub journal: Option<Arc<dyn RunJournal>>,
}

impl RunOptions {
    /// Returns the nesting depth of a run that starts here. Programs of agents run in tasks of their own, but the run that
    /// called the agent waits for them.
    pub(super) fn depth(&self) -> usize {
        depth().max(usize::from(self.caller.agent_depth))
    }

    /// Returns the run id, or a new one.
    pub(super) fn id(&self) -> Arc<str> {
        match (&self.journal, &self.run_id) {
            (Some(journal), _) => journal.run_id().clone(),
            (None, Some(id)) => id.clone(),
            (None, None) => run_id::new(),
        }
    }
}
