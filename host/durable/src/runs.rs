//! Start and continuation of durable runs.

use crate::engines::Engines;
use crate::error::DurableError;
use crate::header::{FORMAT, Header};
use crate::log::{Leaving, RunLog, Storing, Target};
use crate::record::{Record, Resumed, millis};
use crate::replay::Replay;
use crate::settings::Settings;
use crate::stored::{entries, image, seed};
use crate::waits::epoch_ms;
use agent_spaces_calls::journal::RunJournal;
use agent_spaces_calls::run_id;
use agent_spaces_journal::{Claim, NewRun, Signalled, Status, Store, StoreError, Summary, Ticket, Wake};
use agent_spaces_sandbox::engine::{ENGINE_SHA256, ENGINE_WASM, WASMTIME_VERSION};
use agent_spaces_sandbox::program::Program;
use agent_spaces_sandbox::run::{RunOptions, RunReport};
use agent_spaces_space::space::Space;
use agent_spaces_types::code::Code;
use agent_spaces_types::run_error::RunError;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Interval at which a run is asked for a cancellation by another process.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Hashes of stored content that are remembered.
const MAX_KEPT: usize = 10_000;
/// Program images whose hashes are kept.
const MAX_HASHES: usize = 256;
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
    /// Hash of this program's engine, once it was computed.
    engine: OnceLock<String>,
    /// Hashes of content that is in the store.
    kept: Mutex<HashSet<String>>,
    /// Hashes of program images, by address.
    hashes: Mutex<HashMap<usize, HashedImage>>,
    /// Cancelled when this host stops.
    stopping: CancellationToken,
}

/// Content that is stored once for all runs that have it.
enum Content {
    Engine,
    Program(Arc<[u8]>),
}

impl Content {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Content::Engine => ENGINE_WASM.to_vec(),
            Content::Program(image) => image.to_vec(),
        }
    }
}

/// Program image and its hash.
type HashedImage = (Arc<[u8]>, String);

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

impl DurableRuns {
    /// Uses this store.
    pub fn new(store: Arc<dyn Store>, settings: Settings) -> DurableRuns {
        let (engines, engine) = (Engines::default(), OnceLock::new());
        let (kept, hashes, stopping) = (Mutex::default(), Mutex::default(), CancellationToken::new());
        DurableRuns(Arc::new(Inner { store, settings, engines, engine, kept, hashes, stopping }))
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
        let id = match &options.run_id {
            Some(id) => id.clone(),
            None => new_run_id(),
        };
        let (log, program) = self.begin(id, program, &options, info)?;
        Ok(self.execute(&program, log, options).await)
    }

