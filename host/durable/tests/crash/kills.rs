//! Processes killed at random moments: nothing is lost, nothing is repeated.

use crate::child::{self, Job};
use crate::every_write::Approver;
use agent_spaces_approvals::ApproverToken;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Environment variable with the number of kills. With it, hosts also abort at twice as many writes.
pub(crate) const KILLS: &str = "AGENT_SPACES_DURABLE_KILLS";
/// Kills without it.
const FEW_KILLS: u64 = 60;
/// Longest life of a process, in milliseconds: about that of a whole run.
const LONGEST: u64 = 250;

#[test]
fn nothing_is_lost_or_repeated_under_random_kills() {
    let kills = std::env::var(KILLS).map_or(FEW_KILLS, |kills| kills.parse().unwrap());
    let left = AtomicU64::new(kills);
    let ended: u64 = std::thread::scope(|scope| {
        let threads = [false, true].map(|elsewhere| (elsewhere, &left));
        let threads = threads.map(|(elsewhere, left)| scope.spawn(move || kill(elsewhere, left)));
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("{kills} kills, {ended} runs");
}

/// Runs and kills until no kill is left. Returns the number of runs.
fn kill(is_decided_elsewhere: bool, left: &AtomicU64) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let token = is_decided_elsewhere.then(|| ApproverToken::new().unwrap().reveal());
    let _approver = Approver::start(folder.path(), token.clone());
    let mut runs = 0;
    while left.load(Ordering::SeqCst) > 0 {
        runs += 1;
        let run = format!("run_{runs}");
        let mut job = Job { folder: folder.path().to_owned(), token: token.clone(), ..Job::default() };
        job.start = Some(run.clone());
        kill_one(&job, left);
        (job.start, job.resume) = (None, Some(run));
        // Those who continue it die too.
        while random().is_multiple_of(2) {
            kill_one(&job, left);
        }
        assert!(child::wait(child::start(&job)), "nobody killed it");
    }
    runs
}

/// Kills a process, and counts that if it had not ended before.
fn kill_one(job: &Job, left: &AtomicU64) {
    let mut child = child::start(job);
    std::thread::sleep(Duration::from_millis(random() % LONGEST));
    child.kill().unwrap();
    if !child::wait(child) {
        let _ = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
    }
}

fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}
