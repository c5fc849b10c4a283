//! Recording and exact replay.

use crate::support::{Shop, engine};
use agent_spaces_durable::verify::verify;
use agent_spaces_durable::{DurableRuns, RunInfo, Settings, State};
use agent_spaces_journal::Status;
use agent_spaces_sandbox::run::RunOptions;
use serde_json::json;

const SCRIPT: &str = "import { shop } from '@test/shop';
const dice = Math.random();
const began = Date.now();
console.log('dice', dice < 1);
const paid = await Promise.all([1, 2, 3].map((item) => shop.pay({ item })));
await new Promise((done) => setTimeout(done, 5));
const last = await shop.pay({ item: 4 });
({ paid, last, dice, took: Date.now() - began >= 5 })";

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_recorded_and_replays_to_the_same_events() {
    let shop = Shop::new();
    let runs = DurableRuns::new(shop.store(), Settings::default());
    let space = shop.space();
    let program = space.prepare("agent.ts", SCRIPT).unwrap();
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    let options = RunOptions { events: Some(sender), ..RunOptions::default() };
    let done = runs.run(&program, options, RunInfo::default()).await.unwrap();
    assert_eq!(done.state, State::Ended);
    let value = done.report.outcome.unwrap();
    assert_eq!((&value["paid"], &value["last"], &value["took"]), (&json!([10, 20, 30]), &json!(40), &json!(true)));
    let mut sent = Vec::new();
    while let Some(event) = events.recv().await {
        sent.push(serde_json::to_string(&event).unwrap());
    }
    runs.store().flush().await.unwrap();
    let row = runs.store().run(&done.report.run_id).await.unwrap().unwrap();
    assert_eq!(row.status, Status::Finished);
    let again = verify(runs.store(), &done.report.run_id, &engine()).await.unwrap();
    assert_eq!(again.diverged, None);
    assert_eq!(again.report.outcome.unwrap(), value);
    assert_eq!(again.events, sent);
    assert_eq!(again.recorded.unwrap()["ok"], value);
    assert_eq!(shop.paid(), [1, 2, 3, 4], "the replay made no calls");
}
