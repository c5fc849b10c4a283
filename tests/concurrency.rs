//! Concurrent calls, timers and runs.

use agent_spaces::{CapabilityError, Engine, EngineConfig, Event, EventKind, Handlers, Limits, RunOptions, Space};
use agent_spaces_tests::{empty_space, error, error_with, run, run_with, run_with_events, space, value};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Barrier;

const WIT: &str = "package test:work@1.0.0;
interface work {
    use agent-spaces:host/types@0.1.0.{capability-error};
    record params { id: u32 }
    meet: async func(params: params) -> result<u32, capability-error>;
    answer: async func(params: params) -> result<string, capability-error>;
    never: async func() -> result<_, capability-error>;
    plain: func(params: params) -> result<u32, capability-error>;
    bare: func(left: u32, right: u32) -> u32;
}";

/// Counts what is dropped before it is done.
struct Dropped(Arc<AtomicU64>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

struct Work {
    space: Space,
    /// Most calls of `meet` that were waiting at one time.
    most: Arc<AtomicU64>,
    dropped: Arc<AtomicU64>,
}

/// Space whose `meet` answers only when `party` calls of it wait together.
fn work(party: usize) -> Work {
    let (most, dropped, waiting) =
        (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
    let barrier = Arc::new(Barrier::new(party));
    let name = "test:work/work@1.0.0";
    let mut handlers = Handlers::new();
    let most_seen = most.clone();
    handlers.add(name, "meet", move |call| {
        let (barrier, waiting, most) = (barrier.clone(), waiting.clone(), most_seen.clone());
        async move {
            most.fetch_max(waiting.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            barrier.wait().await;
            waiting.fetch_sub(1, Ordering::SeqCst);
            Ok(call.params["id"].clone())
        }
    });
    handlers.add(name, "answer", |call| async move {
        let id = call.params["id"].as_u64().unwrap_or_default();
        // Answers come in another order than the calls.
        tokio::time::sleep(Duration::from_millis((id * 7) % 11)).await;
        if id % 5 == 4 { Err(CapabilityError::failed(format!("no {id}"))) } else { Ok(format!("answer {id}").into()) }
    });
    let dropped_early = dropped.clone();
    handlers.add(name, "never", move |_| {
        let guard = Dropped(dropped_early.clone());
        async move {
            let _guard = guard;
            std::future::pending().await
        }
    });
    handlers.add(name, "plain", |call| async move {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let id = call.params["id"].as_u64().unwrap_or_default();
        if id == 0 { Err(CapabilityError::new("call.denied", "not zero")) } else { Ok((id * 2).into()) }
    });
    handlers.add(name, "bare", |call| async move {
        Ok((call.params["left"].as_u64().unwrap_or_default() + call.params["right"].as_u64().unwrap_or_default())
            .into())
    });
    Work { space: space(WIT, handlers), most, dropped }
}

fn kinds(events: &[Event]) -> Vec<&'static str> {
    let kind = |event: &Event| match event.kind {
        EventKind::CallScheduled { .. } => Some("scheduled"),
        EventKind::CallResult { .. } => Some("result"),
        EventKind::CallError { .. } => Some("error"),
        _ => None,
    };
    events.iter().filter_map(kind).collect()
}

/// Twenty calls under `Promise.all` wait at one time: none is answered before all have been made.
#[tokio::test]
async fn twenty_calls_are_in_flight_at_once() {
    let work = work(20);
    let source = "import { work } from '@test/work';
        await Promise.all(Array.from({ length: 20 }, (_, id) => work.meet({ id })))";
    let (report, events) = run_with_events(&work.space, source, Limits::default()).await;
    assert_eq!(report.outcome.unwrap(), Value::from((0..20).collect::<Vec<_>>()));
    assert_eq!(work.most.load(Ordering::SeqCst), 20);
    assert_eq!(kinds(&events), [["scheduled"; 20], ["result"; 20]].concat());
    assert_eq!(report.usage.calls, 20);
}

/// The twin: calls that are awaited one after another never meet.
#[tokio::test]
async fn sequentially_awaited_calls_do_not_overlap() {
    let work = work(2);
    let source = "import { work } from '@test/work'; for (let id = 0; id < 2; id++) await work.meet({ id });";
    let limits = Limits { time: Duration::from_secs(1), ..Limits::default() };
    assert_eq!(error_with(&work.space, source, limits).await.code, "limit.time");
    assert_eq!(work.most.load(Ordering::SeqCst), 1);
}

/// Two hundred interleaved calls, some of which fail, each get their own answer.
#[tokio::test]
async fn every_call_gets_its_own_answer() {
    let work = work(1);
    let source = "import { work } from '@test/work';
        const settled = await Promise.allSettled(Array.from({ length: 200 }, (_, id) => work.answer({ id })));
        settled.map((s, id) => s.status === 'fulfilled' ? s.value === `answer ${id}` && id % 5 !== 4 : s.reason.message === `no ${id}` && id % 5 === 4)
            .every(Boolean)";
    assert_eq!(value(&work.space, source).await, json!(true));
}

/// Chains of calls that depend on each other run beside other chains.
#[tokio::test]
async fn chains_of_calls_interleave() {
    let work = work(2);
    let source = "import { work } from '@test/work';
        const chain = async (from) => { const ids = []; for (let i = 0; i < 10; i++) ids.push(await work.meet({ id: from + i })); return ids };
        const [a, b] = await Promise.all([chain(0), chain(100)]);
        [a[9], b[9]]";
    assert_eq!(value(&work.space, source).await, json!([9, 109]));
}

#[tokio::test]
async fn a_race_ends_with_the_first_and_cancels_the_rest() {
    let work = work(1);
    let source = "import { work } from '@test/work'; await Promise.race([work.never(), work.answer({ id: 1 })])";
    let report = run(&work.space, source).await;
    assert_eq!(report.outcome.unwrap(), json!("answer 1"));
    assert_eq!(work.dropped.load(Ordering::SeqCst), 1, "the loser's handler goes with the run");
}

/// An unawaited call does not keep the run alive, and is reported.
#[tokio::test]
async fn an_unawaited_call_ends_with_the_run_and_a_warning() {
    let work = work(1);
    let report = run(&work.space, "import { work } from '@test/work'; work.never(); 'done'").await;
    assert_eq!(report.outcome.unwrap(), json!("done"));
    assert_eq!(work.dropped.load(Ordering::SeqCst), 1);
    let warning = report.console.last().expect("a warning");
    assert!(warning.text.contains("1 call was still running") && warning.text.contains("await"), "{}", warning.text);
    let report = run(&work.space, "import { work } from '@test/work'; await work.answer({ id: 1 }); 'done'").await;
    assert!(report.console.is_empty(), "{:?}", report.console);
}

/// An unhandled rejection is printed to the console.
#[tokio::test]
async fn a_failed_unawaited_call_is_reported() {
    let work = work(1);
    let source = "import { work } from '@test/work'; work.answer({ id: 4 }); await work.answer({ id: 3 }); 'done'";
    let report = run(&work.space, source).await;
    assert_eq!(report.outcome.unwrap(), json!("done"));
    assert!(report.console.iter().any(|line| line.text.contains("no 4")), "{:?}", report.console);
}

/// A synchronous function returns or throws at once.
#[tokio::test]
async fn a_synchronous_function_returns_at_once() {
    let work = work(1);
    let source = "import { work } from '@test/work';
        let caught; try { work.plain({ id: 0 }) } catch (e) { caught = [e.code, e.message] }
        [work.plain({ id: 21 }), work.bare(40, 2), caught]";
    assert_eq!(value(&work.space, source).await, json!([42, 42, ["call.denied", "not zero"]]));
}

#[tokio::test]
async fn timers_fire_in_due_order() {
    let source = "const order = [];
        const at = (name, delay) => new Promise(done => setTimeout(() => { order.push(name); done() }, delay));
        queueMicrotask(() => order.push('microtask'));
        const cleared = setTimeout(() => order.push('cleared'), 1); clearTimeout(cleared);
        await Promise.all([at('30', 30), at('0a', 0), at('10', 10), at('0b', 0), at('20', 20), Promise.resolve().then(() => order.push('promise'))]);
        order";
    assert_eq!(value(&empty_space(), source).await, json!(["microtask", "promise", "0a", "0b", "10", "20", "30"]));
}

#[tokio::test]
async fn an_interval_repeats_until_it_is_cleared() {
    let source = "let n = 0;
        await new Promise(done => { const id = setInterval(() => { if (++n === 5) { clearInterval(id); done() } }, 1) });
        await new Promise(done => setTimeout(done, 20));
        n";
    assert_eq!(value(&empty_space(), source).await, json!(5));
}

/// Timers and calls wake the same run.
#[tokio::test]
async fn timers_run_while_calls_wait() {
    let work = work(1);
    let source = "import { work } from '@test/work';
        const lost = Symbol(); let ticks = 0;
        const id = setInterval(() => ticks++, 1);
        const first = await Promise.race([work.never(), new Promise(done => setTimeout(done, 30, 'timer'))]);
        clearInterval(id);
        [first, ticks > 1]";
    assert_eq!(value(&work.space, source).await, json!(["timer", true]));
}

/// A timer's error is reported, without affecting other timers.
#[tokio::test]
async fn a_timer_that_throws_does_not_stop_the_others() {
    let source =
        "setTimeout(() => { throw new Error('first') }, 1); await new Promise(done => setTimeout(done, 10)); 'second'";
    let report = run(&empty_space(), source).await;
    assert_eq!(report.outcome.unwrap(), json!("second"));
    assert!(report.console[0].text.contains("Error: first"), "{:?}", report.console);
}

/// A promise that nothing is left to settle ends the run at once, under a code of its own.
#[tokio::test]
async fn a_promise_that_can_never_settle_ends_the_run() {
    let ended = error(&empty_space(), "await new Promise(() => {})").await;
    assert_eq!(ended.code, "script.pending");
    assert!(ended.hint.is_some());
    assert_eq!(error(&empty_space(), "export default new Promise(() => {})").await.code, "script.pending");
    assert_eq!(
        value(&empty_space(), "await new Promise(done => setTimeout(done, 1, 'settled'))").await,
        json!("settled")
    );
}

/// Two runs that are alive at one time share nothing.
#[tokio::test]
async fn parallel_runs_share_nothing() {
    let work = work(2);
    let source = |id: u32| {
        format!(
            "import {{ work }} from '@test/work';
             globalThis.mine = (globalThis.mine ?? 0) + {id}; Array.prototype.leak{id} = {id}; Math.max = () => {id};
             await work.meet({{ id: {id} }});
             [mine, Math.max(), [].leak1 ?? null, [].leak2 ?? null]"
        )
    };
    let (first, second) = (source(1), source(2));
    let (first, second) = tokio::join!(run(&work.space, &first), run(&work.space, &second));
    assert_eq!(first.outcome.unwrap(), json!([1, 1, 1, null]));
    assert_eq!(second.outcome.unwrap(), json!([2, 2, null, 2]));
    let after = "[typeof mine, Math.max(1, 5), [].leak1 ?? null]";
    assert_eq!(value(&work.space, after).await, json!(["undefined", 5, null]), "nor does the next");
}

/// Hundreds of runs wait at one time on two threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_runs_wait_concurrently() {
    const RUNS: usize = 300;
    let work = work(RUNS);
    let program =
        work.space.prepare("script.ts", "import { work } from '@test/work'; await work.meet({ id: 1 })").unwrap();
    let runs: Vec<_> = (0..RUNS).map(|_| program.start(RunOptions::default())).collect();
    for run in runs {
        assert_eq!(run.finish().await.outcome.unwrap(), json!(1));
    }
    assert_eq!(work.most.load(Ordering::SeqCst), RUNS as u64);
}

/// More runs than places wait their turn, and the wait is not the script's time.
#[tokio::test]
async fn runs_beyond_the_engines_slots_queue() {
    let engine = Engine::new(EngineConfig { max_runs: 2, ..EngineConfig::default() }).unwrap();
    let space = Space::builder(&engine).build().unwrap();
    let program = space.prepare("script.ts", "await new Promise(done => setTimeout(done, 100, 'done'))").unwrap();
    let limits = Limits { time: Duration::from_secs(1), ..Limits::default() };
    let one = || program.run(RunOptions { limits: Some(limits.clone()), ..RunOptions::default() });
    let runs: Vec<_> = (0..24).map(|_| one()).collect();
    for report in join_all(runs).await {
        assert_eq!(report.outcome.unwrap(), json!("done"));
    }
}

/// Polls all of them together.
async fn join_all<T>(futures: Vec<impl Future<Output = T>>) -> Vec<T> {
    let mut pending: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        for (future, done) in &mut pending {
            if done.is_none()
                && let std::task::Poll::Ready(value) = future.as_mut().poll(context)
            {
                *done = Some(value);
            }
        }
        if pending.iter().all(|(_, done)| done.is_some()) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    pending.into_iter().filter_map(|(_, done)| done).collect()
}

/// A wide call leaves nothing behind in the guest: answers of many calls fit in little memory.
#[tokio::test]
async fn answers_of_many_calls_do_not_accumulate_in_memory() {
    let wit = "package test:many@1.0.0; interface many { get: async func() -> list<u32>; }";
    let mut handlers = Handlers::new();
    handlers.add("test:many/many@1.0.0", "get", |_| async { Ok(Value::from(vec![7u32; 10_000])) });
    let space = space(wit, handlers);
    let source = |calls: u32| {
        format!(
            "import {{ many }} from '@test/many'; let n = 0; for (let i = 0; i < {calls}; i++) n += (await many.get()).length; n"
        )
    };
    let few = run_with(&space, &source(20), Limits::default()).await;
    let many = run_with(&space, &source(900), Limits::default()).await;
    assert_eq!(few.outcome.unwrap(), json!(200_000));
    assert_eq!(many.outcome.unwrap(), json!(9_000_000));
    assert!(
        many.usage.memory_bytes < few.usage.memory_bytes + (4 << 20),
        "{} then {}",
        few.usage.memory_bytes,
        many.usage.memory_bytes
    );
}
