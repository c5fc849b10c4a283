//! Worker: continues the runs of one space that are ready, whose wait is over, or whose host died.

use crate::error::DurableError;
use crate::runs::State;
use crate::waits::epoch_ms;
use agent_spaces_journal::{ClaimError, Store, StoreError, Summary};
use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::task::{Id, JoinError, JoinHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Interval at which the worker looks for runs whose time has come. Signals wake it at once.
const POLL: Duration = Duration::from_secs(1);
/// Shortest time between two looks: every write of any run changes the store.
const MIN_INTERVAL: Duration = Duration::from_millis(20);
/// Runs that are read beyond those that the worker leaves alone.
const PAGE: usize = 100;
/// Most runs beyond their caller's share that are read again with every look: further ones hide those behind them until
/// some have ended.
const MAX_KEPT: usize = 5_000;
/// Time after which a run that could not be continued is tried again. It doubles with every failure.
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// Longest time between two attempts: a person may have restored what is missing.
const LAST_RETRY: Duration = Duration::from_secs(5 * 60);

/// Runs that a worker continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Folder of the project, as in [`RunInfo::project`](crate::RunInfo).
    pub project: String,
    /// Spaces.
    pub spaces: Spaces,
    /// Most runs at once. Others wait in the store.
    pub max_runs: usize,
    /// Most of them that one caller started, so that one with many runs that are due leaves room for others.
    pub max_of_caller: usize,
}

/// Spaces whose runs a worker continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spaces {
    /// The one with this name; `None` for runs with the global capabilities only.
    One(Option<String>),
    /// All of the project.
    All,
}

/// Execution of a run; `None` if it is left to another host, because this one lacks what the run began with.
pub type Resuming = Pin<Box<dyn Future<Output = Result<Option<State>, DurableError>> + Send>>;
/// Function that claims and executes a run.
type Resume = dyn Fn(String) -> Resuming + Send + Sync;
/// Function that is told how an execution ended.
type Report = dyn Fn(&str, Result<&State, &DurableError>) + Send + Sync;

/// Worker in a task of its own.
#[derive(Debug)]
pub struct Worker {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Worker {
    /// Starts a worker. `resume` claims and executes a run; `report` is told how each execution ended.
    pub fn start(
        store: Arc<dyn Store>,
        settings: WorkerSettings,
        resume: impl Fn(String) -> Resuming + Send + Sync + 'static,
        report: impl Fn(&str, Result<&State, &DurableError>) + Send + Sync + 'static,
    ) -> Worker {
        let stop = CancellationToken::new();
        let duty = Duty {
            store,
            settings,
            resume: Box::new(resume),
            report: Box::new(report),
            executions: JoinSet::new(),
            running: HashMap::new(),
            foreign: HashSet::new(),
            kept: HashMap::new(),
            failed: HashMap::new(),
        };
        let task = tokio::spawn(duty.work(stop.clone()));
        Worker { stop, task }
    }

    /// Claims no more runs.
    pub fn claim_no_more(&self) {
        self.stop.cancel();
    }

    /// Claims no more runs, and waits until those that it executes have ended or left memory: see
    /// [`DurableRuns::stop`](crate::DurableRuns::stop).
    pub async fn stop(mut self) {
        self.claim_no_more();
        let _ended = (&mut self.task).await;
    }
}

impl Drop for Worker {
    /// Drops its executions. Their runs can be claimed when their leases have expired, or this process has ended.
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// State of a worker.
struct Duty {
    store: Arc<dyn Store>,
    settings: WorkerSettings,
    resume: Box<Resume>,
    report: Box<Report>,
    executions: JoinSet<Result<Option<State>, DurableError>>,
    /// Runs that are executed, by task.
    running: HashMap<Id, Execution>,
    /// Runs of other spaces and hosts that are due: what a run belongs to never changes.
    foreign: HashSet<String>,
    /// Runs that are due and whose caller has as many in execution as it may, with the caller.
    kept: HashMap<String, String>,
    /// Runs that could not be continued.
    failed: HashMap<String, Failure>,
}

/// Run that is executed.
struct Execution {
    run: String,
    caller: String,
}

/// Failed attempts to continue a run.
struct Failure {
    retry: Duration,
    again: Instant,
}

impl Duty {
    async fn work(mut self, stop: CancellationToken) {
        let mut version = 0;
        loop {
            // A store that cannot be read now is asked again.
            let is_hidden = self.look().await.unwrap_or(false);
            tokio::select! {
                () = stop.cancelled() => break,
                Some(done) = self.executions.join_next_with_id() => self.ended(done),
                () = tokio::time::sleep(if is_hidden { MIN_INTERVAL } else { POLL }) => {}
                changed = next_change(&*self.store, version) => version = changed,
            }
        }
        while let Some(done) = self.executions.join_next_with_id().await {
            self.ended(done);
        }
    }

