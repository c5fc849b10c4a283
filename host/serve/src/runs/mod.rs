//! Runs that outlive the request that started them. Each is visible only to its caller.
//!
//! - `wait`: requests that wait for a run
//! - `value`: stored value of an ended run

mod value;
mod wait;

pub(super) use wait::Waited;

use super::approvals::AskedRequests;
use super::caller::Client;
use crate::concurrency::ConcurrencyPermit;
use agent_spaces_approvals::Pending;
use agent_spaces_calls::blocking_pool::{BlockingPool, MAX_INLINE_BYTES};
use agent_spaces_sandbox::program::Program;
use agent_spaces_sandbox::run::{RunOptions, RunReport};
use agent_spaces_types::caller::Caller;
use agent_spaces_types::code::Code;
use agent_spaces_types::counted::counted;
use agent_spaces_types::event::{ConsoleLine, EventKind};
use agent_spaces_types::json_memory;
use agent_spaces_types::limits::Limits;
use agent_spaces_types::run_error::RunError;
use agent_spaces_types::usage::Usage;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use value::RunValue;
use wait::{ReportedApprovals, abandoned};

/// Retention time of an ended run, and the maximum number of runs per caller and overall.
const KEPT_FOR: Duration = Duration::from_secs(10 * 60);
const MAX_OF_CALLER: usize = 50;
const MAX_OF_ALL: usize = 1_000;

/// Maximum size of the kept results of a caller when another run starts.
const MAX_BYTES_OF_CALLER: usize = 32 << 20;

/// Runs of a server. Clones share state.
#[derive(Clone, Default)]
pub(super) struct Runs(Arc<Mutex<BTreeMap<String, Arc<ServedRun>>>>);

/// Run in progress or ended.
pub(super) struct ServedRun {
    /// Run id (`run_…`), which agents pass to `resume`.
    pub(super) id: String,
    pub(super) program: Program,
    /// Warnings of the type checker.
    pub(super) warnings: String,
    owner: Arc<str>,
    began: Instant,
    cancel: CancellationToken,
    pub(super) pending: Pending,
    /// Number of requests that wait for it.
    pub(super) waiting: watch::Sender<usize>,
    /// Pending approvals that were last reported to the agent.
    pub(super) reported: ReportedApprovals,
    /// Approval requests shown to a person through the client.
    pub(super) asked: AskedRequests,
    progress: watch::Receiver<Progress>,
    pub(super) ended: watch::Receiver<Option<Arc<Ended>>>,
}

/// Progress of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Number of calls that started.
    pub(super) calls: usize,
    /// Number of calls that ended.
    pub(super) answered: usize,
    /// Last activity, for display.
    pub(super) last: String,
}

/// Result of an ended run.
pub(super) struct Ended {
    pub(super) outcome: Result<RunValue, RunError>,
    pub(super) console: Vec<ConsoleLine>,
    pub(super) usage: Usage,
    at: Instant,
}

impl Ended {
    async fn new(report: RunReport, caller: &Arc<Caller>) -> Ended {
        let RunReport { outcome, console, usage, .. } = report;
        let outcome = match outcome {
            Ok(value) if json_memory::size(&value, MAX_INLINE_BYTES) >= MAX_INLINE_BYTES => {
                let kept = BlockingPool::new(caller).run(move |_| RunValue::new(value)).await;
                kept.map_err(|error| RunError::new(Code::HostEngine, error.message))
            }
            outcome => outcome.map(RunValue::new),
        };
        Ended { outcome, console, usage, at: Instant::now() }
    }

    /// Returns the memory that the result takes.
    fn bytes(&self) -> usize {
        let printed: usize = self.console.iter().map(|line| line.text.len()).sum();
        printed + self.outcome.as_ref().map_or(0, RunValue::bytes)
    }
}

impl Runs {
    /// Starts a run, which holds `permit` until its end. It continues without a waiting request until it ends, is
    /// cancelled, is abandoned, or runs out of time.
    pub(super) fn begin(
        &self,
        client: &Client,
        program: Program,
        (limits, spent): (Limits, Duration),
        warnings: String,
        permit: ConcurrencyPermit,
    ) -> Result<Arc<ServedRun>, RunError> {
        let (cancel, pending) = (CancellationToken::new(), program.sandbox().rules().pending());
        let (events, mut heard) = mpsc::unbounded_channel();
        let (progress, seen) = watch::channel(Progress::default());
        let (ending, ended) = watch::channel(None);
        let id = agent_spaces_calls::run_id::new();
        let run = Arc::new(ServedRun {
            id: id.to_string(),
            program: program.clone(),
            warnings,
            owner: client.identity().clone(),
            began: Instant::now(),
            cancel: cancel.clone(),
            pending: pending.clone(),
            waiting: watch::Sender::new(0),
            reported: ReportedApprovals::default(),
            asked: AskedRequests::default(),
            progress: seen,
            ended,
        });
        self.keep(run.clone())?;
        let caller = Arc::new(client.caller().clone());
        let (waiting, alone) = (run.waiting.subscribe(), cancel.clone());
        tokio::spawn(async move {
            let options = RunOptions {
                limits: Some(limits),
                events: Some(events),
                cancel,
                caller: caller.clone(),
                pending: Some(pending),
                parent: None,
                memory: None,
                spent,
                run_id: Some(id),
            };
            let running = program.run(options);
            let listening = async {
                while let Some(event) = heard.recv().await {
                    progress.send_if_modified(|progress| progress.apply(&event.kind));
                }
            };
            let both = async { tokio::join!(running, listening).0 };
            let report = {
                tokio::pin!(both);
                tokio::select! {
                    report = &mut both => report,
                    () = abandoned(waiting) => {
                        alone.cancel();
                        both.await
                    }
                }
            };
            let ended = Ended::new(report, &caller).await;
            drop(permit);
            let _nobody_may_wait = ending.send(Some(Arc::new(ended)));
        });
        Ok(run)
    }

