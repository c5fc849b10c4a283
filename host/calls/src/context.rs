//! Run context: the calling run, as the steps of a call see it.

use crate::approval::Pending;
use crate::blocking_pool::BlockingPool;
use crate::clock::RunClock;
use crate::events::EventSink;
use crate::host_memory::{HostMemory, SandboxKind};
use crate::journal::RunJournal;
use crate::parent::AnsweringScript;
use crate::record::RunRecord;
use agent_spaces_types::call_site::ProgramCall;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::limits::{CallLimit, Limits};
use agent_spaces_types::run_counts::RunCounts;
use std::sync::Arc;
use std::time::Instant;

/// Context of one run, or of one call made by the host. Cheap to create: most runs need little of it.
pub struct RunContext {
    /// Identity on whose behalf it runs.
    pub caller: Arc<Caller>,
    /// Its clock.
    pub clock: RunClock,
    /// Its event stream.
    pub events: EventSink,
    /// Record of its events.
    pub record: Option<Arc<dyn RunRecord>>,
    /// Its journal, if it is durable.
    pub journal: Option<Arc<dyn RunJournal>>,
    /// Pending approval requests, and approvals that cover later calls.
    pub pending: Pending,
    /// Call counters by function.
    pub counts: RunCounts,
    /// Call limit.
    pub calls: CallLimit,
    /// Host memory for the values of its calls.
    pub memory: HostMemory,
    /// Payer of its sandbox: the run itself, or the run whose call it answers.
    pub sandbox: SandboxKind,
    /// Pool for work on large values of its calls.
    pub blocking_pool: BlockingPool,
    /// Call sites of its script; empty for a call made by the host.
    pub call_sites: Arc<[ProgramCall]>,
    /// Its script and those above it, if it answers a call.
    pub script: Option<Arc<AnsweringScript>>,
}

impl RunContext {
    /// Creates the context of a call made by the host.
    pub fn of_host(caller: Arc<Caller>, events: EventSink, memory: HostMemory) -> RunContext {
        RunContext {
            blocking_pool: BlockingPool::new(&caller),
            memory,
            sandbox: SandboxKind::Own,
            caller,
            clock: RunClock::new(Instant::now()),
            events,
            record: None,
            journal: None,
            pending: Pending::default(),
            counts: RunCounts::default(),
            calls: CallLimit::new(Limits::default().calls),
            call_sites: Arc::default(),
            script: None,
        }
    }
}
