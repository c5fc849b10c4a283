//! Filters of runs and approvals, progress.

use super::model::Dice;
use super::{Fixture, LEASE, entry, new};
use crate::approval::{Approval, ApprovalFilter, RunOwner};
use crate::claim::Claim;
use crate::error::StoreError;
use crate::run::{Filter, MAX_PROGRESS, NewRun, Progress, RunRow, Status, Summary, Wake};
use std::time::Duration;

const RUNS: usize = 60;
const PROJECTS: [&str; 2] = ["/a", "/b"];
const CALLERS: [&str; 3] = ["", "ann", "bob"];
const SPACES: [&str; 2] = ["agent", "support"];

async fn create(fixture: &Fixture, id: &str, [project, caller, space]: [&str; 3]) -> Claim {
    let summary = Summary { project: project.into(), caller: caller.into(), space: space.into(), ..Summary::default() };
    let run = NewRun { summary, ..new(id) };
    let (claim, created) = fixture.store.create(run, fixture.store.owner(), vec![entry("0")]);
    created.await.unwrap();
    claim
}

/// Returns runs of all owners and in all states, newest first.
pub(super) async fn mixed_runs(fixture: &Fixture) -> Vec<RunRow> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let store = &fixture.store;
    let mut rows = Vec::new();
    for number in 0..RUNS {
        // Ids are not in the order of creation, and several runs have the same time.
        let id = format!("run_{:02}", number * 7 % RUNS);
        let owner = [PROJECTS[dice.roll(2)], CALLERS[dice.roll(3)], SPACES[dice.roll(2)]];
        let claim = create(fixture, &id, owner).await;
        match Status::ALL[dice.roll(6)] {
            Status::Running => {}
            Status::Ready => store.release(&claim).await.unwrap(),
            Status::Parked => store.park(&claim, 1, vec![], Wake::default()).await.unwrap(),
            ended => store.finish(&claim, 1, vec![], ended, "{}".to_owned()).await.unwrap(),
        }
        rows.push(fixture.run(&id).await);
        fixture.pass(Duration::from_millis(dice.roll(3) as u64));
    }
    rows.sort_by(|one, other| (other.created, &other.id).cmp(&(one.created, &one.id)));
    rows
}

fn is_selected(filter: &Filter, run: &RunRow) -> bool {
    let is = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
    (filter.statuses.is_empty() || filter.statuses.contains(&run.status))
        && is(&filter.caller, &run.summary.caller)
        && is(&filter.space, &run.summary.space)
        && is(&filter.project, &run.summary.project)
        && filter.created_from.is_none_or(|from| run.created >= from)
        && filter.created_until.is_none_or(|until| run.created < until)
}

/// None, or one of the values.
fn options(values: &[&str]) -> Vec<Option<String>> {
    std::iter::once(None).chain(values.iter().map(|&value| Some(value.to_owned()))).collect()
}

/// All combinations, as one list and in pages.
pub async fn filters_of_runs_agree_with_the_model(fixture: &Fixture) {
    let rows = mixed_runs(fixture).await;
    let middle = rows[RUNS / 2].created;
    let statuses: [&[Status]; 6] = [
        &[],
        &[Status::Finished],
        &[Status::Running],
        &[Status::Ready, Status::Parked],
        &[Status::Failed, Status::Finished],
        &[Status::Parked, Status::Cancelled, Status::Parked],
    ];
    let times = [
        (None, None),
        (Some(middle), None),
        (None, Some(middle)),
        (Some(middle - 10), Some(middle + 10)),
        (Some(middle), Some(middle)),
    ];
    let mut filters = Vec::new();
    for project in options(&PROJECTS) {
        for caller in options(&["", "ann"]) {
            for space in options(&["agent", "unknown"]) {
                for (statuses, (created_from, created_until)) in
                    statuses.iter().flat_map(|statuses| times.iter().map(move |times| (statuses, *times)))
                {
                    filters.push(Filter {
                        statuses: statuses.to_vec(),
                        caller: caller.clone(),
                        space: space.clone(),
                        project: project.clone(),
                        created_from,
                        created_until,
                        ..Filter::default()
                    });
                }
            }
        }
    }
    let mut selected = 0;
    for filter in filters {
        let expected: Vec<&RunRow> = rows.iter().filter(|run| is_selected(&filter, run)).collect();
        selected += expected.len();
        let found = fixture.other.list(filter.clone()).await.unwrap();
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?}");
        let (mut paged, mut next) = (Vec::new(), Filter { limit: 4, ..filter });
        loop {
            let page = fixture.store.list(next.clone()).await.unwrap();
            assert!(page.len() <= 4, "{next:?}");
            let Some(last) = page.last() else { break };
            next.before = Some((last.created, last.id.clone()));
            paged.extend(page);
        }
        assert_eq!(paged, found, "{next:?}");
    }
    assert!(selected > 500, "the filters select something: {selected}");
}

