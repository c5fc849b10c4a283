//! Tests of changed runs and decided approvals, newest first.

use super::filters::mixed_runs;
use super::{Fixture, LEASE, entry};
use crate::approval::{Approval, ApprovalRow};
use crate::run::{RunRow, Status, Wake};
use std::time::Duration;

/// Reads all pages of changed runs, as another process.
async fn changed(fixture: &Fixture, mut after: (i64, String)) -> Vec<RunRow> {
    let mut all = Vec::new();
    loop {
        let page = fixture.other.changed_runs(after.clone(), 7).await.unwrap();
        assert!(page.len() <= 7);
        let Some(last) = page.last() else { return all };
        after = (last.updated, last.id.clone());
        all.extend(page);
    }
}

/// Of all states, owners and projects, from any position on, without outcomes.
pub async fn changed_runs_are_listed_in_the_order_of_their_changes(fixture: &Fixture) {
    let mut expected = mixed_runs(fixture).await;
    expected.iter_mut().for_each(|run| run.outcome = None);
    expected.sort_by(|one, other| (one.updated, &one.id).cmp(&(other.updated, &other.id)));
    assert_eq!(changed(fixture, (0, String::new())).await, expected);
    let middle = expected.len() / 2;
    let position = (expected[middle].updated, expected[middle].id.clone());
    assert_eq!(changed(fixture, position).await, expected[middle + 1..]);

    // A run that changes moves to the end, whatever becomes of it.
    let store = &fixture.store;
    let claim = fixture.create("run_moving").await;
    let last = async |status: Status| {
        let row = changed(fixture, (0, String::new())).await.pop().unwrap();
        assert_eq!((row.id.as_str(), row.status), ("run_moving", status));
    };
    fixture.pass(Duration::from_millis(1));
    store.append(&claim, 1, vec![entry("1")]).await.unwrap();
    last(Status::Running).await;
    fixture.pass(Duration::from_millis(1));
    let wake = Wake { keys: vec!["answer".to_owned()], ..Wake::default() };
    store.park(&claim, 2, vec![], wake).await.unwrap();
    last(Status::Parked).await;
    fixture.pass(Duration::from_millis(1));
    store.signal("run_moving", "answer").await.unwrap();
    last(Status::Ready).await;
    fixture.pass(Duration::from_millis(1));
    let claim = store.claim("run_moving", store.owner(), LEASE).await.unwrap();
    last(Status::Running).await;
    fixture.pass(Duration::from_millis(1));
    store.finish(&claim, 2, vec![], Status::Failed, "{}".to_owned()).await.unwrap();
    last(Status::Failed).await;
    let row = fixture.run("run_moving").await;
    assert!(changed(fixture, (row.updated, row.id)).await.is_empty());
}

/// Those without a decision are not listed.
pub async fn decided_approvals_are_listed_in_the_order_of_their_decisions(fixture: &Fixture) {
    let store = &fixture.store;
    let claim = fixture.create("run_1").await;
    for id in ["apr_1", "apr_2", "apr_3", "apr_4"] {
        let approval = Approval { id: id.to_owned(), call: 1, request: "{}".to_owned() };
        store.request_approval(&claim, 1, vec![], approval).await.unwrap();
    }
    for id in ["apr_4", "apr_1", "apr_3"] {
        fixture.pass(Duration::from_millis(1));
        store.decide(id, "yes").await.unwrap();
    }
    let ids = |rows: Vec<ApprovalRow>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
    let all = fixture.other.decided_approvals((0, String::new()), 10).await.unwrap();
    let first = (all[0].decided_at.unwrap(), all[0].id.clone());
    assert_eq!(ids(all), ["apr_4", "apr_1", "apr_3"]);
    assert_eq!(ids(fixture.other.decided_approvals(first, 1).await.unwrap()), ["apr_1"]);
}
