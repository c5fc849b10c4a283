//! Runs in memory, which outlive the request that started them. Each is visible only to its caller.
//!
//! - `wait`: requests that wait for a run
//! - `value`: stored value of an ended run
//! - `recorded`: result of a run in its journal

mod recorded;
mod value;
mod wait;

pub(super) use wait::Waited;

use super::approvals::AskedRequests;
use super::durable::{DurableSpace, RunOrigin};
use crate::concurrency::ConcurrencyPermit;
use agent_spaces_approvals::Pending;
use agent_spaces_calls::blocking_pool::{BlockingPool, MAX_INLINE_BYTES};
use agent_spaces_durable::{DurableError, DurableReport, State};
use agent_spaces_http_server::Client;
use agent_spaces_sandbox::program::Program;
use agent_spaces_sandbox::run::{RunOptions, RunReport};
use agent_spaces_space::space::Space;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::code::Code;
use agent_spaces_types::counted::counted;
use agent_spaces_types::event::{ConsoleLine, Event, EventKind};
use agent_spaces_types::json_memory;
use agent_spaces_types::limits::Limits;
use agent_spaces_types::run_error::RunError;
use agent_spaces_types::usage::Usage;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;
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
    /// Its program; `None` if the run comes from a journal.
    pub(super) program: Option<Program>,
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
    is_durable: bool,
    /// True if its client has its handle.
    has_handle: AtomicBool,
    progress: watch::Receiver<Progress>,
    ended: watch::Receiver<Option<RunEnd>>,
}

/// Run to register.
struct NewRun {
    id: Arc<str>,
    owner: Arc<str>,
    pending: Pending,
    program: Option<Program>,
    warnings: String,
    is_durable: bool,
}

/// Execution of a registered run.
struct Execution {
    run: Arc<ServedRun>,
    heard: mpsc::UnboundedReceiver<Event>,
    progress: watch::Sender<Progress>,
    ending: watch::Sender<Option<RunEnd>>,
}

impl Execution {
    /// Waits for the run, and follows its events.
    async fn drive<T>(&mut self, running: impl Future<Output = T>) -> T {
        let Execution { heard, progress, .. } = self;
        let listening = async {
            while let Some(event) = heard.recv().await {
                progress.send_if_modified(|progress| progress.apply(&event.kind));
            }
        };
        tokio::join!(running, listening).0
    }
}

/// End of an execution.
#[derive(Clone)]
enum RunEnd {
    /// The run is over.
    Ended(Arc<Ended>),
    /// The run left memory: its journal says where it stands.
    Left,
}

impl RunEnd {
    fn ended(ended: Ended) -> RunEnd {
        RunEnd::Ended(Arc::new(ended))
    }
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

    /// Creates the result of a run that the host could not execute.
    fn failed(error: RunError) -> Ended {
        Ended { outcome: Err(error), console: Vec::new(), usage: Usage::default(), at: Instant::now() }
    }

    /// Returns the memory that the result takes.
    fn bytes(&self) -> usize {
        let printed: usize = self.console.iter().map(|line| line.text.len()).sum();
        printed + self.outcome.as_ref().map_or(0, RunValue::bytes)
    }
}