    /// Starts to execute the runs that are due, as many as there are free places. Returns true if those of others may hide
    /// more of them: now that they are known, the next look reads further.
    async fn look(&mut self) -> Result<bool, StoreError> {
        let mut free = self.settings.max_runs.saturating_sub(self.running.len());
        if free == 0 {
            return Ok(false);
        }
        // Those that are left alone must not hide others.
        let known = self.foreign.len() + self.failed.len() + self.running.len() + self.kept.len().min(MAX_KEPT);
        let most = known.saturating_add(PAGE);
        let due = self.store.due(epoch_ms(SystemTime::now()), most).await?;
        let is_page_full = due.len() >= most;
        let listed: HashSet<&String> = due.iter().collect();
        let running: HashSet<String> = self.running.values().map(|execution| execution.run.clone()).collect();
        let mut of_callers: HashMap<String, usize> = HashMap::new();
        for execution in self.running.values() {
            *of_callers.entry(execution.caller.clone()).or_default() += 1;
        }
        self.foreign.retain(|run| listed.contains(run));
        self.kept.retain(|run, _| listed.contains(run));
        self.failed.retain(|run, _| listed.contains(run) || running.contains(run));
        let known_before = self.foreign.len();
        for run in due {
            let is_resting = self.failed.get(&run).is_some_and(|failure| Instant::now() < failure.again);
            if is_resting || running.contains(&run) || self.foreign.contains(&run) {
                continue;
            }
            let caller = match self.kept.remove(&run) {
                Some(caller) => caller,
                None => {
                    let Some(row) = self.store.run(&run).await? else { continue };
                    if !self.is_own(&row.summary) {
                        self.foreign.insert(run);
                        continue;
                    }
                    row.summary.caller
                }
            };
            let count = of_callers.entry(caller.clone()).or_default();
            if *count >= self.settings.max_of_caller {
                self.kept.insert(run, caller);
                continue;
            }
            *count += 1;
            let task = self.executions.spawn((self.resume)(run.clone()));
            self.running.insert(task.id(), Execution { run, caller });
            free -= 1;
            if free == 0 {
                break;
            }
        }
        Ok(is_page_full && self.foreign.len() > known_before)
    }

    /// Returns true if a run belongs to the worker's project and spaces.
    fn is_own(&self, summary: &Summary) -> bool {
        let is_space = match &self.settings.spaces {
            Spaces::One(space) => summary.space == space.as_deref().unwrap_or_default(),
            Spaces::All => true,
        };
        summary.project == self.settings.project && is_space
    }

    /// Reports an execution. A run that could not be continued is left alone for a while.
    fn ended(&mut self, done: Result<(Id, Result<Option<State>, DurableError>), JoinError>) {
        let (task, outcome) = match done {
            Ok(done) => done,
            Err(error) => (error.id(), Err(DurableError::Interrupted(error.to_string()))),
        };
        let Some(Execution { run, .. }) = self.running.remove(&task) else { return };
        let outcome = match outcome {
            Ok(Some(state)) => Ok(state),
            Ok(None) => {
                self.foreign.insert(run);
                return;
            }
            // Another host was faster.
            Err(DurableError::Claim(ClaimError::Refused(_))) => return,
            Err(error) => Err(error),
        };
        (self.report)(&run, outcome.as_ref());
        match outcome {
            Ok(State::Ended | State::Parked(_) | State::Diverged) => {
                self.failed.remove(&run);
            }
            Ok(State::Lost(_)) | Err(_) => {
                let retry = self.failed.get(&run).map_or(FIRST_RETRY, |failure| (failure.retry * 2).min(LAST_RETRY));
                self.failed.insert(run, Failure { retry, again: Instant::now() + retry });
            }
        }
    }
}

/// Waits until the store changes, a moment at least.
async fn next_change(store: &dyn Store, version: u64) -> u64 {
    tokio::time::sleep(MIN_INTERVAL).await;
    let changed = store.changed(version).await;
    if changed == version {
        // The store is closed.
        std::future::pending::<()>().await;
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::{Resuming, Spaces, Worker, WorkerSettings};
    use crate::error::DurableError;
    use crate::runs::State;
    use crate::waits::epoch_ms;
    use agent_spaces_journal::{Entry, NewRun, SqliteStore, Status, Store, Summary, Wake};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, SystemTime};
    use tempfile::TempDir;
    use tokio::time::{sleep, timeout};

    const LEASE: Duration = Duration::from_secs(30);
    const SOON: Duration = Duration::from_secs(10);

    fn open(folder: &TempDir) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(folder.path(), Default::default()).unwrap())
    }

