//! Changes by other processes, and followers that are too many or too slow.

use super::{Change, ChangeFeed, Following, MAX_BEHIND, MAX_FOLLOWERS};
use crate::approval_request::{ApprovalStatus, of_agent, of_ticket};
use agent_spaces_approvals::{ApproverToken, Decision, Settled};
use agent_spaces_journal::{Approval, Claim, Entry, NewRun, SqliteStore, Status, Store, Summary, Wake};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// A feed, and the store as another process has it.
struct Fixture {
    feed: ChangeFeed,
    other: SqliteStore,
    _folder: TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let open = || SqliteStore::open(&folder.path().join("journal"), Default::default()).unwrap();
        let (feed, other) = (ChangeFeed::new(Arc::new(open()), "/project"), open());
        Fixture { feed, other, _folder: folder }
    }

    /// Creates a run of ann in a project.
    async fn begin(&self, id: &str, project: &str) -> Claim {
        let summary = Summary { project: project.to_owned(), caller: "ann".to_owned(), ..Summary::default() };
        let new = NewRun { id: id.to_owned(), summary, lease: Duration::from_secs(60), content: vec![] };
        let (claim, created) = self.other.create(new, self.other.owner(), vec![Entry::new("started", 0, "{}")]);
        created.await.unwrap();
        claim
    }

    /// Asks for approval of a call.
    async fn ask(&self, claim: &Claim, lasts: Duration) -> agent_spaces_approvals::Request {
        let request = of_ticket(&claim.run, 1, lasts);
        let text = serde_json::to_string(&request).unwrap();
        let approval = Approval { id: request.id.clone(), call: 1, request: text };
        self.other.request_approval(claim, claim.next_seq, vec![], approval).await.unwrap();
        request
    }
}

/// Shows a change, without its times.
fn shown(change: &Change) -> String {
    match change {
        Change::Run { row, has_pending } => {
            let asks = if *has_pending { " asks" } else { "" };
            format!("{} of {}: {}{asks}", row.id, row.summary.caller, row.status)
        }
        Change::Approval { run, owner, status, .. } => format!("approval of {run} of {owner}: {status:?}"),
        Change::AgentApproval { agent, owner, status, .. } => format!("approval of {agent} of {owner}: {status:?}"),
        Change::Missed => "missed".to_owned(),
    }
}

/// Reads changes until this one came, and returns them.
async fn until(following: &mut Following, last: &str) -> Vec<String> {
    let mut seen = Vec::new();
    let came = async {
        loop {
            let change = following.next().await;
            let change = shown(change.as_ref());
            seen.push(change.clone());
            if change == last {
                return;
            }
        }
    };
    let came = tokio::time::timeout(Duration::from_secs(20), came).await;
    assert!(came.is_ok(), "{last} does not come: {seen:?}");
    seen
}

