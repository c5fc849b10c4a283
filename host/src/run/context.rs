//! What the steps before a provider know of the run that calls.

use super::clock::RunClock;
use super::parent::AnsweringScript;
use crate::audit_trail::RunAudit;
use crate::events::EventSink;
#[cfg(feature = "compiler")]
use crate::limits::Limits;
use crate::limits::{CallLimit, HostMemory, SandboxKind};
use crate::off_thread::Turns;
use crate::program::Program;
use agent_spaces_approvals::Pending;
use agent_spaces_policy::RunCounts;
use std::collections::BTreeSet;
use std::sync::Arc;
#[cfg(feature = "compiler")]
use std::time::Instant;

/// On whose behalf calls are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Caller {
    /// A name for logs; nobody in particular by default.
    pub name: Option<String>,
    /// What the caller may do beyond what everybody may: functions can ask for scopes.
    pub scopes: BTreeSet<String>,
}

/// One run, or one call that no script makes. Cheap to make: most runs need little of it.
pub(crate) struct RunContext {
    pub(crate) caller: Arc<Caller>,
    pub(crate) clock: RunClock,
    pub(crate) events: EventSink,
    /// What its events are written to the audit log with.
    pub(crate) audit: Option<Arc<RunAudit>>,
    /// What waits for a person, and what a person said of later calls.
    pub(crate) pending: Pending,
    /// How often functions were called.
    pub(crate) counts: RunCounts,
    /// How many calls it may make, and has made.
    pub(crate) calls: CallLimit,
    /// What the host may use for the values of its calls.
    pub(crate) memory: HostMemory,
    /// Whose sandbox is counted there.
    pub(crate) sandbox: SandboxKind,
    /// When large values of its calls are worked on.
    pub(crate) turns: Turns,
    /// Whose script calls, if one does.
    pub(crate) program: Option<Program>,
    /// The script that it is, where it answers a call, and those above it.
    pub(crate) script: Option<Arc<AnsweringScript>>,
}

impl RunContext {
    /// For a call of the host's own.
    #[cfg(feature = "compiler")]
    pub(crate) fn of_host(caller: Arc<Caller>, events: EventSink, memory: HostMemory) -> RunContext {
        RunContext {
            turns: Turns::new(&caller),
            memory,
            sandbox: SandboxKind::Own,
            caller,
            clock: RunClock::new(Instant::now()),
            events,
            audit: None,
            pending: Pending::default(),
            counts: RunCounts::default(),
            calls: CallLimit::new(Limits::default().calls),
            program: None,
            script: None,
        }
    }
}
