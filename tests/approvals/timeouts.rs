//! Approval wait time and the run's time limit.

use crate::approvals::support::{FILE_SYSTEM, PipedRun};
use serde_json::json;
use std::thread::sleep;
use std::time::Duration;

#[test]
fn waiting_for_approval_does_not_count_against_the_time_limit() {
    let mut run = PipedRun::starts(&FILE_SYSTEM.home(), &FILE_SYSTEM.attempt(), &["--timeout", "1s"]);
    let (id, _) = run.asks();
    sleep(Duration::from_secs(2));
    run.decides(&id, "approve");
    let ended = run.ends();
    assert_eq!(ended.value(), FILE_SYSTEM.value());
    let paused = ended.events("runResumed")[0]["pausedMs"].as_f64().unwrap();
    assert!((1900.0..10_000.0).contains(&paused), "{paused}");
}

#[test]
fn the_time_limit_resumes_after_the_decision() {
    let body =
        "await fileSystem.deleteFile({ path: 'a' }); await new Promise((resolve) => setTimeout(resolve, 5_000));";
    let mut run = PipedRun::starts(&FILE_SYSTEM.home(), &FILE_SYSTEM.script(body), &["--timeout", "1s"]);
    let (id, _) = run.asks();
    sleep(Duration::from_millis(1_200));
    run.decides(&id, "approve");
    let ended = run.ends();
    assert_eq!((ended.code().as_str(), ended.status), ("limit.time", Some(3)));
}

#[test]
fn waiting_counts_if_the_policy_says_so() {
    let home = FILE_SYSTEM.home_with(&json!({ "countsTime": true }));
    let mut run = PipedRun::starts(&home, &FILE_SYSTEM.attempt(), &["--timeout", "1s"]);
    let (id, _) = run.asks();
    sleep(Duration::from_secs(2));
    run.decides(&id, "approve");
    let ended = run.ends();
    assert_eq!((ended.code().as_str(), ended.status), ("limit.time", Some(3)), "{ended:?}");
    assert_eq!(ended.events("runPaused").len(), 0);
}

#[test]
fn a_timely_decision_is_accepted_when_waiting_counts() {
    let home = FILE_SYSTEM.home_with(&json!({ "countsTime": true }));
    let run = PipedRun::starts(&home, &FILE_SYSTEM.attempt(), &["--timeout", "10s"]);
    let ended = run.answers_all(&json!({ "decision": "approve" }));
    assert_eq!((ended.value(), ended.events("approvalRequired").len()), (json!(FILE_SYSTEM.value()), 1));
}
