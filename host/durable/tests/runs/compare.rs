//! Changed scripts against the answers of a recorded run, and control of runs that nobody executes.

use crate::support::{Shop, engine};
use agent_spaces_durable::compare::{ChangedScript, CompareError, Comparison, compare};
use agent_spaces_durable::control::{Cancelled, cancel};
use agent_spaces_durable::find::find;
use agent_spaces_durable::verify::verify;
use agent_spaces_durable::{DurableError, DurableRuns, RunInfo, Settings, State};
use agent_spaces_journal::Status;
use agent_spaces_sandbox::run::RunOptions;
use serde_json::json;
use std::time::Duration;

const SCRIPT: &str = "import { shop } from '@test/shop';
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const first = await Promise.race([shop.pay({ item: 1 }), sleep(50)]);
const rest = await Promise.all([shop.pay({ item: 2 }), shop.pay({ item: 3 })]);
({ first, rest })";

async fn recorded(shop: &Shop) -> (DurableRuns, String) {
    let runs = DurableRuns::new(shop.store(), Settings::default());
    let program = shop.space().prepare("agent.ts", SCRIPT).unwrap();
    let done = runs.run(&program, RunOptions::default(), RunInfo::default()).await.unwrap();
    assert_eq!(done.state, State::Ended);
    runs.store().flush().await.unwrap();
    (runs, done.report.run_id.to_string())
}

async fn compared(runs: &DurableRuns, run: &str, source: &str) -> Result<Comparison, CompareError> {
    compare(runs.store(), run, &engine(), ChangedScript { name: "agent.ts", source, workspace: None }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_script_is_compared_by_its_calls() {
    let shop = Shop::new();
    let (runs, run) = recorded(&shop).await;
    let paid = shop.paid();
    let same = compared(&runs, &run, SCRIPT).await.unwrap();
    assert_eq!((same.matched, same.recorded_calls, &same.difference), (3, 3, &None));
    assert_eq!(same.report.outcome.unwrap(), json!({ "first": 10, "rest": [20, 30] }));
    assert_eq!(same.recorded.unwrap()["ok"], json!({ "first": 10, "rest": [20, 30] }));

    // One after the other instead of both at once, without the race, and with a timer of its own.
    let calmer = "import { shop } from '@test/shop';
        const all = [];
        for (const item of [1, 2, 3]) all.push(await shop.pay({ item }));
        await new Promise((done) => setTimeout(done, 3_600_000));
        all";
    let calmer = compared(&runs, &run, calmer).await.unwrap();
    assert_eq!((calmer.matched, &calmer.difference), (3, &None));
    assert_eq!(calmer.report.outcome.unwrap(), json!([10, 20, 30]));

    let other = compared(&runs, &run, &SCRIPT.replace("item: 3", "item: 4")).await.unwrap();
    let difference = other.difference.unwrap();
    assert_eq!((other.matched, &difference.expected.unwrap().params), (2, &json!({ "item": 3 })));
    assert_eq!(difference.seen.unwrap().params, json!({ "item": 4 }));
    assert_eq!(other.report.outcome.unwrap_err().code, "run.diverged");

    let fewer = compared(&runs, &run, "import { shop } from '@test/shop'; await shop.pay({ item: 1 })").await.unwrap();
    let difference = fewer.difference.unwrap();
    assert_eq!((difference.expected.unwrap().call, difference.seen), (2, None));

    let more = compared(&runs, &run, &format!("{SCRIPT}\nawait shop.pay({{ item: 9 }})")).await.unwrap();
    let difference = more.difference.unwrap();
    assert_eq!((difference.expected, difference.seen.unwrap().call), (None, 4));

    assert!(matches!(compared(&runs, &run, "import '@test/bank'").await, Err(CompareError::Script(_))));
    assert_eq!(shop.paid(), paid, "no call left the host");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_run_is_cancelled_without_its_program_and_still_replays() {
    let shop = Shop::new();
    let settings = Settings { park_after: Duration::from_millis(10), ..Settings::default() };
    let runs = DurableRuns::new(shop.store(), settings);
    let source = "import { shop } from '@test/shop'; await shop.pay({ item: 1 });
        await new Promise((done) => setTimeout(done, 3_600_000));";
    let program = shop.space().prepare("agent.ts", source).unwrap();
    let done = runs.run(&program, RunOptions::default(), RunInfo::default()).await.unwrap();
    assert!(matches!(done.state, State::Parked(_)), "{done:?}");
    let (store, id) = (runs.store(), done.report.run_id.to_string());
    assert_eq!(cancel(&**store, &id).await.unwrap(), Cancelled::Ended);
    assert_eq!(store.run(&id).await.unwrap().unwrap().status, Status::Cancelled);
    assert_eq!(cancel(&**store, &id).await.unwrap(), Cancelled::Before);
    let again = verify(store, &id, &engine()).await.unwrap();
    assert_eq!((again.diverged, again.report.outcome.unwrap_err().code.as_str()), (None, "run.cancelled"));
    assert_eq!(shop.paid(), [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_found_by_the_beginning_of_their_ids() {
    let shop = Shop::new();
    let runs = DurableRuns::new(shop.store(), Settings::default());
    let program = shop.space().prepare("agent.ts", "1").unwrap();
    for id in ["run_ab1", "run_ab2", "run_c"] {
        let options = RunOptions { run_id: Some(id.into()), ..RunOptions::default() };
        runs.run(&program, options, RunInfo::default()).await.unwrap();
    }
    runs.store().flush().await.unwrap();
    let store = &**runs.store();
    for prefix in ["run_c", "c"] {
        assert_eq!(find(store, prefix).await.unwrap().id, "run_c", "{prefix}");
    }
    assert_eq!(find(store, "ab1").await.unwrap().id, "run_ab1");
    for ambiguous in ["a", "run_ab", "", "run_"] {
        let found = find(store, ambiguous).await;
        assert!(
            matches!(found, Err(DurableError::Ambiguous { ref runs, .. }) if runs.len() > 1),
            "{ambiguous}: {found:?}"
        );
    }
    assert!(matches!(find(store, "zz").await, Err(DurableError::UnknownRun { .. })));
}
