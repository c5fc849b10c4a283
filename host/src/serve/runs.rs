//! Runs that outlive the request that began them, each seen by its own caller alone.

use super::approvals::Asked;
use super::caller::Client;
use super::code_mode::KeptValue;
use super::waiting::{Told, left_alone};
use crate::concurrency::ConcurrencyPlace;
use crate::error_report::RunError;
use crate::events::EventKind;
use crate::limits::Limits;
use crate::off_thread::{MAX_INLINE_BYTES, Turns};
use crate::program::Program;
use crate::run::{Caller, CancelHandle, ConsoleLine, RunOptions, RunReport};
use crate::usage::Usage;
use agent_spaces_approvals::Pending;
use capability_gen::counted::counted;
use capability_gen::json_memory;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// How long a run that is over can still be asked about, and most that are kept for one caller and for all.
const KEPT_FOR: Duration = Duration::from_secs(10 * 60);
const MAX_OF_CALLER: usize = 50;
const MAX_OF_ALL: usize = 1_000;

/// Most bytes that are kept of a caller's runs when one more begins.
const MAX_BYTES_OF_CALLER: usize = 32 << 20;

/// The runs of a server; clones are one.
#[derive(Clone, Default)]
pub(super) struct Runs(Arc<Mutex<BTreeMap<String, Arc<ServedRun>>>>);

/// A run, under way or over.
pub(super) struct ServedRun {
    /// `run_…`, which is what an agent names it by.
    pub(super) id: String,
    pub(super) program: Program,
    /// What was found in it before it ran.
    pub(super) warnings: String,
    owner: Arc<str>,
    began: Instant,
    cancel: CancelHandle,
    pub(super) pending: Pending,
    /// How many requests wait for it.
    pub(super) waiting: watch::Sender<usize>,
    /// The calls that wait for a person of which the agent was told last.
    pub(super) told: Told,
    /// What a person was asked through the client.
    pub(super) asked: Asked,
    progress: watch::Receiver<Progress>,
    pub(super) ended: watch::Receiver<Option<Arc<Ended>>>,
}

/// How far a run has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Calls that began, and those of them that ended.
    pub(super) calls: usize,
    pub(super) answered: usize,
    /// What it did last, for a person.
    pub(super) last: String,
}

/// A run that is over.
pub(super) struct Ended {
    pub(super) outcome: Result<KeptValue, RunError>,
    pub(super) console: Vec<ConsoleLine>,
    pub(super) usage: Usage,
    at: Instant,
}

impl Ended {
    async fn new(report: RunReport, caller: &Arc<Caller>) -> Ended {
        let RunReport { outcome, console, usage, .. } = report;
        let outcome = match outcome {
            Ok(value) if json_memory::size(&value, MAX_INLINE_BYTES) >= MAX_INLINE_BYTES => {
                let kept = Turns::new(caller).off_thread(move |_| KeptValue::new(value)).await;
                kept.map_err(|error| RunError::new("host.engine", error.message))
            }
            outcome => outcome.map(KeptValue::new),
        };
        Ended { outcome, console, usage, at: Instant::now() }
    }

    /// What is kept of it.
    fn bytes(&self) -> usize {
        let printed: usize = self.console.iter().map(|line| line.text.len()).sum();
        printed + self.outcome.as_ref().map_or(0, KeptValue::bytes)
    }
}