    /// Creates a run's journal.
    fn begin(
        &self,
        id: Arc<str>,
        program: &Program,
        options: &RunOptions,
        info: RunInfo,
    ) -> Result<(Arc<RunLog>, Program), DurableError> {
        let Inner { store, settings, .. } = &*self.0;
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| DurableError::Random(error.to_string()))?;
        let program = program.seen_by(&options.caller);
        let (image, image_bytes) = self.image(&program)?;
        let engine = self.0.engine.get_or_init(|| blake3::hash(ENGINE_WASM).to_hex().to_string());
        let header = Header {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            script: program.name().to_owned(),
            program: image.clone(),
            engine: engine.clone(),
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
            engine: engine.clone(),
        };
        let run = NewRun { id: id.to_string(), summary, lease: settings.lease };
        let first = Record::Started(Box::new(header.clone())).entry(epoch_ms(SystemTime::now()));
        let (claim, _queued) = store.create(run, store.owner(), vec![first]);
        let storing = self.keep(&claim, [(engine, Content::Engine), (&image, Content::Program(image_bytes))]);
        let log = RunLog::new(id, Target::Store(store.clone(), claim), *settings, &seed, Replay::new(header), 1);
        Ok((Arc::new(log.storing(storing)), program))
    }

    /// Keeps content for as long as the run exists. It is in the store after the first run that has it.
    fn keep(&self, claim: &Claim, contents: [(&String, Content); 2]) -> Option<Storing> {
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            // Storing content again does no harm.
            kept.clear();
        }
        let mut keeping = Vec::new();
        for (hash, content) in contents {
            if kept.insert(hash.clone()) {
                // It is written before all that is queued after it.
                let (_hash, _queued) = self.0.store.put_blob(claim, content.bytes());
            } else {
                keeping.push((self.0.store.keep_blob(claim, hash), content));
            }
        }
        if keeping.is_empty() {
            return None;
        }
        let (store, claim) = (self.0.store.clone(), claim.clone());
        let keep = async move {
            for (kept, content) in keeping {
                // Another process may have pruned the runs that had it.
                if !kept.await? {
                    let (_hash, stored) = store.put_blob(&claim, content.bytes());
                    stored.await?;
                }
            }
            Ok(())
        };
        Some(tokio::spawn(keep))
    }

    /// Returns the bytes of a program's image, and their hash: computing that takes longer than a short run.
    fn image(&self, program: &Program) -> Result<(String, Arc<[u8]>), DurableError> {
        let bytes = program.image()?.ok_or(DurableError::NoImage)?;
        let mut hashes = self.0.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        let address = bytes.as_ptr() as usize;
        if let Some((_, hash)) = hashes.get(&address) {
            return Ok((hash.clone(), bytes));
        }
        if hashes.len() >= MAX_HASHES {
            hashes.clear();
        }
        let hash = blake3::hash(&bytes).to_hex().to_string();
        // The entry keeps the bytes, so that no others get their address.
        hashes.insert(address, (bytes.clone(), hash.clone()));
        Ok((hash, bytes))
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
            // Its host died before all of it was stored, so it has done nothing.
            Err(error @ DurableError::Missing { .. }) if claim.next_seq <= 1 => {
                let outcome = json!({ "ok": false, "code": Code::HostEngine.as_str() }).to_string();
                store.finish(&claim, claim.next_seq, Vec::new(), Status::Failed, outcome).await?;
                return Err(error);
            }
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
        let limits = Some(replay.header.limits.clone());
        let pending = options.pending.unwrap_or_else(|| program.sandbox().rules().pending());
        replay.remember_approvals(&pending);
        let target = Target::Store(store.clone(), claim);
        let log = RunLog::new(run.into(), target, *settings, &seed, replay, next_seq);
        log.resumed(Resumed { version: env!("CARGO_PKG_VERSION").to_owned(), spent_ms: millis(spent) });
        let options = RunOptions { limits, caller, pending: Some(pending), spent, cancel, ..options };
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
        let heartbeat = self.heartbeat(&log, cancel.clone());
        let options = RunOptions { cancel, ..options };
        let journal: Arc<dyn RunJournal> = log.clone();
        let mut report = program.run(RunOptions { journal: Some(journal), ..options }).await;
        heartbeat.abort();
        if let Some(diverged) = log.divergence() {
            // It may have ended before anything noticed.
            report.outcome = Err(RunError::new(Code::RunDiverged, diverged.to_string()));
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
                Self::left(log, wake, || log.park(stored)).await
            }
            Some(Leaving::Stopped) => {
                let wake = Wake { at_ms: Some(epoch_ms(SystemTime::now())), keys: Vec::new() };
                Self::left(log, wake.clone(), || log.hand_over(wake)).await
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
                // A run without calls does not wait for the disk: whoever needs it there flushes the store. Otherwise
                // somebody could see a result whose answers are lost.
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

    /// Gives up a run that left memory, once its program and engine are stored.
    async fn left(log: &RunLog, wake: Wake, give_up: impl FnOnce() -> Option<Ticket>) -> State {
        let parked = match log.stored().await {
            Ok(()) => Self::flushed(give_up()).await,
            Err(error) => Err(error),
        };
        match parked {
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

    /// Renews the lease of a run, and cancels it if another process asks for that.
    fn heartbeat(&self, log: &Arc<RunLog>, cancel: CancellationToken) -> Heartbeat {
        let (store, settings, stopping) = (self.0.store.clone(), self.0.settings, self.0.stopping.clone());
        let log = Arc::downgrade(log);
        Heartbeat(tokio::spawn(async move {
            let mut beats = tokio::time::interval(HEARTBEAT.min(settings.lease / 3));
            beats.tick().await;
            let mut is_stopped = false;
            loop {
                tokio::select! {
                    _ = beats.tick() => {}
                    () = stopping.cancelled(), if !is_stopped => is_stopped = true,
                }
                let Some(log) = log.upgrade() else { return };
                if is_stopped {
                    log.stop();
                }
                let Some(claim) = log.claim() else { return };
                match store.renew(claim, settings.lease).await {
                    Ok(until) => log.leased_until(until),
                    // The next beat tries again.
                    Err(StoreError::Busy | StoreError::Io(_) | StoreError::Full(_)) if log.is_leased() => {}
                    Err(error) => return log.lose(error),
                }
                if let Ok(Some(row)) = store.run(log.run_id()).await
                    && row.cancel_requested
                {
                    cancel.cancel();
                }
            }
        }))
    }
}

/// Task that ends with the run.
struct Heartbeat(JoinHandle<()>);

impl Heartbeat {
    fn abort(&self) {
        self.0.abort();
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Generates the id of a new run.
pub fn new_run_id() -> Arc<str> {
    run_id::new()
}