#[tokio::test]
async fn what_another_process_does_is_told() {
    let fixture = Fixture::new();
    let mut following = fixture.feed.follow("").unwrap();
    fixture.begin("run_other", "/elsewhere").await;
    let claim = fixture.begin("run_1", "/project").await;
    assert_eq!(until(&mut following, "run_1 of ann: running").await, ["run_1 of ann: running"], "of this project only");

    let request = fixture.ask(&claim, Duration::from_secs(600)).await;
    let asked = until(&mut following, "run_1 of ann: running asks").await;
    assert_eq!(asked, ["approval of run_1 of ann: Pending", "run_1 of ann: running asks"]);
    let decision = ApproverToken::new().unwrap().sign_decision_of("ann", &request, Decision::approve("ann"));
    fixture.other.decide(&request.id, &decision).await.unwrap();
    let decided = until(&mut following, "run_1 of ann: running").await;
    assert_eq!(decided, ["approval of run_1 of ann: Approved", "run_1 of ann: running"]);

    // Nothing is told of what only adds to a run.
    for seq in 1..20 {
        fixture.other.append(&claim, seq, vec![Entry::new("event", 0, "{}")]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    let wake = Wake { keys: vec!["key".to_owned()], ..Wake::default() };
    fixture.other.park(&claim, 20, vec![], wake).await.unwrap();
    assert_eq!(until(&mut following, "run_1 of ann: parked").await, ["run_1 of ann: parked"]);
    fixture.other.signal("run_1", "key").await.unwrap();
    assert_eq!(until(&mut following, "run_1 of ann: ready").await, ["run_1 of ann: ready"]);
    let claim = fixture.other.claim("run_1", fixture.other.owner(), Duration::from_secs(60)).await.unwrap();
    assert_eq!(until(&mut following, "run_1 of ann: running").await, ["run_1 of ann: running"]);
    fixture.other.finish(&claim, 20, vec![], Status::Finished, "{}".to_owned()).await.unwrap();
    assert_eq!(until(&mut following, "run_1 of ann: finished").await, ["run_1 of ann: finished"]);
}

#[tokio::test]
async fn a_request_whose_time_is_over_is_told() {
    let fixture = Fixture::new();
    let claim = fixture.begin("run_1", "/project").await;
    // One from before somebody follows, and one from later.
    fixture.ask(&claim, Duration::from_millis(1_500)).await;
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let mut following = fixture.feed.follow("").unwrap();
    until(&mut following, "approval of run_1 of ann: Expired").await;
    fixture.ask(&claim, Duration::from_millis(1_500)).await;
    until(&mut following, "approval of run_1 of ann: Pending").await;
    until(&mut following, "approval of run_1 of ann: Expired").await;
}

#[tokio::test]
async fn a_run_that_ends_between_two_looks_is_told_with_its_end() {
    let fixture = Fixture::new();
    let mut following = fixture.feed.follow("").unwrap();
    for number in 0..3 {
        let id = format!("run_{number}");
        let claim = fixture.begin(&id, "/project").await;
        fixture.other.finish(&claim, 1, vec![], Status::Failed, "{}".to_owned()).await.unwrap();
        let last = format!("{id} of ann: failed");
        let seen = until(&mut following, &last).await;
        assert_eq!(seen.iter().filter(|change| **change == last).count(), 1, "{seen:?}");
    }
}

#[tokio::test]
async fn calls_that_wait_in_memory_are_told() {
    let fixture = Fixture::new();
    let (listener, now) = (fixture.feed.call_listener(), SystemTime::now());
    let mut following = fixture.feed.follow("ann").unwrap();
    let mut call = of_agent();
    listener(&call);
    until(&mut following, "approval of planner of ann: Pending").await;
    let (decision, caller) = (Decision::deny("ann", None), "ann".to_owned());
    call.settled = Some(Settled::Decided { decision, caller, at: now });
    listener(&call);
    until(&mut following, "approval of planner of ann: Denied").await;
    call.settled = Some(Settled::Over);
    listener(&call);
    until(&mut following, "approval of planner of ann: Expired").await;
    drop(following);
    drop(fixture);
    // Nobody is there any more.
    listener(&call);
}

#[tokio::test]
async fn an_owner_has_a_bounded_number_of_followers() {
    let fixture = Fixture::new();
    let mut all: Vec<Following> = (0..MAX_FOLLOWERS).map(|_| fixture.feed.follow("ann").unwrap()).collect();
    assert!(fixture.feed.follow("ann").is_none() && fixture.feed.follow("bob").is_some());
    all.pop();
    assert!(fixture.feed.follow("ann").is_some());
}

#[tokio::test]
async fn a_follower_that_is_far_behind_is_told() {
    let fixture = Fixture::new();
    let (mut slow, mut other) = (fixture.feed.follow("ann").unwrap(), fixture.feed.follow("bob").unwrap());
    let change = || Change::Approval {
        id: "apr_1".to_owned(),
        run: "run_1".to_owned(),
        owner: "ann".to_owned(),
        status: ApprovalStatus::Pending,
    };
    for _ in 0..=MAX_BEHIND {
        fixture.feed.0.tell(change());
        assert_eq!(other.next_now().as_deref(), Some(&change()));
    }
    assert_eq!(slow.next_now().as_deref(), Some(&Change::Missed));
    assert_eq!(other.next_now(), None);
}

#[tokio::test]
async fn nothing_is_read_while_nobody_follows() {
    let fixture = Fixture::new();
    let is_running = || *fixture.feed.0.is_running.lock().unwrap_or_else(PoisonError::into_inner);
    drop(fixture.feed.follow("ann"));
    for _ in 0..1_000 {
        if !is_running() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!is_running(), "it goes on");
    let mut following = fixture.feed.follow("ann").unwrap();
    fixture.begin("run_1", "/project").await;
    until(&mut following, "run_1 of ann: running").await;
}