fn request(id: &str) -> Approval {
    Approval { id: id.to_owned(), call: 1, request: "{}".to_owned() }
}

async fn approvals(fixture: &Fixture, filter: ApprovalFilter) -> Vec<String> {
    fixture.other.approvals(filter).await.unwrap().into_iter().map(|approval| approval.id).collect()
}

/// In both orders, without gaps or repeats while some are added and decided.
pub async fn approvals_are_listed_after_a_position(fixture: &Fixture) {
    let store = &fixture.store;
    let claim = create(fixture, "run_1", ["/a", "ann", "agent"]).await;
    // Two at a time have the same time; their ids are not in the order of the requests.
    for (number, id) in ["apr_2", "apr_1", "apr_6", "apr_5", "apr_4", "apr_3"].into_iter().enumerate() {
        store.request_approval(&claim, 1, vec![], request(id)).await.unwrap();
        if number % 2 == 1 {
            fixture.pass(LEASE);
        }
    }
    let mut filter = ApprovalFilter { limit: 1, ..ApprovalFilter::default() };
    let mut seen = Vec::new();
    while let Some(approval) = store.approvals(filter.clone()).await.unwrap().pop() {
        if seen.is_empty() {
            store.request_approval(&claim, 1, vec![], request("apr_0")).await.unwrap();
        }
        if approval.id == "apr_5" {
            store.decide("apr_5", "yes").await.unwrap();
        }
        filter.after = Some((approval.created, approval.id.clone()));
        seen.push(approval.id);
    }
    assert_eq!(seen, ["apr_1", "apr_2", "apr_5", "apr_6", "apr_3", "apr_4", "apr_0"]);
    assert_eq!(approvals(fixture, filter).await, [""; 0]);
    let first = store.approval("apr_5").await.unwrap().unwrap();
    let after = Some((first.created, "apr_2".to_owned()));
    let all = ApprovalFilter { pending: false, after, ..ApprovalFilter::default() };
    assert_eq!(approvals(fixture, all.clone()).await, ["apr_5", "apr_6", "apr_3", "apr_4", "apr_0"]);
    let pending = ApprovalFilter { pending: true, ..all.clone() };
    assert_eq!(approvals(fixture, pending).await, ["apr_6", "apr_3", "apr_4", "apr_0"]);
    let of_run = ApprovalFilter { run: Some("run_1".to_owned()), limit: 2, ..all.clone() };
    assert_eq!(approvals(fixture, of_run).await, ["apr_5", "apr_6"]);
    let pending_of_run = ApprovalFilter { pending: true, run: Some("run_1".to_owned()), ..all.clone() };
    assert_eq!(approvals(fixture, pending_of_run).await, ["apr_6", "apr_3", "apr_4", "apr_0"]);
    let of_other = ApprovalFilter { run: Some("run_2".to_owned()), ..all.clone() };
    assert_eq!(approvals(fixture, of_other).await, [""; 0]);
    let mut newest = ApprovalFilter { newest_first: true, after: None, limit: 3, ..all };
    assert_eq!(approvals(fixture, newest.clone()).await, ["apr_0", "apr_4", "apr_3"]);
    newest.after = Some((first.created, "apr_6".to_owned()));
    assert_eq!(approvals(fixture, newest.clone()).await, ["apr_5", "apr_2", "apr_1"]);
    let pending = ApprovalFilter { pending: true, ..newest };
    assert_eq!(approvals(fixture, pending.clone()).await, ["apr_2", "apr_1"]);
    assert_eq!(store.count_approvals(pending).await, Ok(2));
}