impl Runs {
    /// Begins a run, in a place that it leaves at its end. It goes on whether or not somebody waits for it, until it ends, is cancelled, or its time is over.
    pub(super) fn begin(
        &self,
        client: &Client,
        program: Program,
        (limits, spent): (Limits, Duration),
        warnings: String,
        place: ConcurrencyPlace,
    ) -> Result<Arc<ServedRun>, RunError> {
        let (cancel, pending) = (CancelHandle::new(), program.sandbox().pending());
        let (events, mut heard) = mpsc::unbounded_channel();
        let (progress, seen) = watch::channel(Progress::default());
        let (ending, ended) = watch::channel(None);
        let id = crate::run_id::new();
        let run = Arc::new(ServedRun {
            id: id.to_string(),
            program: program.clone(),
            warnings,
            owner: client.identity().clone(),
            began: Instant::now(),
            cancel: cancel.clone(),
            pending: pending.clone(),
            waiting: watch::Sender::new(0),
            told: Told::default(),
            asked: Asked::default(),
            progress: seen,
            ended,
        });
        self.keep(run.clone())?;
        let caller = Arc::new(client.caller().clone());
        let (waiting, alone) = (run.waiting.subscribe(), cancel.clone());
        tokio::spawn(async move {
            let options = RunOptions {
                limits,
                events: Some(events),
                cancel,
                caller: caller.clone(),
                pending: Some(pending),
                parent: None,
                memory: None,
                spent,
            };
            let running = crate::run::run(&program, id, options);
            let listening = async {
                while let Some(event) = heard.recv().await {
                    progress.send_if_modified(|progress| progress.hear(&event.kind));
                }
            };
            let both = async { tokio::join!(running, listening).0 };
            let report = {
                tokio::pin!(both);
                tokio::select! {
                    report = &mut both => report,
                    () = left_alone(waiting) => {
                        alone.cancel();
                        both.await
                    }
                }
            };
            let ended = Ended::new(report, &caller).await;
            drop(place);
            let _nobody_may_wait = ending.send(Some(Arc::new(ended)));
        });
        Ok(run)
    }

    /// A run of this caller's.
    pub(super) fn get(&self, client: &Client, id: &str) -> Option<Arc<ServedRun>> {
        self.book().get(id).filter(|run| run.owner == *client.identity()).cloned()
    }

    /// Ends all runs of a caller who went away.
    pub(super) fn end_all(&self, client: &Client) {
        self.book().values().filter(|run| run.owner == *client.identity()).for_each(|run| run.cancel());
    }

    /// Whether a run of a caller's is under way.
    pub(super) fn is_busy(&self, client: &Client) -> bool {
        self.book().values().any(|run| run.owner == *client.identity() && run.ended_at().is_none())
    }

    fn keep(&self, run: Arc<ServedRun>) -> Result<(), RunError> {
        let mut book = self.book();
        book.retain(|_, run| run.ended_at().is_none_or(|at| at.elapsed() < KEPT_FOR));
        let own =
            |book: &BTreeMap<String, Arc<ServedRun>>| book.values().filter(|other| other.owner == run.owner).count();
        let own_bytes = |book: &BTreeMap<String, Arc<ServedRun>>| {
            let own = book.values().filter(|other| other.owner == run.owner);
            own.map(|other| other.kept_bytes()).sum::<usize>()
        };
        // What is over makes room for what begins, the oldest first.
        while own(&book) >= MAX_OF_CALLER || own_bytes(&book) > MAX_BYTES_OF_CALLER {
            let over = book.values().filter(|other| other.owner == run.owner && other.ended_at().is_some());
            let Some(oldest) = over.min_by_key(|other| other.began).map(|other| other.id.clone()) else { break };
            book.remove(&oldest);
        }
        if book.len() >= MAX_OF_ALL {
            let over = book.values().filter(|other| other.ended_at().is_some());
            let oldest = over.min_by_key(|other| other.began).map(|other| other.id.clone());
            oldest.and_then(|id| book.remove(&id));
        }
        if own(&book) >= MAX_OF_CALLER || book.len() >= MAX_OF_ALL {
            return Err(RunError::new("run.busy", "Too many programs run already: wait for one of them to end"));
        }
        book.insert(run.id.clone(), run);
        Ok(())
    }

    fn book(&self) -> MutexGuard<'_, BTreeMap<String, Arc<ServedRun>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServedRun {
    /// Ends it.
    pub(super) fn cancel(&self) {
        self.cancel.cancel();
    }

    fn ended_at(&self) -> Option<Instant> {
        self.ended.borrow().as_ref().map(|ended| ended.at)
    }

    /// How many bytes are kept of it.
    fn kept_bytes(&self) -> usize {
        self.ended.borrow().as_ref().map_or(0, |ended| ended.bytes())
    }

    /// How long ago it began.
    pub(super) fn age(&self) -> Duration {
        self.began.elapsed()
    }

    /// What it has done so far, now and whenever that changes.
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
    /// Takes in an event; gives whether it says something new.
    fn hear(&mut self, event: &EventKind) -> bool {
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
