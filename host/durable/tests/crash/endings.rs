//! Every kind of ending replays to the same events, byte for byte.

use crate::world::{Person, World, engine, entries, events, settings};
use agent_spaces_durable::verify::verify;
use agent_spaces_durable::{RunInfo, State};
use agent_spaces_sandbox::run::RunOptions;
use agent_spaces_types::limits::Limits;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Script, and how it ends.
struct Ending {
    name: &'static str,
    script: &'static str,
    limits: fn() -> Limits,
    is_cancelled: bool,
    /// Code of its error, or empty.
    code: &'static str,
}

const fn ending(name: &'static str, script: &'static str, code: &'static str) -> Ending {
    Ending { name, script, limits: Limits::default, is_cancelled: false, code }
}

fn short() -> Limits {
    Limits { time: Duration::from_millis(150), ..Limits::default() }
}

const LOOP: &str = "console.log('on'); let n = 0; for (;;) { n += Math.random(); if (n < 0) console.log(n); }";
const WAIT: &str = "console.log('on', await shop.pay({ item: 1 })); setTimeout(() => console.log('late'), 200); \
                    await shop.hang({ item: 1 });";

const ENDINGS: [Ending; 25] = [
    ending("a value", "const got = await shop.pay({ item: 1 }); ({ got })", ""),
    ending("an error", "await shop.pay({ item: 1 }); throw new TypeError('no')", "script.error"),
    ending("a handler's error", "await shop.break({ item: 1 })", "call.failed"),
    ending(
        "caught errors",
        "const all = []; \
        for (const item of [1, 2]) { try { await shop.break({ item }) } catch (error) { all.push(error.code) } } \
        try { await shop.pay({ item: 'x' }) } catch (error) { all.push(error.message) } \
        try { await shop.nothing({ item: 1 }) } catch (error) { all.push(error.message) } \
        all",
        "",
    ),
    ending("nothing", "await shop.pay({ item: 1 }); undefined", ""),
    ending("an object that is thrown", "console.warn('x'); throw { a: [1] }", "script.error"),
    ending("a rejection", "shop.break({ item: 1 }); await shop.pay({ item: 4 })", ""),
    ending("stack", "const down = (n) => down(n + 1) + 1; await shop.pay({ item: 1 }); down(0)", "limit.stack"),
    Ending {
        limits: || Limits { result: 1_000, ..Limits::default() },
        ..ending("result", "'x'.repeat(2000)", "limit.result")
    },
    Ending {
        limits: || Limits { in_flight: 4, ..Limits::default() },
        ..ending("in flight", "await Promise.all([1, 2, 3, 4, 5].map((item) => shop.pay({ item })))", "limit.inflight")
    },
    ending("sync calls", "[shop.weigh({ item: 1 }), await shop.pay({ item: 2 }), shop.weigh({ item: 3 })]", ""),
    ending(
        "many timers",
        "const order = []; await Promise.all([5, 1, 3, 1].map((ms, index) => \
        new Promise((done) => setTimeout(() => { order.push(index); done(); }, ms)))); order",
        "",
    ),
    ending("a console flood", "for (;;) console.log('x'.repeat(1000))", "limit.console"),
    Ending { limits: short, ..ending("time out while it computes", LOOP, "limit.time") },
    Ending { limits: short, ..ending("time out while it waits", WAIT, "limit.time") },
    Ending { limits: short, ..ending("time out in a blocking call", "shop.stall({ item: 1 })", "limit.time") },
    Ending { is_cancelled: true, ..ending("cancelled while it computes", LOOP, "run.cancelled") },
    Ending { is_cancelled: true, ..ending("cancelled while it waits", WAIT, "run.cancelled") },
    Ending { is_cancelled: true, ..ending("cancelled in a blocking call", "shop.stall({ item: 1 })", "run.cancelled") },
    Ending {
        limits: || Limits { fuel: 2_000_000, ..Limits::default() },
        ..ending("fuel", "for (;;) await shop.look({ item: 0 })", "limit.fuel")
    },
    Ending {
        limits: || Limits { calls: 5, ..Limits::default() },
        ..ending("calls", "for (;;) await shop.pay({ item: 4 })", "limit.calls")
    },
    Ending {
        limits: || Limits { calls: 5, ..Limits::default() },
        ..ending("retries", "for (;;) { try { await shop.break({ item: 4 }) } catch {} }", "limit.calls")
    },
    Ending {
        limits: || Limits { call_bytes: 2_000, ..Limits::default() },
        ..ending("bytes", "await shop.text({ item: 10 }); await shop.text({ item: 5000 })", "limit.bytes")
    },
    ending("memory", "const all = []; for (;;) all.push('x'.repeat(1e6) + all.length)", "limit.memory"),
    Ending {
        // The answer is short as text, and takes many times that as values.
        limits: || Limits { memory: 16 << 20, ..Limits::default() },
        ..ending("values", "await shop.numbers({ item: 2_500_000 })", "limit.bytes")
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn every_ending_replays_to_the_same_events() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::at(folder.path());
    let (runs, space) = (world.runs(settings()), world.space(Arc::new(Person)));
    for (ending, number) in ENDINGS.iter().zip(0..) {
        let name = ending.name;
        let (run, script) =
            (format!("run_{number}"), format!("import {{ shop }} from '@test/shop';\n{}", ending.script));
        let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
        let cancel = CancellationToken::new();
        let options = RunOptions {
            run_id: Some(run.as_str().into()),
            limits: Some((ending.limits)()),
            events: Some(sender),
            cancel: cancel.clone(),
            ..RunOptions::default()
        };
        if ending.is_cancelled {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(150)).await;
                cancel.cancel();
            });
        }
        let done = world.run(&runs, &space, &script, options).await;
        assert_eq!(done.state, State::Ended, "{name}");
        let code = done.report.outcome.as_ref().err().map(|error| error.code.clone()).unwrap_or_default();
        assert_eq!(code, ending.code, "{name}: {:?}", done.report.outcome);
        let mut sent = Vec::new();
        while let Some(event) = received.recv().await {
            sent.push(serde_json::to_string(&event).unwrap());
        }
        runs.store().flush().await.unwrap();
        let recorded = entries(&**runs.store(), &run).await;
        assert_eq!(events(&recorded), sent, "{name}");
        let is_by_host = ["limit.time", "run.cancelled"].contains(&ending.code);
        assert_eq!(recorded.iter().any(|entry| entry.kind == "ended"), is_by_host, "{name}");
        // Timers that were pending are due by now.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let verified = tokio::time::timeout(Duration::from_secs(20), verify(runs.store(), &run, &engine())).await;
        let again = verified.unwrap_or_else(|_| panic!("{name}: the replay hangs")).unwrap();
        assert_eq!(again.diverged, None, "{name}");
        assert_eq!(again.events, sent, "{name}");
        assert_eq!(again.report.console, done.report.console, "{name}");
        assert_eq!(format!("{:?}", again.report.outcome), format!("{:?}", done.report.outcome), "{name}");
        resume_at_end(&world, &runs, &space, &run, name).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_was_compiled_in_the_background_replays() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::at(folder.path());
    let (runs, space) = (world.runs(settings()), world.space(Arc::new(Person)));
    let script = "import { shop } from '@test/shop';\nconst all = [await shop.pay({ item: 4 }), Math.random()];\nall";
    let program = space.prepare("agent.ts", script).unwrap();
    for _ in 0..40 {
        let done = runs.run(&program, RunOptions::default(), RunInfo::default()).await.unwrap();
        assert_eq!(done.state, State::Ended);
        let again = verify(runs.store(), &done.report.run_id, &engine()).await.unwrap();
        assert_eq!(again.diverged, None);
    }
    assert!(program.compiled().is_some(), "it is hot");
}

