//! Hosts that stop: their runs leave memory, and other hosts continue them.

use crate::support::Shop;
use agent_spaces_durable::{DurableRuns, RunInfo, Settings, State};
use agent_spaces_journal::Status;
use agent_spaces_sandbox::run::RunOptions;
use serde_json::json;
use std::time::{Duration, Instant};

const SCRIPT: &str = "import { shop } from '@test/shop';
const first = await shop.pay({ item: 1 });
await new Promise((done) => setTimeout(done, 2_000));
({ first, last: await shop.pay({ item: 2 }) })";

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_host_hands_its_runs_over() {
    let shop = Shop::new();
    let (store, space) = (shop.store(), shop.space());
    let program = space.prepare("agent.ts", SCRIPT).unwrap();
    let first = DurableRuns::new(store.clone(), Settings::default());
    let (host, options) = (first.clone(), RunOptions { run_id: Some("run_stop".into()), ..RunOptions::default() });
    let running = tokio::spawn(async move { host.run(&program, options, RunInfo::default()).await });
    // The entry of the timer is queued once the script does nothing but wait for it. Before, the call of the first payment
    // could still be on its way, and the host would hand the run over without anything to wait for.
    while !store.read("run_stop", 0, 1_000).await.unwrap().iter().any(|entry| entry.kind == "timer") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(shop.paid(), [1]);
    let begun = Instant::now();
    first.stop();
    let stopped = running.await.unwrap().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(1), "it waited for the timer");
    assert!(matches!(stopped.state, State::Parked(_)), "{:?}", stopped.state);
    assert_eq!(store.run("run_stop").await.unwrap().unwrap().status, Status::Parked);

    // Another host takes it before its time, and once only.
    let second = DurableRuns::new(store.clone(), Settings::default());
    assert!(second.attend("run_stop").await.unwrap());
    assert!(!second.attend("run_stop").await.unwrap());
    let done = second.resume("run_stop", &space, RunOptions::default()).await.unwrap();
    assert_eq!(done.state, State::Ended);
    assert_eq!(done.report.outcome.unwrap(), json!({ "first": 10, "last": 20 }));
    assert_eq!(shop.paid(), [1, 2], "nothing was repeated");
    assert!(!second.attend("run_stop").await.unwrap(), "it is over");
}