    /// Parks a run of a space until `wake`.
    async fn parked(store: &dyn Store, run: &str, space: &str, wake: Wake) {
        parked_of(store, run, space, "", wake).await;
    }

    /// The same for a caller's run.
    async fn parked_of(store: &dyn Store, run: &str, space: &str, caller: &str, wake: Wake) {
        let (space, caller, project) = (space.to_owned(), caller.to_owned(), "/p".to_owned());
        let summary = Summary { space, caller, project, ..Summary::default() };
        let new = NewRun { id: run.to_owned(), summary, lease: LEASE, content: vec![] };
        let (claim, _queued) = store.create(new, store.owner(), vec![Entry::new("started", 0, "{}")]);
        store.park(&claim, 1, Vec::new(), wake).await.unwrap();
    }

    fn due() -> Wake {
        Wake { at_ms: Some(0), keys: Vec::new() }
    }

    fn settings(max_runs: usize) -> WorkerSettings {
        let spaces = Spaces::One(Some("own".to_owned()));
        WorkerSettings { project: "/p".to_owned(), spaces, max_runs, max_of_caller: max_runs }
    }

    /// Claims and finishes a run.
    fn finish(store: &Arc<dyn Store>, run: String) -> Resuming {
        let store = store.clone();
        Box::pin(async move {
            let claim = store.claim(&run, store.owner(), LEASE).await?;
            store.finish(&claim, claim.next_seq, Vec::new(), Status::Finished, "{}".to_owned()).await?;
            Ok(Some(State::Ended))
        })
    }

    async fn status(store: &dyn Store, run: &str) -> Status {
        store.run(run).await.unwrap().unwrap().status
    }

