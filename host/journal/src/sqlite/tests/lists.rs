//! Plans of lists: a page reads its own rows, in their order.

use super::open;
use crate::approval::{ApprovalFilter, RunOwner};
use crate::document::DocumentFilter;
use crate::run::{Filter, Status};
use crate::sqlite::Settings;
use crate::sqlite::lists::{
    Select, select_approvals, select_changed_runs, select_decided, select_document_count, select_documents, select_runs,
};
use crate::sqlite::schema::open_reader;
use rusqlite::{Connection, params_from_iter};

fn plan(database: &Connection, select: Select) -> String {
    let mut statement = database.prepare(&format!("EXPLAIN QUERY PLAN {}", select.sql)).unwrap();
    let steps = statement.query_map(params_from_iter(select.values), |row| row.get::<_, String>(3)).unwrap();
    steps.map(Result::unwrap).collect::<Vec<_>>().join("; ")
}

#[test]
fn pages_are_not_sorted() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("journal");
    let _store = open(&folder);
    let database = open_reader(&folder, &Settings::default()).unwrap();
    let check = |select: Select, index: &str| {
        let plan = plan(&database, select);
        assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{index}: {plan}");
    };
    let text = || Some("x".to_owned());
    let position = || Some((5, "x".to_owned()));
    let all = || Filter { before: position(), ..Filter::default() };
    let of_caller = || Filter { project: text(), caller: text(), ..all() };
    check(select_runs(&all()), "runs_created");
    check(select_runs(&of_caller()), "runs_caller (project=? AND caller=? AND (created,id)<(?,?))");
    check(select_runs(&Filter { project: text(), ..all() }), "runs_project (project=? AND (created,id)<(?,?))");
    let of_space = || Filter { project: text(), space: text(), ..all() };
    check(select_runs(&of_space()), "runs_space (space=? AND (created,id)<(?,?))");
    let in_space = "runs_space_caller (project=? AND space=? AND caller=? AND (created,id)<(?,?))";
    check(select_runs(&Filter { space: text(), ..of_caller() }), in_space);
    let ended = vec![Status::Finished, Status::Failed];
    check(select_runs(&Filter { statuses: ended, ..of_caller() }), "runs_caller (");
    for status in Status::ALL.into_iter().filter(|status| status.is_ended()) {
        let of_caller_ended = "runs_caller_ended (project=? AND caller=? AND status=? AND (created,id)<(?,?))";
        check(select_runs(&Filter { statuses: vec![status], ..of_caller() }), of_caller_ended);
        let of_project = Filter { statuses: vec![status], project: text(), ..all() };
        check(select_runs(&of_project), "runs_status (status=? AND (created,id)<(?,?))");
    }
    let running = vec![Status::Running];
    check(select_runs(&Filter { statuses: running, ..of_caller() }), "runs_status");

    let runs_of = RunOwner { project: "x".to_owned(), caller: text(), space: None };
    let pending = ApprovalFilter { runs_of: Some(runs_of), after: position(), ..ApprovalFilter::default() };
    check(select_approvals(&pending), "approvals_pending ((created,id)>(?,?))");
    let of_run = ApprovalFilter { run: text(), ..pending.clone() };
    check(select_approvals(&of_run), "approvals_run (run=? AND (created,id)>(?,?))");
    let all = ApprovalFilter { pending: false, ..pending.clone() };
    check(select_approvals(&all), "approvals_created ((created,id)>(?,?))");
    let newest = |filter: ApprovalFilter| select_approvals(&ApprovalFilter { newest_first: true, ..filter });
    check(newest(pending), "approvals_pending ((created,id)<(?,?))");
    check(newest(of_run), "approvals_run (run=? AND (created,id)<(?,?))");
    check(newest(all), "approvals_created ((created,id)<(?,?))");

    let notes = || DocumentFilter { before: position(), ..DocumentFilter::of("note") };
    check(select_documents(&notes()), "documents_created (kind=? AND (created,id)<(?,?))");
    let own = DocumentFilter { owner: text(), ..notes() };
    check(select_documents(&own), "documents_owner (kind=? AND owner=? AND (created,id)<(?,?))");
    // The index alone: no body is read.
    let of_owner = DocumentFilter { owner: text(), ..DocumentFilter::of("note") };
    check(select_document_count(&of_owner), "COVERING INDEX documents_owner (kind=? AND owner=?)");
}

#[test]
fn what_parked_or_ended_before_is_not_looked_at() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("journal");
    let _store = open(&folder);
    let database = open_reader(&folder, &Settings::default()).unwrap();
    let after = (5, "x".to_owned());
    let changed = plan(&database, select_changed_runs(&after, 10));
    for index in ["runs_parked ((updated,id)>(?,?))", "runs_ended ((updated,id)>(?,?))", "runs_status (status=?)"] {
        assert!(changed.contains(index), "{index}: {changed}");
    }
    assert!(!changed.contains("SCAN runs"), "{changed}");
    let decided = plan(&database, select_decided(&after, 10));
    assert!(decided.contains("approvals_decided ((decided_at,id)>(?,?))"), "{decided}");
    assert!(!decided.contains("TEMP B-TREE"), "{decided}");
}
