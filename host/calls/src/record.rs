//! `RunRecorder` and `RunRecord`: traits of an audit log or a journal.

use agent_spaces_types::caller::Caller;
use agent_spaces_types::event::Event;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// Recorder of a space's runs.
pub trait RunRecorder: Send + Sync {
    /// Starts the record of a run, or of a call made by the host. `parent` is the record of the run whose call it
    /// answers.
    fn begin(&self, run_id: &Arc<str>, caller: &Caller, parent: Option<&Arc<dyn RunRecord>>) -> Arc<dyn RunRecord>;
}

/// Record of one run.
pub trait RunRecord: fmt::Debug + Send + Sync {
    /// Records an event.
    fn note(&self, event: &Event);

    /// Waits until the recorder has room for the run's events, at most some seconds.
    fn room(&self) -> Waiting<'_, ()>;

    /// Waits until the call is recorded, if calls must be recorded before they are made.
    ///
    /// # Errors
    /// The call must be recorded and could not be.
    fn admit(&self, call_id: u64) -> Waiting<'_, Result<(), String>>;

    /// Returns the record for downcasting to the recorder's own type.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// Boxed future.
pub type Waiting<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
