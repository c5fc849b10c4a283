//! Hosts that abort before and after every single write and commit of the journal.

use crate::child::{self, Job};
use crate::kills::KILLS;
use crate::world::{World, approve_all};
use agent_spaces_approvals::ApproverToken;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// More than the writer has steps in one run.
const MOST_STEPS: u64 = 1_000;

#[test]
fn a_run_survives_an_abort_at_every_write() {
    // Two chains of processes, one for each core. Each process ends the run of the one before it.
    let (here, elsewhere) = (std::thread::spawn(|| chain(0, false)), std::thread::spawn(|| chain(1, true)));
    let steps = (here.join().unwrap(), elsewhere.join().unwrap());
    // Fewer would mean that the faults were not injected: the run has 24 calls, each of which is flushed.
    assert!(steps.0 > 50 && steps.1 > 50, "{steps:?}");
    println!("aborted at {} steps with an approver here, at {} with one elsewhere", steps.0, steps.1);
}

#[test]
fn a_resumed_run_survives_an_abort_at_every_write() {
    let folder = tempfile::tempdir().unwrap();
    let takes_all = std::env::var_os(KILLS).is_some();
    let mut aborts = 0;
    for step in (0..MOST_STEPS).filter(|step| takes_all || step % 7 == 0) {
        let mut job = Job { folder: folder.path().to_owned(), ..Job::default() };
        // The first host dies while calls are on their way; so does the second, here or there.
        (job.start, job.abort_at) = (Some(format!("run_{step}")), Some(60 + step % 3));
        assert!(!child::wait(child::start(&job)), "it has more writes");
        (job.resume, job.abort_resumed_at) = (job.start.take(), Some(step));
        if child::wait(child::start(&job)) {
            break;
        }
        aborts += 1;
        job.abort_resumed_at = None;
        assert!(child::wait(child::start(&job)));
    }
    assert!(aborts > 10, "{aborts}");
    println!("aborted at {aborts} steps of resumed runs");
}

/// Aborts before and after every other write, or all of them. Returns the number of aborts.
fn chain(first: u64, is_decided_elsewhere: bool) -> u64 {
    let takes_all = std::env::var_os(KILLS).is_some();
    let folder = tempfile::tempdir().unwrap();
    let token = is_decided_elsewhere.then(|| ApproverToken::new().unwrap().reveal());
    let approver = Approver::start(folder.path(), token.clone());
    let mut job = Job { folder: folder.path().to_owned(), token, ..Job::default() };
    let mut aborts = 0;
    // Even steps are before a write, odd ones after it.
    for step in (0..MOST_STEPS).filter(|step| takes_all || step / 2 % 2 == first) {
        job.start = Some(format!("run_{step}"));
        job.abort_at = Some(step);
        let is_whole = child::wait(child::start(&job));
        job.resume = job.start.take();
        if is_whole {
            break;
        }
        aborts += 1;
    }
    assert!(child::wait(child::start(&job)));
    drop(approver);
    aborts
}

/// Approver in another process than the run: this one.
pub(crate) struct Approver {
    is_done: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Approver {
    /// Approves all requests in the store of this folder, if there is a token.
    pub(crate) fn start(folder: &std::path::Path, token: Option<String>) -> Approver {
        let is_done = Arc::new(AtomicBool::new(false));
        let (done, world) = (is_done.clone(), World::at(folder));
        let thread = token.map(|token| {
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    let store = world.store(Default::default());
                    while !done.load(Ordering::SeqCst) {
                        approve_all(&*store, &token).await;
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                });
            })
        });
        Approver { is_done, thread }
    }
}

impl Drop for Approver {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the approver failed");
        }
    }
}