impl Runs {
    /// Starts a run, which holds `permit` until it ends or leaves memory. It continues without a waiting request until
    /// it ends, is cancelled, is abandoned, or runs out of time. A durable run is never abandoned.
    pub(super) fn begin(
        &self,
        (client, in_turn): (&Client, impl FnOnce(BoxFuture<'static, ()>) -> BoxFuture<'static, ()>),
        program: Program,
        (limits, spent): (Limits, Duration),
        warnings: String,
        permit: ConcurrencyPermit,
        durable: Option<DurableSpace>,
    ) -> Result<Arc<ServedRun>, RunError> {
        let id = agent_spaces_calls::run_id::new();
        let durable = durable.map(|durable| (durable.origin_of(client, &warnings), durable));
        let (mut execution, events) = self.register(NewRun {
            id: id.clone(),
            owner: client.identity().clone(),
            pending: program.sandbox().rules().pending(),
            program: Some(program.clone()),
            warnings,
            is_durable: durable.is_some(),
        })?;
        let (runs, run) = (self.clone(), execution.run.clone());
        let caller = Arc::new(client.caller().clone());
        let options = RunOptions {
            limits: Some(limits),
            events: Some(events),
            cancel: run.cancel.clone(),
            caller: caller.clone(),
            pending: Some(run.pending.clone()),
            spent,
            run_id: Some(id),
            ..RunOptions::default()
        };
        let (waiting, alone) = (run.waiting.subscribe(), run.cancel.clone());
        let work = async move {
            let done = {
                let running = async {
                    match &durable {
                        Some((origin, durable)) => durable.run(&program, options, origin).await,
                        None => Ok(DurableReport { report: program.run(options).await, state: State::Ended }),
                    }
                };
                let both = execution.drive(running);
                tokio::pin!(both);
                tokio::select! {
                    done = &mut both => done,
                    () = abandoned(waiting), if durable.is_none() => {
                        alone.cancel();
                        both.await
                    }
                }
            };
            let end = match done {
                Ok(DurableReport { report, state: State::Ended }) => RunEnd::ended(Ended::new(report, &caller).await),
                Ok(_) => RunEnd::Left,
                Err(error) => RunEnd::ended(Ended::failed(RunError::new(Code::HostEngine, error.to_string()))),
            };
            drop(permit);
            runs.finish(execution, end);
        };
        tokio::spawn(in_turn(Box::pin(work)).in_current_span());
        Ok(run)
    }

    /// Continues a run of the journal until it ends or leaves memory. Meanwhile requests of its caller find it here.
    pub(super) async fn resume(
        &self,
        durable: &DurableSpace,
        space: &Space,
        run: &str,
        origin: RunOrigin,
    ) -> Result<State, DurableError> {
        let registered = self.register(NewRun {
            id: run.into(),
            owner: origin.caller.into(),
            pending: space.pending(),
            program: None,
            warnings: origin.warnings,
            is_durable: true,
        });
        let (mut execution, events) = registered.map_err(|error| DurableError::Interrupted(error.message))?;
        let run = execution.run.clone();
        run.handed_out();
        let options = RunOptions {
            events: Some(events),
            cancel: run.cancel.clone(),
            pending: Some(run.pending.clone()),
            ..RunOptions::default()
        };
        let (end, outcome) = match execution.drive(durable.resume(&run.id, space, options)).await {
            Ok(DurableReport { report, state: State::Ended }) => {
                (RunEnd::ended(Ended::new(report, &Arc::default()).await), Ok(State::Ended))
            }
            Ok(DurableReport { state, .. }) => (RunEnd::Left, Ok(state)),
            Err(error) => (RunEnd::Left, Err(error)),
        };
        self.finish(execution, end);
        outcome
    }

    /// Adds a run. Returns its execution, and the receiver of its events.
    fn register(&self, new: NewRun) -> Result<(Execution, mpsc::UnboundedSender<Event>), RunError> {
        let NewRun { id, owner, pending, program, warnings, is_durable } = new;
        let (events, heard) = mpsc::unbounded_channel();
        let (progress, seen) = watch::channel(Progress::default());
        let (ending, ended) = watch::channel(None);
        let run = Arc::new(ServedRun {
            id: id.to_string(),
            program,
            warnings,
            owner,
            began: Instant::now(),
            cancel: CancellationToken::new(),
            pending,
            waiting: watch::Sender::new(0),
            reported: ReportedApprovals::default(),
            asked: AskedRequests::default(),
            is_durable,
            has_handle: AtomicBool::new(false),
            progress: seen,
            ended,
        });
        self.keep(run.clone())?;
        Ok((Execution { run, heard, progress, ending }, events))
    }

    /// Ends an execution. A run that left memory is found in its journal from now on.
    fn finish(&self, Execution { run, ending, .. }: Execution, end: RunEnd) {
        if let RunEnd::Left = end {
            let mut entries = self.entries();
            if entries.get(&run.id).is_some_and(|known| Arc::ptr_eq(known, &run)) {
                entries.remove(&run.id);
            }
        }
        let _nobody_may_wait = ending.send(Some(end));
    }

    /// Waits until no durable run is executed any more.
    pub(super) async fn durable_left(&self) {
        let durable = |run: &&Arc<ServedRun>| run.is_durable;
        let running: Vec<_> = self.entries().values().filter(durable).map(|run| run.ended.clone()).collect();
        for mut ended in running {
            // Without a sender its task has ended too.
            let _is_over = ended.wait_for(Option::is_some).await;
        }
    }

    /// Returns a run of this caller.
    pub(super) fn get(&self, client: &Client, id: &str) -> Option<Arc<ServedRun>> {
        self.entries().get(id).filter(|run| run.owner == *client.identity()).cloned()
    }

    /// Cancels all runs of a caller that disconnected, but for durable ones that it has handles of.
    pub(super) fn end_all(&self, client: &Client) {
        self.entries().values().filter(|run| run.owner == *client.identity()).for_each(|run| run.client_left());
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
    /// Cancels the run because its client left, unless it is durable and the client can ask for it later.
    pub(super) fn client_left(&self) {
        if !self.is_durable || !self.has_handle.load(Ordering::Relaxed) {
            self.cancel.cancel();
        }
    }

    /// Records that its client has its handle.
    pub(super) fn handed_out(&self) {
        self.has_handle.store(true, Ordering::Relaxed);
    }

    fn ended_at(&self) -> Option<Instant> {
        match &*self.ended.borrow() {
            Some(RunEnd::Ended(ended)) => Some(ended.at),
            Some(RunEnd::Left) | None => None,
        }
    }

    /// Returns the memory that its result takes.
    fn kept_bytes(&self) -> usize {
        match &*self.ended.borrow() {
            Some(RunEnd::Ended(ended)) => ended.bytes(),
            Some(RunEnd::Left) | None => 0,
        }
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