/// Resumes a run that the host ended, as if it had died right after it recorded that.
async fn resume_at_end(
    world: &World,
    runs: &agent_spaces_durable::DurableRuns,
    space: &agent_spaces_space::space::Space,
    run: &str,
    name: &str,
) {
    let recorded = entries(&**runs.store(), run).await;
    let Some(ended) = recorded.iter().find(|entry| entry.kind == "ended") else { return };
    let (before, effects) = (runs.store().run(run).await.unwrap().unwrap(), world.effects(run));
    let database = world.database();
    database.execute("DELETE FROM entries WHERE run = ?1 AND seq > ?2", rusqlite::params![run, ended.seq]).unwrap();
    let sql = "UPDATE runs SET status = 'ready', outcome = NULL, next_seq = ?2 WHERE id = ?1";
    database.execute(sql, rusqlite::params![run, ended.seq + 1]).unwrap();
    let resumed = runs.resume(run, space, RunOptions::default());
    let resumed = tokio::time::timeout(Duration::from_secs(20), resumed).await;
    let done = resumed.unwrap_or_else(|_| panic!("{name}: it goes on")).unwrap();
    assert_eq!(done.state, State::Ended, "{name}: {:?}", done.report.outcome);
    runs.store().flush().await.unwrap();
    let after = runs.store().run(run).await.unwrap().unwrap();
    assert_eq!((after.status, after.outcome), (before.status, before.outcome), "{name}");
    assert_eq!(world.effects(run), effects, "{name}");
    assert_eq!(verify(runs.store(), run, &engine()).await.unwrap().diverged, None, "{name}");
}
