//! Runs that leave memory while they wait, and hosts with another engine that continue them.

use crate::world::{World, approve_all, close, decided_in, entries, events, resume, settings};
use agent_spaces_approvals::{Answer, ApproverToken, Channel, Request};
use agent_spaces_durable::source::source;
use agent_spaces_durable::verify::verify;
use agent_spaces_durable::{DurableError, DurableRuns, InDoubt, RunInfo, Settings, State};
use agent_spaces_journal::{ClaimError, Refused, Settings as StoreSettings, Status};
use agent_spaces_pipeline::audit_trail::{AuditBudget, AuditMode, AuditTrail};
use agent_spaces_sandbox::run::RunOptions;
use agent_spaces_space::space::Space;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const APPROVAL: &str = "import { shop } from '@test/shop';
const paid = await shop.pay({ item: 1 });
const granted = await shop.grant({ item: 2 });
console.log('granted');
[paid, granted, await shop.pay({ item: 3 })]";

fn parking() -> Settings {
    Settings { park_after: Duration::from_millis(40), ..settings() }
}

fn now_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// Starts a run that parks for an approval. Returns its id.
async fn park(world: &World, token: &str) -> String {
    let (runs, space) = host(world, token);
    let done = world.run(&runs, &space, APPROVAL, RunOptions::default()).await;
    let State::Parked(wake) = &done.state else { panic!("{:?}", done.state) };
    assert!(wake.keys.len() == 1 && wake.keys[0].starts_with("approval:apr_"), "{wake:?}");
    assert!(wake.at_ms.unwrap() > now_ms(), "it wakes when the request expires");
    assert_eq!(done.report.outcome.unwrap_err().code, "run.parked");
    let run = done.report.run_id.to_string();
    assert_eq!(runs.store().run(&run).await.unwrap().unwrap().status, Status::Parked);
    run
}

fn host(world: &World, token: &str) -> (DurableRuns, Space) {
    let runs = world.runs(parking());
    let space = world.space(decided_in(runs.store().clone(), token));
    (runs, space)
}

