//! Processes that execute runs and die.

use crate::check;
use crate::world::{Person, SCRIPT, World, decided_in, settings};
use agent_spaces_durable::{DurableError, DurableRuns, RunInfo, State};
use agent_spaces_journal::sqlite::FaultPoint;
use agent_spaces_journal::{ClaimError, Refused, Settings as StoreSettings, Status, Store};
use agent_spaces_sandbox::run::RunOptions;
use agent_spaces_space::space::Space;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Environment variable that has the job of a child.
pub(crate) const JOB: &str = "AGENT_SPACES_DURABLE_CHILD";

/// Job of a child: continues a run, then starts one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) folder: PathBuf,
    /// Run to continue until it ends; then it is checked.
    pub(crate) resume: Option<String>,
    /// Run to start.
    pub(crate) start: Option<String>,
    /// Script of that run, if it is not the usual one.
    pub(crate) script: Option<String>,
    /// Step of the store's writer at which the process aborts, counted from the start of the run.
    pub(crate) abort_at: Option<u64>,
    /// The same for the run that it continues.
    pub(crate) abort_resumed_at: Option<u64>,
    /// Lease, in milliseconds.
    pub(crate) lease: Option<u64>,
    /// Token of the approver who decides in the store. Without one, the child approves.
    pub(crate) token: Option<String>,
}

/// Starts a child.
pub(crate) fn start(job: &Job) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child", "--exact", "--nocapture"]).env(JOB, serde_json::to_string(job).unwrap());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for a child. Returns true if it ended by itself, false if it was killed or aborted.
pub(crate) fn wait(child: Child) -> bool {
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    let is_signal = std::os::unix::process::ExitStatusExt::signal(&status).is_some();
    assert!(status.success() || is_signal, "{}", String::from_utf8_lossy(&stderr));
    status.success()
}

/// Does a job, in a child.
pub(crate) fn work(job: &Job) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let world = World::at(&job.folder);
        let armed = Arc::new(AtomicU64::new(u64::MAX));
        let faults = {
            let armed = armed.clone();
            move |_: FaultPoint| {
                let left = armed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| Some(left.saturating_sub(1)));
                if left == Ok(0) {
                    std::process::abort();
                }
            }
        };
        let store = world.store(StoreSettings { faults: Some(Arc::new(faults)), ..StoreSettings::default() });
        let mut settings = settings();
        settings.lease = job.lease.map_or(settings.lease, Duration::from_millis);
        let runs = DurableRuns::new(store.clone(), settings);
        let space = match &job.token {
            Some(token) => world.space(decided_in(store.clone(), token)),
            None => world.space(Arc::new(Person)),
        };
        if let Some(run) = &job.resume {
            armed.store(job.abort_resumed_at.unwrap_or(u64::MAX), Ordering::SeqCst);
            settle(&world, &runs, &space, run, &armed).await;
        }
        if let Some(run) = &job.start {
            let program = space.prepare("agent.ts", job.script.as_deref().unwrap_or(SCRIPT)).unwrap();
            armed.store(job.abort_at.unwrap_or(u64::MAX), Ordering::SeqCst);
            let options = RunOptions { run_id: Some(run.as_str().into()), ..RunOptions::default() };
            let done = runs.run(&program, options, RunInfo::default()).await.unwrap();
            armed.store(u64::MAX, Ordering::SeqCst);
            match done.state {
                State::Ended => assert!(done.report.outcome.is_ok(), "{:?}", done.report.outcome),
                // A stopped process finds out that it no longer owns its run.
                State::Lost(_) if job.lease.is_some() => std::process::abort(),
                state => panic!("{state:?}"),
            }
        }
        store.flush().await.unwrap();
    });
}

/// Continues a run until it ends, answers questions about its calls, and checks it.
async fn settle(world: &World, runs: &DurableRuns, space: &Space, run: &str, armed: &AtomicU64) {
    let store: &Arc<dyn Store> = runs.store();
    let person = world.resolve_doubts(store.clone(), run.to_owned());
    let resumed = runs.resume(run, space, RunOptions::default()).await;
    person.abort();
    armed.store(u64::MAX, Ordering::SeqCst);
    match resumed {
        Ok(done) => assert_eq!(done.state, State::Ended, "{run}: {:?}", done.report.outcome),
        Err(DurableError::Claim(ClaimError::Refused(Refused::Finished { status: Status::Finished }))) => {}
        // Its host died before its beginning was flushed, so nothing has happened: a run is there with its program or not at
        // all.
        Err(DurableError::Claim(ClaimError::Refused(Refused::Unknown))) => {
            assert_eq!(world.effects(run), [""; 0], "{run}");
            return;
        }
        Err(error) => panic!("{run}: {error}"),
    }
    check::ended(world, store, run).await;
}
