//! Claims about a run of `SCRIPT` that has ended, however often its host died.

use crate::world::{World, engine, entries, events, expected_effects};
use agent_spaces_durable::verify::verify;
use agent_spaces_journal::{Status, Store};
use serde_json::{Value, json};
use std::sync::Arc;

/// Checks value, console, events and effects of a run, and replays it.
pub(crate) async fn ended(world: &World, store: &Arc<dyn Store>, run: &str) {
    store.flush().await.unwrap();
    let row = store.run(run).await.unwrap().unwrap();
    assert_eq!(row.status, Status::Finished, "{run}: {row:?}");
    let recorded = events(&entries(&**store, run).await);
    let again = verify(store, run, &engine()).await.unwrap();
    assert_eq!(again.diverged, None, "{run}");
    assert_eq!(again.events, recorded, "{run}");
    let value = again.report.outcome.unwrap();
    assert_eq!(again.recorded.unwrap()["ok"], value, "{run}");
    let paid: Vec<u64> = (1..=20).map(|item| item * 10).collect();
    let others = (&value["granted"], &value["seen"], &value["last"], &value["isForward"], &value["span"]);
    assert_eq!(value["paid"], json!(paid), "{run}");
    assert_eq!(others, (&json!(1000), &json!(70), &json!(1010), &json!(true), &json!(true)), "{run}");
    let console: Vec<&str> = again.report.console.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(console, ["dice true", "paid 20 short 24", "last 1010 30"], "{run}");
    let events: Vec<Value> = recorded.iter().map(|event| serde_json::from_str(event).unwrap()).collect();
    for (event, seq) in events.iter().zip(0_u64..) {
        assert_eq!(event["seq"], seq, "{run}: {recorded:#?}");
    }
    let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    let counts = ["runStarted", "callScheduled", "callResult", "callError", "console", "runFinished"].map(count);
    assert_eq!(counts, [1, 24, 24, 0, 3, 1], "{run}: {recorded:#?}");
    assert_eq!((count("approvalRequired"), count("approvalDecided")), (2, 2), "{run}: {recorded:#?}");
    let mut effects = world.effects(run);
    // May be repeated.
    effects.retain(|effect| effect != "look 7");
    assert_eq!(effects, expected_effects(), "{run}");
}
