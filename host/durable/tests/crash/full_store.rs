//! Stores without room, and clocks that go back.

use crate::world::{Person, World, approve_all, close, decided_in, entries, resume, settings};
use agent_spaces_approvals::ApproverToken;
use agent_spaces_durable::verify::verify;
use agent_spaces_durable::{DurableError, DurableRuns, RunInfo, Settings, State};
use agent_spaces_journal::{Prune, Settings as StoreSettings, Status, StoreError};
use agent_spaces_sandbox::run::RunOptions;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const PAYMENTS: &str = "import { shop } from '@test/shop';
let total = 0;
for (let item = 1; item <= 30; item++) {
  console.log('x'.repeat(3000));
  total += await shop.pay({ item });
}
total";

#[tokio::test(flavor = "multi_thread")]
async fn a_run_on_a_full_store_is_lost_and_continues_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::at(folder.path());
    let space = world.space(Arc::new(Person));
    // The store has the engine and the program from here on.
    let runs = world.runs(settings());
    let done = world.run(&runs, &space, PAYMENTS, RunOptions::default()).await;
    assert_eq!(done.report.outcome.unwrap(), 4650);
    runs.store().flush().await.unwrap();
    let used = runs.store().size().await.unwrap().bytes;
    drop(runs);
    let store = world.store(StoreSettings { max_bytes: used + 40_000, ..StoreSettings::default() });
    let runs = DurableRuns::new(store, settings());
    let options = RunOptions { run_id: Some("run_full".into()), ..RunOptions::default() };
    let done = world.run(&runs, &space, PAYMENTS, options).await;
    let State::Lost(StoreError::Full(message)) = &done.state else { panic!("{:?}", done.state) };
    assert!(message.contains("prune ended runs, or raise the limit"), "{message}");
    let sent = entries(&**runs.store(), "run_full").await.iter().filter(|entry| entry.kind == "sent").count();
    let made = world.effects("run_full").len();
    assert!(made >= 1 && made <= sent && sent < 30, "{made} calls were made, {sent} are recorded");
    assert_eq!(runs.store().run("run_full").await.unwrap().unwrap().status, Status::Ready);
    drop(runs);
    let runs = world.runs(settings());
    let person = world.resolve_doubts(runs.store().clone(), "run_full".to_owned());
    let done = runs.resume("run_full", &space, RunOptions::default()).await.unwrap();
    person.abort();
    assert_eq!((done.state, done.report.outcome.unwrap()), (State::Ended, json!(4650)));
    let mut effects = world.effects("run_full");
    assert_eq!(effects.len(), 30, "{effects:?}");
    effects.dedup();
    assert_eq!(effects.len(), 30);
    let again = verify(runs.store(), "run_full", &crate::world::engine()).await.unwrap();
    assert_eq!(again.diverged, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_content_does_not_fit_is_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::at(folder.path());
    let space = world.space(Arc::new(Person));
    // Less than the engine has.
    let store = world.store(StoreSettings { max_bytes: 1 << 20, ..StoreSettings::default() });
    let runs = DurableRuns::new(store, settings());
    let program = space.prepare("agent.ts", PAYMENTS).unwrap();
    let options = |run: &str| RunOptions { run_id: Some(run.into()), ..RunOptions::default() };
    let (created, execution) = runs.start(&program, options("run_1"), RunInfo::default()).unwrap();
    let created = created.await;
    assert!(matches!(created, Err(StoreError::Full(_))), "{created:?}");
    let done = execution.await;
    assert!(matches!(done.state, State::Lost(StoreError::Full(_))), "{:?}", done.state);
    let queued = runs.enqueue(&program, &options("run_2"), RunInfo::default()).await;
    assert!(matches!(queued, Err(DurableError::Store(StoreError::Full(_)))), "{queued:?}");
    for run in ["run_1", "run_2"] {
        assert_eq!(world.effects(run), [""; 0]);
        assert_eq!(runs.store().run(run).await, Ok(None));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_end_does_not_fit_has_not_ended() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::at(folder.path());
    let space = world.space(Arc::new(Person));
    let script = "import { shop } from '@test/shop';
const paid = await shop.pay({ item: 1 });
for (let line = 0; line < 100; line++) console.log('x'.repeat(3000));
paid";
    let runs = world.runs(settings());
    world.run(&runs, &space, script, RunOptions::default()).await;
    let used = runs.store().size().await.unwrap().bytes;
    close(runs, None).await;
    let store = world.store(StoreSettings { max_bytes: used + 40_000, ..StoreSettings::default() });
    let runs = DurableRuns::new(store, settings());
    let options = RunOptions { run_id: Some("run_full".into()), ..RunOptions::default() };
    let done = world.run(&runs, &space, script, options).await;
    assert!(matches!(done.state, State::Lost(StoreError::Full(_))), "{:?}", done.state);
    close(runs, None).await;
    let runs = world.runs(settings());
    let person = world.resolve_doubts(runs.store().clone(), "run_full".to_owned());
    let done = runs.resume("run_full", &space, RunOptions::default()).await.unwrap();
    person.abort();
    assert_eq!((done.state, done.report.outcome.unwrap()), (State::Ended, json!(10)));
    assert_eq!(world.effects("run_full"), ["pay 1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_keeps_its_program_though_others_were_pruned() {
    let folder = tempfile::tempdir().unwrap();
    let (world, token) = (World::at(folder.path()), ApproverToken::new().unwrap().reveal());
    let runs = world.runs(Settings { park_after: Duration::from_millis(30), ..settings() });
    let space = world.space(decided_in(runs.store().clone(), &token));
    let script = "import { shop } from '@test/shop';\nawait shop.grant({ item: 1 })";
    for _ in 0..2 {
        let done = world.run(&runs, &space, script, RunOptions::default()).await;
        let run = done.report.run_id.to_string();
        assert!(matches!(done.state, State::Parked(_)), "{:?}", done.state);
        approve_all(&**runs.store(), &token).await;
        let elsewhere = world.runs(settings());
        let done = elsewhere.resume(&run, &space, RunOptions::default()).await.unwrap();
        assert_eq!(done.report.outcome.unwrap(), 10);
        // The next run finds nothing of this one in the store.
        let all = Prune { older_than: Some(Duration::ZERO), max_bytes: None, now_ms: now_ms() + 1_000 };
        assert_eq!(elsewhere.store().prune(all).await.unwrap().runs, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_goes_back_does_not_go_back_for_the_script() {
    const DAY: u64 = 86_400_000;
    let folder = tempfile::tempdir().unwrap();
    let world = World::at(folder.path());
    let token = ApproverToken::new().unwrap().reveal();
    let runs = world.runs(Settings { park_after: Duration::from_millis(30), ..settings() });
    let space = world.space(decided_in(runs.store().clone(), &token));
    let script = "import { shop } from '@test/shop';
const before = Date.now();
await shop.grant({ item: 1 });
({ before, after: Date.now(), later: Date.now() })";
    let done = world.run(&runs, &space, script, RunOptions::default()).await;
    assert!(matches!(done.state, State::Parked(_)), "{:?}", done.state);
    let run = done.report.run_id.to_string();
    drop((runs, space));
    // The host that started it was a day ahead.
    world.edit(&run, "clock", |readings| {
        let wall = readings[0]["wall"].as_u64().unwrap();
        readings[0]["wall"] = (wall + DAY * 1_000_000).into();
    });
    // And the store's clock is an hour behind.
    let clock = Arc::new(|| now_ms() - 3_600_000);
    let store = world.store(StoreSettings { clock, ..StoreSettings::default() });
    assert_eq!(approve_all(&*store, &token).await, 1);
    let runs = DurableRuns::new(store.clone(), settings());
    let space = world.space(decided_in(store, &token));
    let done = runs.resume(&run, &space, RunOptions::default()).await.unwrap();
    let value = done.report.outcome.unwrap();
    let [before, after, later] = ["before", "after", "later"].map(|name| value[name].as_i64().unwrap());
    assert!(before > now_ms() && before <= after && after <= later, "{value}");
    assert_eq!(verify(runs.store(), &run, &crate::world::engine()).await.unwrap().diverged, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_owner_is_known_whatever_the_clocks_say() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::at(folder.path());
    let space = world.space(Arc::new(Person));
    let script = "import { shop } from '@test/shop';
const first = await shop.pay({ item: 1 });
await new Promise((done) => setTimeout(done, 300));
[first, await shop.pay({ item: 2 })]";
    let ahead: Arc<dyn Fn() -> i64 + Send + Sync> = Arc::new(|| now_ms() + 3_600_000);
    let runs = DurableRuns::new(world.store(StoreSettings { clock: ahead, ..StoreSettings::default() }), settings());
    let options = RunOptions { run_id: Some("run_1".into()), ..RunOptions::default() };
    let waits = async {
        while !entries(&**runs.store(), "run_1").await.iter().any(|entry| entry.kind == "answer") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        done = world.run(&runs, &space, script, options) => panic!("{:?}", done.state),
        () = waits => {}
    }
    assert_eq!(world.effects("run_1"), ["pay 1"]);
    close(runs, None).await;
    let runs = world.runs(settings());
    let done = resume(&runs, "run_1", &space).await;
    assert_eq!(done.report.outcome.unwrap(), json!([10, 20]));
    assert_eq!(world.effects("run_1"), ["pay 1", "pay 2"]);
}

fn now_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}
