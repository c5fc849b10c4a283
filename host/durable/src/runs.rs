//! Start and continuation of durable runs.

use crate::content::ContentCache;
use crate::engines::Engines;
use crate::error::DurableError;
use crate::header::{FORMAT, FORMAT_WITHOUT_GIVEN, Header};
use crate::heartbeat::Heartbeat;
use crate::log::{Leaving, RunLog, Target};
use crate::record::{Record, Resumed, millis};
use crate::replay::Replay;
use crate::settings::Settings;
use crate::stored::{entries, image, seed};
use crate::waits::epoch_ms;
use agent_spaces_calls::journal::RunJournal;
use agent_spaces_calls::run_id;
use agent_spaces_journal::{Content, NewRun, Signalled, Status, Store, StoreError, Summary, Ticket, Wake};
use agent_spaces_sandbox::engine::{ENGINE_SHA256, WASMTIME_VERSION};
use agent_spaces_sandbox::program::Program;
use agent_spaces_sandbox::run::{RunOptions, RunReport};
use agent_spaces_space::space::Space;
use agent_spaces_types::code::Code;
use agent_spaces_types::run_error::RunError;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::SystemTime;
use tokio_util::sync::CancellationToken;

/// Key that a run waits for which cannot go on by itself: a person continues it.
pub const RESUME: &str = "resume";

/// Beginning of the key with which a host gets a parked run back into memory: [`DurableRuns::attend`].
pub const ATTEND: &str = "attend:";

/// Returns the key with which a host gets a parked run back into memory. It holds for one wait: signals are remembered.
fn attend_key(epoch: u64) -> String {
    format!("{ATTEND}{epoch}")
}

/// Durable runs of one store. Clones share state.
#[derive(Clone)]
pub struct DurableRuns(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store>,
    settings: Settings,
    engines: Engines,
    content: ContentCache,
    /// Cancelled when this host stops.
    stopping: CancellationToken,
}

/// Facts about a run that only its host knows.
#[derive(Clone, Debug, Default)]
pub struct RunInfo {
    /// Name of the space.
    pub space: Option<String>,
    /// Folder of the project.
    pub project: String,
    /// Digest of the policy.
    pub policy: Option<String>,
    /// Facts that the starting command needs to continue the run.
    pub command: Value,
}

/// Report of an execution.
#[derive(Debug)]
pub struct DurableReport {
    /// Report of the run. Its outcome is `run.parked` if it left memory.
    pub report: RunReport,
    /// State of the run.
    pub state: State,
}

/// State of a run after an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It is over.
    Ended,
    /// It waits, and left memory.
    Parked(Wake),
    /// The script did something else than is recorded. The run is kept as it was.
    Diverged,
    /// Its journal could not be written, or another host owns it. Nothing more was sent.
    Lost(StoreError),
}

/// Run whose creation is queued.
struct Begun {
    log: Arc<RunLog>,
    program: Program,
    created: Ticket,
}

impl DurableRuns {
    /// Uses this store.
    pub fn new(store: Arc<dyn Store>, settings: Settings) -> DurableRuns {
        let (engines, content, stopping) = Default::default();
        DurableRuns(Arc::new(Inner { store, settings, engines, content, stopping }))
    }

    /// Makes all runs of this host leave memory, now and from now on. No more calls are sent; a run whose calls are at
    /// their providers leaves when they are answered, unless they may be repeated. Another host may continue it.
    pub fn stop(&self) {
        self.0.stopping.cancel();
    }

    /// Returns true if this host stops.
    pub fn is_stopping(&self) -> bool {
        self.0.stopping.is_cancelled()
    }

    /// Makes a parked run ready before its wait is over, so that this host can ask a person for what it waits for.
    /// Returns false if it is not parked, or waits for something else.
    pub async fn attend(&self, run: &str) -> Result<bool, DurableError> {
        let Some(row) = self.0.store.run(run).await? else { return Ok(false) };
        let key = attend_key(row.epoch);
        if row.status != Status::Parked || !row.waits_for.contains(&key) {
            return Ok(false);
        }
        Ok(self.0.store.signal(run, &key).await? == Signalled::Woken)
    }

    /// Returns the store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