    /// Returns a run of this caller.
    pub(super) fn get(&self, client: &Client, id: &str) -> Option<Arc<ServedRun>> {
        self.entries().get(id).filter(|run| run.owner == *client.identity()).cloned()
    }

    /// Cancels all runs of a caller that disconnected.
    pub(super) fn end_all(&self, client: &Client) {
        self.entries().values().filter(|run| run.owner == *client.identity()).for_each(|run| run.cancel());
    }

    /// Returns true if a caller has a run in progress.
    pub(super) fn is_busy(&self, client: &Client) -> bool {
        self.entries().values().any(|run| run.owner == *client.identity() && run.ended_at().is_none())
    }

    fn keep(&self, run: Arc<ServedRun>) -> Result<(), RunError> {
        let mut entries = self.entries();
        entries.retain(|_, run| run.ended_at().is_none_or(|at| at.elapsed() < KEPT_FOR));
        let own = |entries: &BTreeMap<String, Arc<ServedRun>>| {
            entries.values().filter(|other| other.owner == run.owner).count()
        };
        let own_bytes = |entries: &BTreeMap<String, Arc<ServedRun>>| {
            let own = entries.values().filter(|other| other.owner == run.owner);
            own.map(|other| other.kept_bytes()).sum::<usize>()
        };
        // Ended runs are evicted, oldest first.
        while own(&entries) >= MAX_OF_CALLER || own_bytes(&entries) > MAX_BYTES_OF_CALLER {
            let over = entries.values().filter(|other| other.owner == run.owner && other.ended_at().is_some());
            let Some(oldest) = over.min_by_key(|other| other.began).map(|other| other.id.clone()) else { break };
            entries.remove(&oldest);
        }
        if entries.len() >= MAX_OF_ALL {
            let over = entries.values().filter(|other| other.ended_at().is_some());
            let oldest = over.min_by_key(|other| other.began).map(|other| other.id.clone());
            oldest.and_then(|id| entries.remove(&id));
        }
        if own(&entries) >= MAX_OF_CALLER || entries.len() >= MAX_OF_ALL {
            return Err(RunError::new(Code::RunBusy, "Too many runs in progress: wait for one of them to end"));
        }
        entries.insert(run.id.clone(), run);
        Ok(())
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Arc<ServedRun>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServedRun {
    /// Cancels the run.
    pub(super) fn cancel(&self) {
        self.cancel.cancel();
    }

    fn ended_at(&self) -> Option<Instant> {
        self.ended.borrow().as_ref().map(|ended| ended.at)
    }

    /// Returns the memory that its result takes.
    fn kept_bytes(&self) -> usize {
        self.ended.borrow().as_ref().map_or(0, |ended| ended.bytes())
    }

    /// Returns the time since its start.
    pub(super) fn age(&self) -> Duration {
        self.began.elapsed()
    }

    /// Subscribes to its progress.
    pub(super) fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }
}

impl std::fmt::Display for Progress {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.calls {
            0 => formatter.write_str("running"),
            calls => write!(formatter, "{} of {} answered; {}", self.answered, counted(calls, "call"), self.last),
        }
    }
}

impl Progress {
    /// Applies an event. Returns true if the progress changed.
    fn apply(&mut self, event: &EventKind) -> bool {
        match event {
            EventKind::CallScheduled { capability, function, .. } => {
                self.calls += 1;
                self.last = format!("{capability}.{function}");
            }
            EventKind::CallResult { .. } | EventKind::CallError { .. } => self.answered += 1,
            EventKind::CallProgress { message: Some(message), .. } => self.last = message.chars().take(200).collect(),
            EventKind::ApprovalRequired { capability, function, .. } => {
                let label =
                    if capability == function { function.to_string() } else { format!("{capability}.{function}") };
                self.last = format!("{label} waits for approval");
            }
            _ => return false,
        }
        true
    }
}
