//! Two processes that both think they own a run.

use crate::child::{self, Job};
use crate::world::World;
use agent_spaces_durable::verify::verify;
use std::process::Command;
use std::time::{Duration, Instant};

const LEASE: u64 = 1_000;

/// The pause is where the first owner is stopped. It continues with a call that may be repeated, or one that may not:
/// item 4 has its effect at once.
const SCRIPT: &str = "import { shop } from '@test/shop';
const paid = await shop.pay({ item: 1 });
await new Promise((done) => setTimeout(done, 300));
const next = await shop.NEXT({ item: 4 });
const last = await shop.pay({ item: 3 });
[paid, next, last]";

#[test]
fn a_stopped_owner_that_continues_sends_nothing_and_writes_nothing() {
    std::thread::scope(|scope| {
        for next in ["look", "pay"] {
            scope.spawn(move || stop_owner(next));
        }
    });
}

fn stop_owner(next: &str) {
    let folder = tempfile::tempdir().unwrap();
    let world = World::at(folder.path());
    let script = SCRIPT.replace("NEXT", next);
    let job = Job {
        folder: folder.path().to_owned(),
        start: Some("run_1".to_owned()),
        script: Some(script),
        lease: Some(LEASE),
        ..Job::default()
    };
    let first = child::start(&job);
    let began = Instant::now();
    while world.effects("run_1").is_empty() {
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
    // The answer arrives, and the script waits for its timer.
    std::thread::sleep(Duration::from_millis(100));
    signal("STOP", first.id());
    std::thread::sleep(Duration::from_millis(LEASE + 200));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (entries, value) = runtime.block_on(async {
        let runs = world.runs(crate::world::settings());
        let space = world.space(std::sync::Arc::new(crate::world::Person));
        let done = runs.resume("run_1", &space, Default::default()).await.unwrap();
        runs.store().flush().await.unwrap();
        let entries = runs.store().run("run_1").await.unwrap().unwrap().next_seq;
        (entries, done.report.outcome.unwrap())
    });
    assert_eq!(value, serde_json::json!([10, 40, 30]));
    let effects = world.effects("run_1");
    assert_eq!(effects.len(), 3, "{effects:?}");
    signal("CONT", first.id());
    // It aborts when it finds out that the run is lost.
    assert!(!child::wait(first), "the first owner thinks that it ended the run");
    assert_eq!(world.effects("run_1"), effects, "{next}: the first owner made calls");
    runtime.block_on(async {
        let store = world.store(Default::default());
        assert_eq!(store.run("run_1").await.unwrap().unwrap().next_seq, entries);
        let again = verify(&store, "run_1", &crate::world::engine()).await.unwrap();
        assert_eq!(again.diverged, None);
    });
}

fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args([format!("-{name}"), process.to_string()]).status().unwrap();
    assert!(sent.success());
}