    /// Returns the engines of older programs.
    pub(crate) fn engines(&self) -> &Engines {
        &self.0.engines
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Runs a program until it ends or parks.
    ///
    /// The first record is queued, not flushed: a call that has effects waits for the disk, a run without calls does
    /// not.
    pub async fn run(
        &self,
        program: &Program,
        options: RunOptions,
        info: RunInfo,
    ) -> Result<DurableReport, DurableError> {
        let (_queued, execution) = self.start(program, options, info)?;
        Ok(execution.await)
    }

    /// Creates a run. Returns the receipt of its creation, which is queued before this returns, and its execution.
    pub fn start(
        &self,
        program: &Program,
        options: RunOptions,
        info: RunInfo,
    ) -> Result<(Ticket, impl Future<Output = DurableReport> + Send + use<>), DurableError> {
        let Begun { log, program, created } = self.begin(run_id_of(&options), program, &options, info)?;
        let runs = self.clone();
        Ok((created, async move { runs.execute(&program, log, options).await }))
    }

    /// Creates a run that waits in the store until a worker continues it. Returns once it is on disk.
    pub async fn enqueue(&self, program: &Program, options: &RunOptions, info: RunInfo) -> Result<(), DurableError> {
        let Begun { log, created, .. } = self.begin(run_id_of(options), program, options, info)?;
        created.await?;
        match Self::flushed(log.release()).await {
            // A host that was stopped past its lease finds that another one has the run: it is in the store all the same.
            Ok(()) | Err(StoreError::Fenced { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates a run's journal, with the program and the engine that whoever continues it needs.
    fn begin(
        &self,
        id: Arc<str>,
        program: &Program,
        options: &RunOptions,
        info: RunInfo,
    ) -> Result<Begun, DurableError> {
        let Inner { store, settings, .. } = &*self.0;
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| DurableError::Random(error.to_string()))?;
        let program = program.seen_by(&options.caller);
        let image = self.0.content.image(&program)?;
        let given = program.given()?.map(Content::new);
        let engine = self.0.content.engine();
        let header = Header {
            format: if given.is_some() { FORMAT } else { FORMAT_WITHOUT_GIVEN },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            script: program.name().to_owned(),
            program: image.hash().to_owned(),
            given: given.as_ref().map(|given| given.hash().to_owned()),
            engine: engine.hash().to_owned(),
            engine_sha256: ENGINE_SHA256.to_owned(),
            wasmtime: WASMTIME_VERSION.to_owned(),
            limits: options.limits.clone().unwrap_or_else(|| program.limits().clone()),
            caller: (*options.caller).clone(),
            hidden: program.hidden().clone(),
            seed: blake3::Hash::from_bytes(seed).to_hex().to_string(),
            space: info.space.clone(),
            policy: info.policy,
            command: info.command,
        };
        let summary = Summary {
            script: header.script.clone(),
            space: info.space.unwrap_or_default(),
            caller: options.caller.name.clone().unwrap_or_default(),
            project: info.project,
            engine: engine.hash().to_owned(),
        };
        let content = [engine.clone(), image].into_iter().chain(given).collect();
        let run = NewRun { id: id.to_string(), summary, lease: settings.lease, content };
        let first = Record::Started(Box::new(header.clone())).entry(epoch_ms(SystemTime::now()));
        let (claim, created) = store.create(run, store.owner(), vec![first]);
        let log = RunLog::new(id, Target::Store(store.clone(), claim), *settings, &seed, Replay::new(header), 1);
        Ok(Begun { log: Arc::new(log), program, created })
    }

    /// Claims a run and executes it until it ends or parks. A run that waits is continued only if its wait is over.
    ///
    /// # Errors
    /// The run cannot be claimed or restored. It is kept as it was.
    pub async fn resume(&self, run: &str, space: &Space, options: RunOptions) -> Result<DurableReport, DurableError> {
        let Inner { store, settings, .. } = &*self.0;
        let claim = store.claim(run, store.owner(), settings.lease).await?;
        let restored = self.restore(run, space).await;
        let (program, replay, seed) = match restored {
            Ok(restored) => restored,
            Err(error) => {
                let _released = store.release(&claim).await;
                return Err(error);
            }
        };
        let cancel = options.cancel.child_token();
        // Otherwise a run that is to be cancelled could park again first.
        if store.run(run).await?.is_some_and(|row| row.cancel_requested) {
            cancel.cancel();
        }
        let spent = replay.spent;
        let next_seq = claim.next_seq;
        let caller = Arc::new(replay.header.caller.clone());
        let limits = match replay.is_imported {
            // Its author chose them.
            true => replay.header.limits.at_most(program.limits()),
            false => replay.header.limits.clone(),
        };
        let pending = options.pending.unwrap_or_else(|| program.sandbox().rules().pending());
        replay.remember_approvals(&pending);
        let target = Target::Store(store.clone(), claim);
        let log = RunLog::new(run.into(), target, *settings, &seed, replay, next_seq);
        log.resumed(Resumed { version: env!("CARGO_PKG_VERSION").to_owned(), spent_ms: millis(spent) });
        let options = RunOptions { limits: Some(limits), caller, pending: Some(pending), spent, cancel, ..options };
        Ok(self.execute(&program, Arc::new(log), options).await)
    }

    async fn restore(&self, run: &str, space: &Space) -> Result<(Program, Replay, [u8; 32]), DurableError> {
        let store = &self.0.store;
        let mut replay = Replay::read(entries(&**store, run).await?)?;
        let header = &replay.header;
        let engine = self.0.engines.of(header, store, space.engine()).await?;
        let program = space.restore(&engine, image(&**store, header).await?)?;
        let program = program.with_hidden(header.hidden.clone());
        let seed = seed(header)?;
        replay.compares_fuel = header.wasmtime == WASMTIME_VERSION;
        Ok((program, replay, seed))
    }

    async fn execute(&self, program: &Program, log: Arc<RunLog>, options: RunOptions) -> DurableReport {
        // The caller's token may be for other runs too.
        let cancel = options.cancel.child_token();
        let heartbeat = Heartbeat::start(&self.0.store, *self.settings(), &log, cancel.clone(), &self.0.stopping);
        let options = RunOptions { cancel, ..options };
        let journal: Arc<dyn RunJournal> = log.clone();
        let mut report = program.run(RunOptions { journal: Some(journal), ..options }).await;
        drop(heartbeat);
        if let Some(diverged) = log.divergence() {
            // It may have ended before anything noticed.
            let places = log.next_call().map(|call| call.places(program)).unwrap_or_default();
            let at = if places.is_empty() { String::new() } else { format!(" (near {})", places.join(", ")) };
            report.outcome = Err(RunError::new(Code::RunDiverged, format!("{diverged}{at}")));
            report.has_value = false;
        }
        let state = self.end(&log, &report).await;
        DurableReport { report, state }
    }

    /// Writes how an execution ended.
    async fn end(&self, log: &RunLog, report: &RunReport) -> State {
        if log.divergence().is_some() {
            // Kept as it was, until a person continues it with the right program.
            let _released = Self::flushed(log.keep(Wake { at_ms: None, keys: vec![RESUME.to_owned()] })).await;
            return State::Diverged;
        }
        let leaving = match (log.leaving(), &report.outcome) {
            // There was no memory for it here.
            (None, Err(error)) if log.is_replaying() && log.forced_end().is_none() => {
                Some(Leaving::Lost(StoreError::Io(error.message.clone())))
            }
            (leaving, _) => leaving,
        };
        match leaving {
            Some(Leaving::Lost(error)) => {
                let _released = Self::flushed(log.release()).await;
                State::Lost(error)
            }
            Some(Leaving::Parked(wake)) => {
                let epoch = log.claim().map_or(0, |claim| claim.epoch);
                let keys = wake.keys.iter().cloned().chain([attend_key(epoch)]).collect();
                let stored = Wake { at_ms: wake.at_ms, keys };
                Self::left(log, wake, log.park(stored)).await
            }
            Some(Leaving::Stopped) => {
                let wake = Wake { at_ms: Some(epoch_ms(SystemTime::now())), keys: Vec::new() };
                Self::left(log, wake.clone(), log.hand_over(wake)).await
            }
            Some(Leaving::RecordEnds) | None => {
                let (result, status) = match &report.outcome {
                    Ok(value) => (json!({ "ok": value, "hasValue": report.has_value }), Status::Finished),
                    Err(error) if error.code == Code::RunCancelled => (json!({ "error": error }), Status::Cancelled),
                    Err(error) => (json!({ "error": error }), Status::Failed),
                };
                let outcome = json!({
                    "ok": report.outcome.is_ok(),
                    "code": report.outcome.as_ref().err().map(|error| error.code.as_str()),
                });
                let finished = log.finish(result, status, outcome.to_string());
                // A run without calls does not wait for the disk: flush the store to have it there. After calls, the
                // result must not be seen before their answers are stored.
                if !log.has_sent() {
                    return State::Ended;
                }
                match Self::flushed(finished).await {
                    Ok(()) => State::Ended,
                    Err(error) => {
                        let _released = Self::flushed(log.release()).await;
                        State::Lost(error)
                    }
                }
            }
        }
    }

    /// Waits until a run that left memory is given up.
    async fn left(log: &RunLog, wake: Wake, given_up: Option<Ticket>) -> State {
        match Self::flushed(given_up).await {
            Ok(()) => State::Parked(wake),
            Err(error) => {
                let _released = Self::flushed(log.release()).await;
                State::Lost(error)
            }
        }
    }

    async fn flushed(ticket: Option<Ticket>) -> Result<(), StoreError> {
        match ticket {
            Some(ticket) => ticket.await,
            None => Ok(()),
        }
    }
}

/// Returns the id of a run, or a new one.
fn run_id_of(options: &RunOptions) -> Arc<str> {
    options.run_id.clone().unwrap_or_else(new_run_id)
}

/// Generates the id of a new run.
pub fn new_run_id() -> Arc<str> {
    run_id::new()
}
