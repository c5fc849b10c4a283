//! Cancellation of runs.

use agent_spaces::{CancellationToken, Handlers, Limits, Run, RunOptions, RunReport, Space};
use agent_spaces_tests::{empty_space, space, value};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Far more than a cancel takes, far less than what is cancelled.
const TIMEOUT: Duration = Duration::from_secs(5);

const WIT: &str = "package test:hang@1.0.0;
interface hang {
    use agent-spaces:host/types@0.1.0.{capability-error};
    forever: async func() -> result<_, capability-error>;
    forever-now: func() -> result<_, capability-error>;
    tick: async func() -> result<_, capability-error>;
}";

struct Hang {
    space: Space,
    called: Arc<Notify>,
    dropped: Arc<AtomicU64>,
    finished: Arc<AtomicBool>,
}

struct Dropped(Arc<AtomicU64>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn hang() -> Hang {
    let (called, dropped, finished) =
        (Arc::new(Notify::new()), Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
    let mut handlers = Handlers::new();
    for name in ["forever", "forever-now"] {
        let (called, dropped, finished) = (called.clone(), dropped.clone(), finished.clone());
        handlers.add("test:hang/hang@1.0.0", name, move |_| {
            let (called, guard, finished) = (called.clone(), Dropped(dropped.clone()), finished.clone());
            async move {
                let _guard = guard;
                called.notify_one();
                tokio::time::sleep(Duration::from_secs(600)).await;
                finished.store(true, Ordering::SeqCst);
                Ok(Value::Null)
            }
        });
    }
    handlers.add("test:hang/hang@1.0.0", "tick", |_| async { Ok(Value::Null) });
    Hang { space: space(WIT, handlers), called, dropped, finished }
}

fn start(space: &Space, source: &str) -> Run {
    let limits = Limits { time: Duration::from_secs(120), fuel: u64::MAX, ..Limits::default() };
    space.prepare("script.ts", source).unwrap().start(RunOptions { limits: Some(limits), ..RunOptions::default() })
}

/// Cancels, and asserts that the run ends by that and soon; says how long it took.
async fn cancelled(run: Run) -> Duration {
    let begun = Instant::now();
    run.cancellation_token().cancel();
    let report = tokio::time::timeout(TIMEOUT, run.finish()).await.expect("a cancelled run ends");
    is_cancelled(&report);
    begun.elapsed()
}

fn is_cancelled(report: &RunReport) {
    let error = report.outcome.as_ref().expect_err("a cancelled run has no value");
    assert_eq!(error.code, "run.cancelled", "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_can_be_cancelled() {
    let space = empty_space();
    for source in [
        "while (true) {}",
        "for (;;) await 0",
        "/(a+)+$/.test('a'.repeat(60) + 'b')",
        "const a = []; for (;;) a.sort(() => Math.random() - .5)",
    ] {
        let run = start(&space, source);
        tokio::time::sleep(Duration::from_millis(30)).await;
        cancelled(run).await;
    }
    assert_eq!(value(&space, "1 + 1").await, json!(2));
}

/// Even where the executor has one thread, on which the run computes.
#[tokio::test]
async fn a_loop_can_be_cancelled_on_one_thread() {
    let run = start(&empty_space(), "while (true) {}");
    tokio::time::sleep(Duration::from_millis(30)).await;
    cancelled(run).await;
}

/// The handler's future goes with the run.
#[tokio::test]
async fn a_call_is_dropped_when_its_run_is_cancelled() {
    for call in ["await hang.forever()", "hang.foreverNow()", "await Promise.all([hang.tick(), hang.forever()])"] {
        let hang = hang();
        let run = start(&hang.space, &format!("import {{ hang }} from '@test/hang'; {call}"));
        hang.called.notified().await;
        assert_eq!(hang.dropped.load(Ordering::SeqCst), 0);
        cancelled(run).await;
        assert_eq!(hang.dropped.load(Ordering::SeqCst), 1, "{call}");
        assert!(!hang.finished.load(Ordering::SeqCst));
    }
}

#[tokio::test]
async fn a_timer_can_be_cancelled() {
    let run = start(&empty_space(), "await new Promise(r => setTimeout(r, 600000))");
    tokio::time::sleep(Duration::from_millis(20)).await;
    cancelled(run).await;
}

#[tokio::test]
async fn a_run_cancelled_before_its_start_does_nothing() {
    let space = empty_space();
    let program = space.prepare("script.ts", "console.log('ran')").unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let report = program.run(RunOptions { cancel, ..RunOptions::default() }).await;
    is_cancelled(&report);
    assert!(report.console.is_empty());
}

/// Output before the cancellation is kept, and usage is reported.
#[tokio::test]
async fn a_cancelled_run_reports_its_usage() {
    let run = start(&empty_space(), "console.log('before'); await new Promise(r => setTimeout(r, 600000))");
    let token = run.cancellation_token();
    tokio::time::sleep(Duration::from_millis(100)).await;
    token.cancel();
    let report = run.finish().await;
    is_cancelled(&report);
    assert_eq!(report.console.len(), 1);
    assert!(report.usage.fuel > 0 && report.usage.wall_ms >= 90.0, "{:?}", report.usage);
}

/// A late cancellation has no effect, and a token ends only its own run.
#[tokio::test]
async fn a_cancel_after_the_end_changes_nothing() {
    let space = empty_space();
    let (first, second) = (start(&space, "1"), start(&space, "await new Promise(r => setTimeout(r, 50, 2))"));
    let token = first.cancellation_token();
    assert_eq!(first.finish().await.outcome.unwrap(), json!(1));
    token.cancel();
    assert_eq!(second.finish().await.outcome.unwrap(), json!(2));
}

/// A future that is dropped takes its run and its calls with it.
#[tokio::test]
async fn dropping_a_runs_future_drops_its_calls() {
    let hang = hang();
    let program = hang.space.prepare("script.ts", "import { hang } from '@test/hang'; await hang.forever()").unwrap();
    tokio::select! {
        report = program.run(RunOptions::default()) => panic!("{report:?}"),
        () = hang.called.notified() => {}
    }
    assert_eq!(hang.dropped.load(Ordering::SeqCst), 1);
}

/// A provider that hangs does not outlive the clock.
#[tokio::test]
async fn a_hanging_call_ends_at_the_time_limit() {
    for call in ["await hang.forever()", "hang.foreverNow()"] {
        let hang = hang();
        let program = hang.space.prepare("script.ts", &format!("import {{ hang }} from '@test/hang'; {call}")).unwrap();
        let limits = Limits { time: Duration::from_millis(200), ..Limits::default() };
        let run = program.run(RunOptions { limits: Some(limits), ..RunOptions::default() });
        let report = tokio::time::timeout(TIMEOUT, run).await.expect("ends by itself");
        assert_eq!(report.outcome.unwrap_err().code, "limit.time", "{call}");
        assert_eq!(hang.dropped.load(Ordering::SeqCst), 1, "{call}");
    }
}

/// More busy runs than threads starve neither cancellation nor timers. The fastest of several tries
/// counts, so that a busy machine does not; each of them is far below what starvation would take.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn busy_runs_do_not_delay_a_cancel() {
    let space = empty_space();
    let busy: Vec<_> = (0..3).map(|_| start(&space, "for (;;) {}")).collect();
    let mut fastest = Duration::MAX;
    for _ in 0..10 {
        let run = start(&space, "for (;;) {}");
        tokio::time::sleep(Duration::from_millis(20)).await;
        fastest = fastest.min(cancelled(run).await);
    }
    let mut soonest = Duration::MAX;
    for _ in 0..10 {
        let begun = Instant::now();
        tokio::time::sleep(Duration::from_millis(5)).await;
        soonest = soonest.min(begun.elapsed());
    }
    for run in busy {
        cancelled(run).await;
    }
    assert!(fastest < Duration::from_millis(100), "{fastest:?}");
    assert!(soonest < Duration::from_millis(100), "{soonest:?}");
}

/// Work that takes little fuel and much time yields as well: filling and copying large buffers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bulk_operations_do_not_delay_a_cancel() {
    let space = empty_space();
    for source in [
        "const b = new Uint8Array(30e6); for (;;) b.fill(1)",
        "const b = new Uint8Array(30e6); for (;;) b.copyWithin(0, 1)",
        "const b = new Uint8Array(15e6); for (;;) b.slice()",
        "const s = 'x'.repeat(1e7); for (;;) (s + s).charCodeAt(5)",
        "const a = new Array(1e6).fill(1); for (;;) a.slice()",
        "for (;;) 'ab'.repeat(5e6)",
        "const b = new Uint8Array(65536); for (;;) crypto.getRandomValues(b)",
        "for (;;) Date.now()",
    ] {
        let run = start(&space, source);
        tokio::time::sleep(Duration::from_millis(150)).await;
        let took = cancelled(run).await;
        assert!(took < Duration::from_secs(2), "{source}: {took:?}");
    }
}
