//! Journals that were changed: a replay finds the first difference, names it, and does not go on.

use crate::world::{Person, World, engine, settings};
use agent_spaces_calls::journal::Diverged;
use agent_spaces_durable::verify::verify;
use agent_spaces_durable::{DurableRuns, State};
use agent_spaces_sandbox::run::RunOptions;
use agent_spaces_space::space::Space;
use serde_json::Value;
use std::sync::Arc;

const SCRIPT: &str = "import { shop } from '@test/shop';
const first = await shop.pay({ item: 1 });
console.log('first');
const second = await shop.look({ item: first });
({ first, second })";

struct Case {
    world: World,
    runs: DurableRuns,
    space: Space,
    _folder: tempfile::TempDir,
}

impl Case {
    fn new() -> Case {
        let folder = tempfile::tempdir().unwrap();
        let world = World::at(folder.path());
        let (runs, space) = (world.runs(settings()), world.space(Arc::new(Person)));
        Case { world, runs, space, _folder: folder }
    }

    async fn run(&self, script: &str) -> String {
        let done = self.world.run(&self.runs, &self.space, script, RunOptions::default()).await;
        assert_eq!(done.state, State::Ended);
        self.runs.store().flush().await.unwrap();
        done.report.run_id.to_string()
    }

    async fn replay(&self, run: &str) -> Option<Diverged> {
        verify(self.runs.store(), run, &engine()).await.unwrap().diverged
    }

    /// Continues the run as if its host had died before its end.
    fn reopen(&self, run: &str, entries: u64) {
        let database = self.world.database();
        database.execute("DELETE FROM entries WHERE run = ?1 AND seq >= ?2", rusqlite::params![run, entries]).unwrap();
        let sql = "UPDATE runs SET status = 'ready', outcome = NULL, next_seq = ?2 WHERE id = ?1";
        database.execute(sql, rusqlite::params![run, entries]).unwrap();
    }
}

/// Changes the answer of the first call.
fn change_answer(answer: &mut Value) {
    if answer["call"] == 1 {
        answer["ok"] = 11.into();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_answer_is_found() {
    let case = Case::new();
    let run = case.run(SCRIPT).await;
    assert_eq!(case.replay(&run).await, None);
    case.world.edit(&run, "answer", change_answer);
    let diverged = case.replay(&run).await.unwrap();
    assert!(diverged.expected.contains("\"item\":10") && diverged.seen.contains("\"item\":11"), "{diverged}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_answer_that_only_changes_the_value_is_found() {
    let case = Case::new();
    let run = case.run("import { shop } from '@test/shop';\nawait shop.pay({ item: 1 })").await;
    case.world.edit(&run, "answer", change_answer);
    let diverged = case.replay(&run).await.unwrap();
    assert_eq!((diverged.expected.as_str(), diverged.seen.as_str()), ("the value 10", "the value 11"));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_program_is_found() {
    let case = Case::new();
    let run = case.run(SCRIPT).await;
    let other = case.run(&SCRIPT.replace("'first'", "'other'")).await;
    let program = program(&case, &other).await;
    case.world.edit(&run, "started", |header| header["program"] = program.clone());
    let diverged = case.replay(&run).await.unwrap();
    // Its source is as long, but it consumes other fuel.
    let is_call = |text: &str| text.starts_with("call 1 after ");
    assert!(is_call(&diverged.expected) && is_call(&diverged.seen), "{diverged}");
}

async fn program(case: &Case, run: &str) -> Value {
    let entries = crate::world::entries(&**case.runs.store(), run).await;
    serde_json::from_slice::<Value>(&entries[0].body).unwrap()["program"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn other_fuel_is_found_unless_another_wasmtime_metered_it() {
    let case = Case::new();
    let run = case.run(SCRIPT).await;
    case.world.edit(&run, "call", |call| {
        if call["call"] == 2 {
            call["fuel"] = (call["fuel"].as_u64().unwrap() + 1).into();
        }
    });
    let diverged = case.replay(&run).await.unwrap();
    let fuel = |text: &str| -> u64 {
        let fuel = text.strip_prefix("call 2 after ").and_then(|text| text.strip_suffix(" units of fuel"));
        fuel.unwrap_or_else(|| panic!("{text}")).parse().unwrap()
    };
    assert_eq!(fuel(&diverged.expected), fuel(&diverged.seen) + 1);
    case.world.edit(&run, "started", |header| header["wasmtime"] = "0.0.0".into());
    let again = verify(case.runs.store(), &run, &engine()).await.unwrap();
    assert_eq!((again.diverged, again.compared_fuel), (None, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_diverges_is_kept_as_it_was() {
    let case = Case::new();
    let run = case.run(SCRIPT).await;
    let entries = crate::world::entries(&**case.runs.store(), &run).await;
    let second = entries.iter().filter(|entry| entry.kind == "call").nth(1).unwrap().seq;
    // The second call and its event are recorded, no more.
    case.reopen(&run, second + 2);
    case.world.edit(&run, "answer", change_answer);
    let before = case.world.effects(&run);
    let done = case.runs.resume(&run, &case.space, RunOptions::default()).await.unwrap();
    assert_eq!((done.state, done.report.outcome.unwrap_err().code.as_str()), (State::Diverged, "run.diverged"));
    let row = case.runs.store().run(&run).await.unwrap().unwrap();
    assert_eq!((row.next_seq, row.waits_for), (second + 2, vec!["resume".to_owned()]));
    assert_eq!(case.world.effects(&run), before, "no call was made");
    // With the right journal it ends.
    case.world.edit(&run, "answer", |answer| answer["ok"] = 10.into());
    case.runs.store().signal(&run, "resume").await.unwrap();
    let done = case.runs.resume(&run, &case.space, RunOptions::default()).await.unwrap();
    assert_eq!((done.state, done.report.outcome.unwrap()["second"].clone()), (State::Ended, Value::from(100)));
    assert_eq!(case.replay(&run).await, None);
}
