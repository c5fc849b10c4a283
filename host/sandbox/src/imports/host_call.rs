//! Calls made by the host, not by a script: tools in proxy and toolbox mode, and `Space::call`.

use super::function::{ImportedFunction, end_event};
use agent_spaces_calls::approval::Pending;
use agent_spaces_calls::call::{Call, WholeAnswer};
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::events::EventSink;
use agent_spaces_calls::host_memory::HostMemory;
use agent_spaces_calls::memory_budget::MemoryBudget;
use agent_spaces_calls::run_id;
use agent_spaces_calls::scope::RunScope;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::event::Event;
use agent_spaces_types::limits::Limits;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;

/// Call made by the host.
#[derive(Default)]
pub struct HostCall {
    /// Arguments.
    pub params: Value,
    /// Identity on whose behalf it is made.
    pub caller: Arc<Caller>,
    /// Receiver of its events, beside the space's observer.
    pub events: Option<mpsc::UnboundedSender<Event>>,
    /// Pending approval requests.
    pub pending: Pending,
    /// Receives the complete result of an MCP server.
    pub whole: Option<WholeAnswer>,
}

impl ImportedFunction {
    /// Executes a call made by the host, within the memory budget of all runs.
    pub async fn call(self: &Arc<ImportedFunction>, call: HostCall, process: &Arc<MemoryBudget>) -> Answer {
        let HostCall { params, caller, events, pending, whole } = call;
        let run_id = run_id::new();
        let rules = &self.rules;
        let record = rules.recorder.as_ref().map(|recorder| recorder.begin(&run_id, &caller, None));
        let observer = rules.observing(record.as_ref());
        let events = EventSink::new(run_id.clone(), &caller, events, observer, None, &rules.redactor);
        if events.is_heard() {
            events.emit(self.scheduled(1, &params));
        }
        let memory = HostMemory::new(&Limits::default(), process);
        let context = Arc::new(RunContext { pending, record, ..RunContext::of_host(caller, events, memory) });
        let memory = context.memory.share();
        let mut call = Call::new(&self.names, (run_id, 1), params, RunScope::default(), &context, &memory);
        call.whole = whole.clone();
        let begun = Instant::now();
        let answered = match memory.take_value(&call.params) {
            Ok(()) => self.path.clone().call(call, context.clone()).await,
            Err(error) => Err(CapabilityError::failed(error.to_string())),
        };
        let is_whole = whole.is_some_and(|whole| whole.get().is_some());
        let answer = match answered {
            // A proxy forwards what the server sent, whatever its type.
            Ok(answered) if is_whole => {
                answered.outcome.end(None);
                Ok((answered.value, answered.is_cached))
            }
            // No sandbox will check the type of the answer.
            Ok(answered) => match memory.take_value(&answered.value) {
                Ok(()) => {
                    let value = answered.value.clone();
                    let converted = self.convert(answered, u64::MAX, &memory, &context).await;
                    converted.outcome.end(converted.value.as_ref().err());
                    converted.value.map(|_| (value, converted.is_cached))
                }
                Err(error) => {
                    let error = CapabilityError::failed(error.to_string());
                    answered.outcome.end(Some(&error));
                    Err(error)
                }
            },
            Err(error) => Err(error),
        };
        context.events.emit(end_event(1, begun.elapsed(), answer.as_ref().map(|(_, is_cached)| *is_cached)));
        answer.map(|(value, _)| value)
    }
}