    async fn until_finished(store: &dyn Store, run: &str) {
        let finished = async {
            while status(store, run).await != Status::Finished {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(SOON, finished).await.unwrap_or_else(|_| panic!("{run} was not continued"));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn only_runs_of_the_space_are_continued_when_their_wait_is_over() {
        let folder = TempDir::new().unwrap();
        let store = open(&folder);
        parked(&*store, "run_other", "other", due()).await;
        parked(&*store, "run_declined", "own", due()).await;
        parked(&*store, "run_due", "own", due()).await;
        let soon = epoch_ms(SystemTime::now()) + 300;
        parked(&*store, "run_timer", "own", Wake { at_ms: Some(soon), keys: Vec::new() }).await;
        parked(&*store, "run_key", "own", Wake { at_ms: None, keys: vec!["approval:a".to_owned()] }).await;
        let reported = Arc::new(Mutex::new(Vec::new()));
        let (runs, told) = (store.clone(), reported.clone());
        let resume = move |run: String| -> Resuming {
            match run.as_str() {
                "run_declined" => Box::pin(async { Ok(None) }),
                _ => finish(&runs, run),
            }
        };
        let report = move |run: &str, outcome: Result<&State, &DurableError>| {
            assert_eq!(outcome.unwrap(), &State::Ended);
            told.lock().unwrap().push(run.to_owned());
        };
        let worker = Worker::start(store.clone(), settings(4), resume, report);
        until_finished(&*store, "run_due").await;
        until_finished(&*store, "run_timer").await;
        assert!(epoch_ms(SystemTime::now()) >= soon, "it was continued too early");
        assert_eq!(status(&*store, "run_key").await, Status::Parked);
        store.signal("run_key", "approval:a").await.unwrap();
        until_finished(&*store, "run_key").await;
        worker.stop().await;
        assert_eq!(*reported.lock().unwrap(), ["run_due", "run_timer", "run_key"]);
        for left in ["run_other", "run_declined"] {
            assert_eq!(status(&*store, left).await, Status::Parked, "{left}");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn many_runs_of_others_do_not_hold_up_own_ones() {
        let folder = TempDir::new().unwrap();
        let store = open(&folder);
        for number in 0..650 {
            let summary = Summary { project: "/other".to_owned(), ..Summary::default() };
            let new = NewRun { id: format!("run_{number}"), summary, lease: LEASE, content: vec![] };
            let (claim, _queued) = store.create(new, store.owner(), Vec::new());
            let _queued = store.park(&claim, 0, Vec::new(), due());
        }
        store.flush().await.unwrap();
        parked(&*store, "run_z_own", "own", due()).await;
        let runs = store.clone();
        let worker = Worker::start(store.clone(), settings(2), move |run| finish(&runs, run), |_, _| {});
        let finished = timeout(Duration::from_secs(4), until_finished(&*store, "run_z_own"));
        finished.await.expect("one look in a second would take longer");
        worker.stop().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn no_more_runs_than_allowed_are_executed_at_once() {
        let folder = TempDir::new().unwrap();
        let store = open(&folder);
        for number in 0..6 {
            parked(&*store, &format!("run_{number}"), "own", due()).await;
        }
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (runs, current, highest) = (store.clone(), now.clone(), most.clone());
        let resume = move |run: String| -> Resuming {
            let (work, current, highest) = (finish(&runs, run), current.clone(), highest.clone());
            Box::pin(async move {
                highest.fetch_max(current.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                sleep(Duration::from_millis(30)).await;
                let outcome = work.await;
                current.fetch_sub(1, Ordering::SeqCst);
                outcome
            })
        };
        let worker = Worker::start(store.clone(), settings(2), resume, |_, _| {});
        for number in 0..6 {
            until_finished(&*store, &format!("run_{number}")).await;
        }
        worker.stop().await;
        assert_eq!((now.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (0, 2));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_caller_with_many_due_runs_leaves_room_for_others() {
        let folder = TempDir::new().unwrap();
        let store = open(&folder);
        for number in 0..6 {
            parked_of(&*store, &format!("run_noisy_{number}"), "own", "noisy", due()).await;
        }
        parked_of(&*store, "run_quiet", "own", "quiet", due()).await;
        let (may_end, begun) = (Arc::new(tokio::sync::Semaphore::new(0)), Arc::new(Mutex::new(Vec::new())));
        let (runs, gate, order) = (store.clone(), may_end.clone(), begun.clone());
        let resume = move |run: String| -> Resuming {
            order.lock().unwrap().push(run.clone());
            let (work, gate) = (finish(&runs, run), gate.clone());
            Box::pin(async move {
                let _may_end = gate.acquire().await;
                work.await
            })
        };
        let settings = WorkerSettings { max_of_caller: 2, ..settings(3) };
        let worker = Worker::start(store.clone(), settings, resume, |_, _| {});
        let all_places = async {
            while begun.lock().unwrap().len() < 3 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(SOON, all_places).await.unwrap();
        assert!(begun.lock().unwrap().contains(&"run_quiet".to_owned()), "{begun:?}");
        may_end.add_permits(1);
        for number in 0..6 {
            until_finished(&*store, &format!("run_noisy_{number}")).await;
        }
        until_finished(&*store, "run_quiet").await;
        worker.stop().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_run_that_fails_or_panics_rests_and_hides_no_other() {
        let folder = TempDir::new().unwrap();
        let store = open(&folder);
        parked(&*store, "run_bad", "own", due()).await;
        parked(&*store, "run_worse", "own", due()).await;
        let (attempts, failures) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (runs, tried, failed) = (store.clone(), attempts.clone(), failures.clone());
        let resume = move |run: String| -> Resuming {
            match run.as_str() {
                "run_bad" => {
                    tried.fetch_add(1, Ordering::SeqCst);
                    Box::pin(async { Err(DurableError::Empty) })
                }
                "run_worse" => Box::pin(async { panic!("a bug") }),
                _ => finish(&runs, run),
            }
        };
        let report = move |_: &str, outcome: Result<&State, &DurableError>| {
            failed.fetch_add(usize::from(outcome.is_err()), Ordering::SeqCst);
        };
        let worker = Worker::start(store.clone(), settings(1), resume, report);
        sleep(Duration::from_millis(300)).await;
        parked(&*store, "run_good", "own", due()).await;
        until_finished(&*store, "run_good").await;
        worker.stop().await;
        assert!(attempts.load(Ordering::SeqCst) <= 4, "it was tried in a loop");
        assert!(failures.load(Ordering::SeqCst) >= 2);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_stopped_worker_claims_nothing_and_waits_for_its_executions() {
        let folder = TempDir::new().unwrap();
        let store = open(&folder);
        parked(&*store, "run_slow", "own", due()).await;
        let (runs, begun) = (store.clone(), Arc::new(tokio::sync::Notify::new()));
        let told = begun.clone();
        let resume = move |run: String| -> Resuming {
            let (work, told) = (finish(&runs, run), told.clone());
            Box::pin(async move {
                told.notify_one();
                sleep(Duration::from_millis(100)).await;
                work.await
            })
        };
        let worker = Worker::start(store.clone(), settings(4), resume, |_, _| {});
        timeout(SOON, begun.notified()).await.unwrap();
        worker.stop().await;
        assert_eq!(status(&*store, "run_slow").await, Status::Finished);
        parked(&*store, "run_late", "own", due()).await;
        sleep(Duration::from_millis(100)).await;
        assert_eq!(status(&*store, "run_late").await, Status::Parked);
    }
}