/// Of a project, a caller, a space; with and without decided ones.
pub async fn approvals_are_listed_for_an_owner_of_runs(fixture: &Fixture) {
    let store = &fixture.store;
    let owners = [
        ["/a", "ann", "agent"],
        ["/a", "ann", "support"],
        ["/a", "", "agent"],
        ["/b", "ann", "agent"],
        ["/b", "bob", "support"],
    ];
    for (number, owner) in owners.into_iter().enumerate() {
        let claim = create(fixture, &format!("run_{number}"), owner).await;
        for state in ["decided", "pending"] {
            store.request_approval(&claim, 1, vec![], request(&format!("apr_{number}_{state}"))).await.unwrap();
        }
        store.decide(&format!("apr_{number}_decided"), "yes").await.unwrap();
    }
    let ended = create(fixture, "run_ended", ["/a", "ann", "agent"]).await;
    store.request_approval(&ended, 1, vec![], request("apr_ended")).await.unwrap();
    store.finish(&ended, 1, vec![], Status::Failed, "{}".to_owned()).await.unwrap();
    for project in ["/a", "/b", "/c"] {
        for caller in options(&CALLERS) {
            for space in options(&SPACES) {
                let is_own = |owner: &[&str; 3]| {
                    owner[0] == project
                        && caller.as_deref().is_none_or(|caller| caller == owner[1])
                        && space.as_deref().is_none_or(|space| space == owner[2])
                };
                let own: Vec<usize> = (0..owners.len()).filter(|number| is_own(&owners[*number])).collect();
                let pending: Vec<String> = own.iter().map(|number| format!("apr_{number}_pending")).collect();
                let both =
                    own.iter().flat_map(|number| ["decided", "pending"].map(|state| format!("apr_{number}_{state}")));
                let with_ended = is_own(&owners[0]).then(|| "apr_ended".to_owned());
                let all: Vec<String> = both.chain(with_ended).collect();
                let runs_of = RunOwner { project: project.to_owned(), caller: caller.clone(), space: space.clone() };
                let filter = ApprovalFilter { runs_of: Some(runs_of), ..ApprovalFilter::default() };
                assert_eq!(approvals(fixture, filter.clone()).await, pending, "{filter:?}");
                let with_run = ApprovalFilter { run: Some("run_0".to_owned()), ..filter.clone() };
                let of_run: Vec<String> = pending.into_iter().filter(|id| id == "apr_0_pending").collect();
                assert_eq!(approvals(fixture, with_run).await, of_run, "{filter:?}");
                let filter = ApprovalFilter { pending: false, ..filter };
                assert_eq!(approvals(fixture, filter.clone()).await, all, "{filter:?}");
            }
        }
    }
}

/// Pending or all, of a run or an owner, up to the limit.
pub async fn approvals_are_counted_as_they_are_listed(fixture: &Fixture) {
    let store = &fixture.store;
    for (run, caller) in [("run_1", "ann"), ("run_2", "bob"), ("run_3", "ann")] {
        let claim = create(fixture, run, ["/a", caller, "agent"]).await;
        for number in 0..4 {
            store.request_approval(&claim, 1, vec![], request(&format!("apr_{run}_{number}"))).await.unwrap();
        }
        store.decide(&format!("apr_{run}_0"), "yes").await.unwrap();
        if run == "run_3" {
            store.finish(&claim, 1, vec![], Status::Failed, "{}".to_owned()).await.unwrap();
        }
    }
    let of_ann = RunOwner { project: "/a".to_owned(), caller: Some("ann".to_owned()), space: None };
    for pending in [true, false] {
        for run in options(&["run_1", "run_3", "run_9"]) {
            for runs_of in [None, Some(of_ann.clone())] {
                for limit in [0, 2, usize::MAX] {
                    let (run, runs_of) = (run.clone(), runs_of.clone());
                    let filter = ApprovalFilter { pending, run, runs_of, limit, ..ApprovalFilter::default() };
                    let listed = store.approvals(filter.clone()).await.unwrap().len() as u64;
                    assert_eq!(fixture.other.count_approvals(filter.clone()).await, Ok(listed), "{filter:?}");
                }
            }
        }
    }
    assert_eq!(store.count_approvals(ApprovalFilter::default()).await, Ok(6));
    let all = ApprovalFilter { pending: false, ..ApprovalFilter::default() };
    assert_eq!(store.count_approvals(all).await, Ok(12));
}

/// Those that exist, once each and in the order of their ids.
pub async fn progress_tells_how_far_runs_are(fixture: &Fixture) {
    let store = &fixture.store;
    let ask = |ids: &[&str]| fixture.other.progress(ids.iter().map(|&id| id.to_owned()).collect());
    let claim = fixture.create("run_2").await;
    fixture.end("run_1", Status::Failed).await;
    let progress = |run: &str, next_seq, status| Progress { run: run.to_owned(), next_seq, status };
    let both = [progress("run_1", 1, Status::Failed), progress("run_2", 1, Status::Running)];
    assert_eq!(ask(&["run_2", "run_9", "run_1", "", "run_2", "x\"]"]).await.unwrap(), both);
    assert_eq!(ask(&["run_9"]).await, Ok(vec![]));
    assert_eq!(ask(&[]).await, Ok(vec![]));
    store.park(&claim, 1, vec![entry("1"), entry("2")], Wake::default()).await.unwrap();
    assert_eq!(ask(&["run_2"]).await.unwrap(), [progress("run_2", 3, Status::Parked)]);

    let many = |count: usize| (0..count).map(|number| format!("run_{number}")).collect::<Vec<_>>();
    assert_eq!(store.progress(many(MAX_PROGRESS)).await.unwrap().len(), 2);
    let refused = store.progress(many(MAX_PROGRESS + 1)).await;
    assert!(matches!(refused, Err(StoreError::Invalid(_))), "{refused:?}");
}
