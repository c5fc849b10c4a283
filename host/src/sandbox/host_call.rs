//! Calls that the host makes itself: tools in proxy and toolbox mode, and `Space::call`.

use super::target::{Target, ended};
use crate::audit_trail::RunAudit;
use crate::engine::MemoryBudget;
use crate::events::{CallProgress, Event, EventSink};
use crate::handlers::{Answer, CapabilityError, WholeAnswer};
use crate::limits::{HostMemory, Limits};
use crate::run::{Caller, RunContext, RunScope};
use crate::run_id;
use agent_spaces_approvals::Pending;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;

/// A call that no script makes.
#[derive(Default)]
pub(crate) struct HostCall {
    pub(crate) params: Value,
    pub(crate) caller: Arc<Caller>,
    /// Hears what happens, beside the space's observer.
    pub(crate) events: Option<mpsc::UnboundedSender<Event>>,
    /// What waits for a person.
    pub(crate) pending: Pending,
    /// Where the whole answer of an MCP server goes.
    pub(crate) whole: Option<WholeAnswer>,
}

impl Target {
    /// Answers a call that no script makes, within what all runs together may use.
    pub(crate) async fn call(self: &Arc<Target>, call: HostCall, process: &Arc<MemoryBudget>) -> Answer {
        let HostCall { params, caller, events, pending, whole } = call;
        let run_id = run_id::new();
        let audit = self.audit.as_ref().map(|audit| Arc::new(audit.run(&run_id, &caller, None)));
        let observer = RunAudit::observing(audit.as_ref(), self.observer.clone());
        let events = EventSink::new(run_id.clone(), &caller, events, observer, self.pipeline.redactor());
        if events.is_heard() {
            events.emit(self.scheduled(1, &params));
        }
        let progress = CallProgress::new(1, &events);
        let memory = HostMemory::new(&Limits::default(), process);
        let context = Arc::new(RunContext { pending, audit, ..RunContext::of_host(caller, events, memory) });
        let memory = context.memory.share();
        let mut call = self.describe(run_id, 1, params, progress, (RunScope::default(), &context), &memory);
        call.whole = whole.clone();
        let begun = Instant::now();
        let answered = match memory.take_value(&call.params) {
            Ok(()) => self.pipeline.call(call, &context).await,
            Err(error) => Err(CapabilityError::failed(error.to_string())),
        };
        let is_whole = whole.is_some_and(|whole| whole.get().is_some());
        let answer = match answered {
            // Who passes on what a server sent asks for no type of ours.
            Ok(answered) if is_whole => {
                answered.outcome.end(None);
                Ok((answered.value, answered.is_cached))
            }
            // Nobody else will see whether it fits.
            Ok(answered) => match memory.take_value(&answered.value) {
                Ok(()) => {
                    let value = answered.value.clone();
                    let fitted = self.fit(answered, u64::MAX, &memory, &context).await;
                    fitted.outcome.end(fitted.value.as_ref().err());
                    fitted.value.map(|_| (value, fitted.is_cached))
                }
                Err(error) => {
                    let error = CapabilityError::failed(error.to_string());
                    answered.outcome.end(Some(&error));
                    Err(error)
                }
            },
            Err(error) => Err(error),
        };
        context.events.emit(ended(1, begun, answer.as_ref().map(|(_, is_cached)| *is_cached)));
        answer.map(|(value, _)| value)
    }
}