/// Continues a run to its end.
async fn finish(world: &World, runs: &DurableRuns, space: &Space, run: &str) {
    let done = runs.resume(run, space, RunOptions::default()).await.unwrap();
    assert_eq!(done.state, State::Ended, "{:?}", done.report.outcome);
    assert_eq!(done.report.outcome.unwrap(), json!([10, 20, 30]));
    assert_eq!(world.effects(run), ["grant 2", "pay 1", "pay 3"]);
    let again = verify(runs.store(), run, &crate::world::engine()).await.unwrap();
    assert_eq!((again.diverged, again.report.outcome.unwrap()), (None, json!([10, 20, 30])));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_for_approval_parks_and_wakes_with_the_decision() {
    let folder = tempfile::tempdir().unwrap();
    let (world, token) = (World::at(folder.path()), ApproverToken::new().unwrap().reveal());
    let run = park(&world, &token).await;
    let (runs, space) = host(&world, &token);
    let store = runs.store();
    assert_eq!(store.due(now_ms(), 10).await.unwrap(), [""; 0]);
    // A run that waits can be replayed too.
    let again = verify(store, &run, &crate::world::engine()).await.unwrap();
    assert_eq!((again.diverged, again.recorded), (None, None));
    assert_eq!(again.events, events(&entries(&**store, &run).await));
    let refused = runs.resume(&run, &space, RunOptions::default()).await.unwrap_err();
    assert!(matches!(refused, DurableError::Claim(ClaimError::Refused(Refused::Parked { .. }))), "{refused}");
    assert_eq!(approve_all(&**store, &token).await, 1);
    assert_eq!(store.due(now_ms(), 10).await.unwrap(), [run.as_str()]);
    finish(&world, &runs, &space, &run).await;
    assert_eq!(store.due(now_ms(), 10).await.unwrap(), [""; 0]);
}

/// Channel on which nobody answers.
struct Silent;

impl Channel for Silent {
    fn ask(&self, _request: Arc<Request>) -> Answer<'_> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_that_comes_before_the_run_parks_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (world, token) = (World::at(folder.path()), ApproverToken::new().unwrap().reveal());
    let runs = world.runs(Settings { park_after: Duration::from_millis(300), ..settings() });
    // This host does not look at the store, so the decision comes between its last look and parking.
    let space = world.space(Arc::new(Silent));
    let decide = async {
        while approve_all(&**runs.store(), &token).await == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let (done, ()) = tokio::join!(world.run(&runs, &space, APPROVAL, RunOptions::default()), decide);
    assert!(matches!(done.state, State::Parked(_)), "{:?}", done.state);
    let run = done.report.run_id.to_string();
    assert_eq!(runs.store().run(&run).await.unwrap().unwrap().status, Status::Ready);
    assert_eq!(runs.store().due(now_ms(), 10).await.unwrap(), [run.as_str()]);
    drop((runs, space));
    let (runs, space) = host(&world, &token);
    finish(&world, &runs, &space, &run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waited_for_approval_is_in_the_audit_log_of_the_host_that_makes_it() {
    let folder = tempfile::tempdir().unwrap();
    let (world, token) = (World::at(folder.path()), ApproverToken::new().unwrap().reveal());
    let run = park(&world, &token).await;
    let log = folder.path().join("log.jsonl");
    let settings = agent_spaces_audit_log::Settings {
        log: log.clone(),
        heads: folder.path().join("heads"),
        sync_every: Duration::ZERO,
        rotation: None,
        shipping: None,
        host: None,
    };
    let trail = AuditTrail::open(settings, AuditMode::Required, AuditBudget::default()).unwrap();
    let runs = world.runs(parking());
    let space = world.audited_space(decided_in(runs.store().clone(), &token), trail.handle());
    approve_all(&**runs.store(), &token).await;
    finish(&world, &runs, &space, &run).await;
    close(runs, Some(space)).await;
    drop(trail);
    let log = std::fs::read_to_string(log).unwrap();
    let scheduled = log.lines().filter(|line| line.contains("\"callScheduled\"")).count();
    assert_eq!(scheduled, 2, "the call that waited, and the one after it: {log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parked_run_is_cancelled_by_whoever_resumes_it() {
    let folder = tempfile::tempdir().unwrap();
    let (world, token) = (World::at(folder.path()), ApproverToken::new().unwrap().reveal());
    let run = park(&world, &token).await;
    let (runs, space) = host(&world, &token);
    runs.store().request_cancel(&run).await.unwrap();
    assert_eq!(runs.store().due(now_ms(), 10).await.unwrap(), [run.as_str()]);
    let done = runs.resume(&run, &space, RunOptions::default()).await.unwrap();
    assert_eq!((done.state, done.report.outcome.unwrap_err().code.as_str()), (State::Ended, "run.cancelled"));
    runs.store().flush().await.unwrap();
    assert_eq!(runs.store().run(&run).await.unwrap().unwrap().status, Status::Cancelled);
    assert_eq!(world.effects(&run), ["pay 1"]);
    assert_eq!(verify(runs.store(), &run, &crate::world::engine()).await.unwrap().diverged, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_expires_while_its_run_is_parked_fails_the_call() {
    let folder = tempfile::tempdir().unwrap();
    let (world, token) = (World::at(folder.path()), ApproverToken::new().unwrap().reveal());
    let run = park(&world, &token).await;
    let (runs, space) = host(&world, &token);
    // The request is of yesterday.
    world.edit(&run, "asked", |request| request["expires"] = request["created"].clone());
    world.database().execute("UPDATE runs SET wake_at = 1", []).unwrap();
    let done = runs.resume(&run, &space, RunOptions::default()).await.unwrap();
    assert_eq!(done.state, State::Ended);
    assert_eq!(done.report.outcome.unwrap_err().code, "call.approval_expired");
    runs.store().flush().await.unwrap();
    let recorded = events(&entries(&**runs.store(), &run).await);
    let decided: Vec<&String> = recorded.iter().filter(|event| event.contains("\"approvalDecided\"")).collect();
    assert!(decided.len() == 1 && decided[0].contains("\"decision\":\"expire\""), "{recorded:#?}");
    assert_eq!(world.effects(&run), ["pay 1"]);
    assert_eq!(verify(runs.store(), &run, &crate::world::engine()).await.unwrap().diverged, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_for_a_long_timer_parks_and_wakes_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let (world, token) = (World::at(folder.path()), ApproverToken::new().unwrap().reveal());
    let (runs, space) = host(&world, &token);
    let script = "import { shop } from '@test/shop';
await new Promise((done) => setTimeout(done, 900));
await shop.pay({ item: 1 })";
    let done = world.run(&runs, &space, script, RunOptions::default()).await;
    let State::Parked(wake) = &done.state else { panic!("{:?}", done.state) };
    let (at_ms, run) = (wake.at_ms.unwrap(), done.report.run_id.to_string());
    assert_eq!(runs.store().due(now_ms(), 10).await.unwrap(), [""; 0]);
    assert_eq!(runs.store().due(at_ms, 10).await.unwrap(), [run.as_str()]);
    assert!(runs.resume(&run, &space, RunOptions::default()).await.is_err(), "its time has not come");
    tokio::time::sleep(Duration::from_millis(u64::try_from(at_ms - now_ms()).unwrap_or(0) + 1)).await;
    let done = runs.resume(&run, &space, RunOptions::default()).await.unwrap();
    assert_eq!((done.state, done.report.outcome.unwrap()), (State::Ended, json!(10)));
    assert_eq!(verify(runs.store(), &run, &crate::world::engine()).await.unwrap().diverged, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_with_another_engine_finishes_a_run_on_its_own_engine() {
    let folder = tempfile::tempdir().unwrap();
    let (world, token) = (World::at(folder.path()), ApproverToken::new().unwrap().reveal());
    let run = park(&world, &token).await;
    let mut engine = String::new();
    world.edit(&run, "started", |header| header["engineSha256"] = "0".repeat(64).into());
    let (runs, space) = host(&world, &token);
    approve_all(&**runs.store(), &token).await;
    // The run is kept while its engine is missing.
    for header in entries(&**runs.store(), &run).await.iter().filter(|entry| entry.kind == "started") {
        let header: serde_json::Value = serde_json::from_slice(&header.body).unwrap();
        engine = header["engine"].as_str().unwrap().to_owned();
    }
    world.edit(&run, "started", |header| header["engine"] = "1".repeat(64).into());
    let missing = runs.resume(&run, &space, RunOptions::default()).await.unwrap_err();
    assert!(matches!(&missing, DurableError::Missing { what: "engine", .. }), "{missing}");
    assert_eq!(runs.store().due(now_ms(), 10).await.unwrap(), [run.as_str()]);
    world.edit(&run, "started", |header| header["engine"] = engine.as_str().into());
    finish(&world, &runs, &space, &run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_in_doubt_parks_its_run_or_fails_as_the_settings_say() {
    let folder = tempfile::tempdir().unwrap();
    let (world, token) = (World::at(folder.path()), ApproverToken::new().unwrap().reveal());
    let (runs, space) = host(&world, &token);
    let script = "import { shop } from '@test/shop';
let answer;
try { answer = await shop.hang({ item: 1 }); } catch (error) { answer = error.code; }
answer";
    for run in ["run_asks", "run_rejects"] {
        let options = RunOptions { run_id: Some(run.into()), ..RunOptions::default() };
        let sent = async {
            while !entries(&**runs.store(), run).await.iter().any(|entry| entry.kind == "sent") {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            done = world.run(&runs, &space, script, options) => panic!("{:?}", done.state),
            () = sent => {}
        }
    }
    close(runs, Some(space)).await;
    let (runs, space) = host(&world, &token);
    let done = resume(&runs, "run_asks", &space).await;
    let State::Parked(wake) = &done.state else { panic!("{:?}", done.state) };
    assert_eq!(wake.keys, ["approval:doubt_run_asks_1_1"]);
    let doubts = agent_spaces_durable::doubt::undecided(&**runs.store(), "run_asks").await.unwrap();
    assert_eq!(doubts.iter().map(|doubt| (doubt.call_id, doubt.attempt)).collect::<Vec<_>>(), [(1, 1)]);
    let answer = agent_spaces_durable::DoubtAnswer::Happened(json!(7));
    runs.store().decide(&doubts[0].id(), &answer.text()).await.unwrap();
    let done = runs.resume("run_asks", &space, RunOptions::default()).await.unwrap();
    assert_eq!((done.state, done.report.outcome.unwrap()), (State::Ended, json!(7)));
    let rejecting = DurableRuns::new(runs.store().clone(), Settings { in_doubt: InDoubt::Reject, ..parking() });
    let done = rejecting.resume("run_rejects", &space, RunOptions::default()).await.unwrap();
    assert_eq!((done.state, done.report.outcome.unwrap()), (State::Ended, json!("call.in_doubt")));
    for run in ["run_asks", "run_rejects"] {
        assert_eq!(verify(runs.store(), run, &crate::world::engine()).await.unwrap().diverged, None, "{run}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_with_inputs_share_their_program_and_keep_their_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let (world, token) = (World::at(folder.path()), ApproverToken::new().unwrap().reveal());
    let (runs, space) = host(&world, &token);
    let script = "import input from '@test/input';\nimport { shop } from '@test/shop';
[await shop.grant({ item: input.item }), input.text.length]";
    let program = space.prepare("agent.ts", script).unwrap();
    // The second is so large that a store is asked first whether it has it.
    let texts = ["a".to_owned(), "b".repeat(100_000)];
    let mut parked = Vec::new();
    for (text, item) in texts.iter().zip(1..) {
        let program = program.with_given("@test/input", json!({ "item": item, "text": text }).to_string());
        let done = runs.run(&program, RunOptions::default(), RunInfo::default()).await.unwrap();
        assert!(matches!(done.state, State::Parked(_)), "{:?}", done.report.outcome);
        parked.push(done.report.run_id.to_string());
    }
    let blobs = |sql: &str| world.database().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(blobs("SELECT count(*) FROM blobs"), 4, "the engine, the program, two inputs");
    // A host that does not know of such inputs must not continue the run without.
    let started: Value = serde_json::from_slice(&entries(&**runs.store(), &parked[0]).await[0].body).unwrap();
    assert_eq!(started["format"], 2);
    assert_eq!(approve_all(&**runs.store(), &token).await, 2);
    let (runs, space) = host(&world, &token);
    std::fs::create_dir(folder.path().join("other")).unwrap();
    let other = World::at(&folder.path().join("other"));
    let elsewhere = other.store(StoreSettings::default());
    for ((run, text), item) in parked.iter().zip(&texts).zip(1..) {
        let done = runs.resume(run, &space, RunOptions::default()).await.unwrap();
        let value = json!([item * 10, text.len()]);
        assert_eq!((done.state, done.report.outcome.unwrap()), (State::Ended, value.clone()));
        let written = source(&**runs.store(), run).await.unwrap();
        assert_eq!(written.text, script);
        assert!(written.modules.given("@test/input").unwrap().contains(text));
        let exported = runs.store().export(run).await.unwrap();
        elsewhere.import(&exported).await.unwrap();
        for store in [runs.store(), &elsewhere] {
            let again = verify(store, run, &crate::world::engine()).await.unwrap();
            assert_eq!((again.diverged, again.report.outcome.unwrap()), (None, value.clone()));
        }
    }
}
