//! Capability call on its way to its provider.

use crate::blocking_pool::BlockingPool;
use crate::clock::RunClock;
use crate::context::RunContext;
use crate::events::CallProgress;
use crate::host_memory::{CallMemory, RunMemory};
use crate::parent::{AnsweringScript, ParentCall};
use crate::record::RunRecord;
use crate::scope::RunScope;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::server_part::ServerPart;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// Capability call on its way to its provider.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Call {
    /// Id of the run that makes it.
    pub run_id: Arc<str>,
    /// Its number in the run, from one.
    pub id: u64,
    /// The interface: `capabilities:train-schedule/train-schedule@1.0.0`.
    pub interface: Arc<str>,
    /// The capability as its definition names it: `trainSchedule`.
    pub capability: Arc<str>,
    /// The function as scripts write it: `getSchedule`.
    pub function: Arc<str>,
    /// The function as its definition names it, which is what goes on a wire: `slack_list_channels`.
    pub source_name: Arc<str>,
    /// Part of an MCP server that is called, if it is not a tool. Then `source_name` is the MCP method: `prompts/get`.
    pub part: Option<ServerPart>,
    /// The members of the one record parameter, or all parameters by name.
    pub params: Value,
    /// Sink for progress notifications.
    pub progress: CallProgress,
    /// Values that live as long as the run.
    pub scope: RunScope,
    /// Identity on whose behalf it is made.
    pub caller: Arc<Caller>,
    /// Clock of the run, which is paused while it waits for approval.
    pub clock: Option<RunClock>,
    /// Record of the run.
    pub record: Option<Arc<dyn RunRecord>>,
    /// Script that makes it, if that script answers a call itself.
    pub script: Option<Arc<AnsweringScript>>,
    /// Receives the complete result of an MCP server, for a caller that forwards it.
    pub whole: Option<WholeAnswer>,
    /// Host memory of the call, charged to its run.
    pub memory: Arc<CallMemory>,
    /// Pool for work on its large values.
    pub blocking_pool: BlockingPool,
    /// True if its run is durable.
    is_durable: bool,
}

/// Complete result of an MCP server, with secrets redacted. Scripts get only its data; a proxy that forwards it to
/// another client needs every content block. Clones share state.
#[derive(Clone, Debug, Default)]
pub struct WholeAnswer(Arc<Mutex<Option<Value>>>);

impl WholeAnswer {
    /// Sets the result. A retried call replaces the one before.
    pub fn put(&self, whole: Option<Value>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = whole;
    }

    /// Returns a copy of the result.
    pub fn get(&self) -> Option<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Names of a function, as its calls carry them.
#[derive(Clone, Debug)]
pub struct FunctionNames {
    /// See [`Call::interface`].
    pub interface: Arc<str>,
    /// See [`Call::capability`].
    pub capability: Arc<str>,
    /// See [`Call::function`].
    pub function: Arc<str>,
    /// See [`Call::source_name`].
    pub source_name: Arc<str>,
    /// See [`Call::part`].
    pub part: Option<ServerPart>,
}

impl Call {
    /// Creates a call of a function in a run, with the run's id and the call's number in it.
    pub fn new(
        names: &FunctionNames,
        (run_id, id): (Arc<str>, u64),
        params: Value,
        scope: RunScope,
        context: &RunContext,
        memory: &Arc<CallMemory>,
    ) -> Call {
        let FunctionNames { interface, capability, function, source_name, part } = names.clone();
        Call {
            run_id,
            id,
            interface,
            capability,
            function,
            source_name,
            part,
            params,
            progress: CallProgress::new(id, &context.events),
            scope,
            caller: context.caller.clone(),
            clock: Some(context.clock.clone()),
            record: context.record.clone(),
            script: context.script.clone(),
            whole: None,
            memory: memory.clone(),
            blocking_pool: context.blocking_pool.clone(),
            is_durable: context.journal.is_some(),
        }
    }

    /// Returns a key that is the same whenever this call of a durable run is made again: after a retry, and by another
    /// host. A server that knows it can tell a repetition from a new call. A call of another run is never repeated by
    /// another host, and has none.
    pub fn idempotency_key(&self) -> Option<String> {
        self.is_durable.then(|| format!("{}/{}", self.run_id, self.id))
    }

    /// Returns this call as the parent of a run that answers it.
    pub fn as_parent(&self) -> ParentCall {
        ParentCall {
            run_id: self.run_id.clone(),
            call_id: self.id,
            clock: self.clock.clone(),
            listener: self.progress.listener(),
            record: self.record.clone(),
            script: self.script.clone(),
        }
    }

    /// Returns the memory that a run answering this call is charged to: that of the run that makes it.
    pub fn memory(&self) -> RunMemory {
        self.memory.run()
    }
}
