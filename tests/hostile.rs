//! Hostile scripts: each ends with its own error code in bounded time, without effect on the next run.

use agent_spaces::{Limits, RunReport, Space};
use agent_spaces_tests::{empty_space, low_limits, run_replayed, run_with, value};
use serde_json::json;
use std::time::{Duration, Instant};

/// Far more than any of them takes under [`tight`] limits on a busy machine.
const BOUNDED: Duration = Duration::from_secs(60);

/// Runs each script and asserts the code it ends with; then that the next run works.
async fn all_end(cases: &[(&str, &str)]) {
    all_end_within(low_limits(), cases).await;
}

async fn all_end_within(limits: Limits, cases: &[(&str, &str)]) {
    let space = empty_space();
    let mut failures = Vec::new();
    for (source, code) in cases {
        let (report, took) = timed(&space, source, limits.clone()).await;
        let ended =
            report.outcome.as_ref().map_or_else(|error| error.code.clone(), |value| format!("the value {value:.80}"));
        if ended != *code {
            failures.push(format!(
                "{source}: expected {code}, got {ended}: {:?}",
                report.outcome.as_ref().err().map(|error| &error.message)
            ));
        }
        if took > BOUNDED || report.usage.memory_bytes > Limits::default().memory {
            failures.push(format!("{source}: {took:?}, {:?}", report.usage));
        }
        assert_eq!(value(&space, "1 + 1").await, json!(2), "after {source}");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Runs each script, which contains its own harm, and asserts its value.
async fn all_contained(cases: &[(&str, serde_json::Value)]) {
    let space = empty_space();
    let mut failures = Vec::new();
    for (source, expected) in cases {
        let (report, _) = timed(&space, source, Limits::default()).await;
        if report.outcome.as_ref().ok() != Some(expected) {
            failures.push(format!("{source}: expected {expected}, got {:?}", report.outcome));
        }
        assert_eq!(
            value(&space, "[1 + 1, [3, 1].sort(), JSON.stringify({ a: 1 })]").await,
            json!([2, [1, 3], "{\"a\":1}"]),
            "after {source}"
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

async fn timed(space: &Space, source: &str, limits: Limits) -> (RunReport, Duration) {
    let begun = Instant::now();
    // As a durable run: whatever a script does, it is recorded and replays exactly.
    let report = run_replayed(space, source, limits).await;
    (report, begun.elapsed())
}

#[tokio::test]
async fn loops_run_out_of_fuel() {
    all_end(&[
        ("while (true) {}", "limit.fuel"),
        ("outer: for (;;) { for (;;) continue outer }", "limit.fuel"),
        ("a: { for (;;) { b: { break b } } }", "limit.fuel"),
        ("for (;;) await 0", "limit.fuel"),
        ("const f = () => queueMicrotask(f); f(); await new Promise(() => {})", "limit.fuel"),
        ("function* g() { for (;;) yield 1 } for (const x of g());", "limit.fuel"),
        ("const g = (async function* () { for (;;) yield 1 })(); for await (const x of g);", "limit.fuel"),
        ("/(a+)+$/.test('a'.repeat(50) + 'b')", "limit.fuel"),
        ("/^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))", "limit.fuel"),
        ("for (let i = 0; ; i++) Promise.reject(new Error('e' + i))", "limit.fuel"),
        ("'a'.repeat(40).replace(/(a|a|b?)*c/, '')", "limit.fuel"),
        ("[3, 1, 2].sort(() => { for (;;); })", "limit.fuel"),
        ("+{ [Symbol.toPrimitive]() { for (;;); } }", "limit.fuel"),
        ("`${{ toString() { for (;;); } }}`", "limit.fuel"),
        ("JSON.stringify({ toJSON() { for (;;); } })", "limit.fuel"),
        ("new Proxy({}, { get() { for (;;); } }).x", "limit.fuel"),
        ("new Array(2 ** 32 - 1).fill(0)", "limit.memory"),
        ("Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)", "limit.fuel"),
        ("try { for (;;); } finally { for (;;); }", "limit.fuel"),
        ("try { for (;;); } catch { 'caught' }", "limit.fuel"),
        ("new Function('for (;;);')()", "limit.fuel"),
        ("(0, eval)('for (;;);')", "limit.fuel"),
        ("let s = 'x'; for (;;) s = s.split('').reverse().join('')", "limit.fuel"),
        ("class A { static { for (;;); } }", "limit.fuel"),
    ])
    .await;
}

#[tokio::test]
async fn growth_runs_out_of_memory() {
    all_end_within(
        Limits::default(),
        &[
            ("const a = []; for (;;) a.push(a.length)", "limit.memory"),
            ("const a = []; for (;;) a.push({ a: [] })", "limit.memory"),
            ("let s = 'x'; for (;;) s += s", "script.error"),
            ("'x'.repeat(2 ** 29)", "limit.memory"),
            ("let s = 'é'; for (;;) s = (s + s).normalize()", "limit.memory"),
            ("new Uint8Array(2 ** 30)", "limit.memory"),
            ("const m = new Map(); for (let i = 0; ; i++) m.set(i, i)", "limit.memory"),
            ("const o = {}; for (let i = 0; ; i++) o['k' + i] = i", "limit.memory"),
            ("const kept = []; for (;;) kept.push(setTimeout(() => {}, 1e6))", "limit.memory"),
            ("const a = []; for (;;) a.push(new Promise(() => {}))", "limit.memory"),
            // Each promise waits for the next one.
            ("const f = () => Promise.resolve().then(f); await f()", "limit.memory"),
            ("const a = [1]; for (const x of a) a.push(x)", "limit.memory"),
            ("let n = 1n; for (;;) n <<= 1000000n", "script.error"),
            ("const a = []; for (;;) a.push(2n ** 500000n)", "limit.memory"),
            ("JSON.stringify(Array(3e6).fill('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'))", "limit.memory"),
            ("let a = []; for (;;) a = [a, a.slice(), ...a]", "limit.memory"),
            ("const s = new Set(); for (;;) s.add(Symbol())", "limit.memory"),
        ],
    )
    .await;
}

/// A refused growth ends the run, whatever the script catches.
#[tokio::test]
async fn running_out_of_memory_cannot_be_caught() {
    all_end_within(
        Limits::default(),
        &[
            ("try { const a = []; for (;;) a.push(new Uint8Array(1e6)) } catch {} 'went on'", "limit.memory"),
            ("try { new Uint8Array(2 ** 30) } catch {} 'went on'", "limit.memory"),
            ("try { 'x'.repeat(2 ** 29) } catch {} 'went on'", "limit.memory"),
            ("await Promise.reject().catch(() => new Array(1e9).fill(1)).catch(() => 'went on')", "limit.memory"),
        ],
    )
    .await;
}

/// An impossibly large allocation is refused by the memory limit too.
#[tokio::test]
async fn a_request_beyond_all_memory_is_a_memory_error() {
    all_end(&[
        ("new ArrayBuffer(2 ** 31 - 1)", "limit.memory"),
        ("for (let i = 0; i < 100; i++) try { new ArrayBuffer(2 ** 31 - 1) } catch {} 'went on'", "limit.memory"),
    ])
    .await;
}

#[tokio::test]
async fn recursion_runs_out_of_stack() {
    all_end_within(
        Limits::default(),
        &[
            ("const f = () => f(); f()", "limit.stack"),
            ("const f = async () => { await f() }; await f()", "limit.stack"),
            ("const o = { get x() { return this.x } }; o.x", "limit.stack"),
            ("const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x", "limit.stack"),
            ("const o = { toString() { return `${this}` } }; `${o}`", "limit.stack"),
            ("const o = { valueOf() { return +this } }; +o", "limit.stack"),
            ("const o = { toJSON() { return JSON.stringify(this) } }; JSON.stringify(o)", "limit.stack"),
            ("let d = []; for (let i = 0; i < 100000; i++) d = [d]; JSON.stringify(d)", "limit.stack"),
            ("JSON.parse('['.repeat(1000000) + ']'.repeat(1000000))", "limit.stack"),
            ("let d = []; for (let i = 0; i < 100000; i++) d = [d]; String(d)", "limit.stack"),
            ("let d = []; for (let i = 0; i < 100000; i++) d = [d]; d.flat(Infinity)", "limit.stack"),
            ("new RegExp('(?:'.repeat(100000) + ')'.repeat(100000))", "limit.stack"),
            ("eval('('.repeat(1000000))", "limit.stack"),
            ("eval('['.repeat(100000) + ']'.repeat(100000))", "limit.stack"),
            ("class A { constructor() { new A() } } new A()", "limit.stack"),
            ("[1].map(function f() { return [1].map(f) })", "limit.stack"),
            ("let f = x => x; for (let i = 0; i < 100000; i++) { const g = f; f = x => g(x) } f(1)", "limit.stack"),
            ("try { (function f() { f() })() } catch { 'caught' }", "limit.stack"),
            ("let p = {}; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); p.x", "limit.stack"),
            ("let f = () => {}; for (let i = 0; i < 30000; i++) f = f.bind(); f()", "limit.memory"),
        ],
    )
    .await;
}

/// Long chains of objects are walked and freed without a stack to overflow.
#[tokio::test]
async fn long_chains_are_freed() {
    all_contained(&[
        ("let d = null; for (let i = 0; i < 100000; i++) d = { d }; d = null; 'freed'", json!("freed")),
        ("let p = Promise.resolve(1); for (let i = 0; i < 20000; i++) p = p.then(x => x); await p", json!(1)),
        (
            "let f = null; for (let i = 0; i < 100000; i++) { const g = f; f = () => g } f = null; 'freed'",
            json!("freed"),
        ),
        ("let s = ''; for (let i = 0; i < 5000; i++) s = 'a' + s + 'b'; s.length", json!(10000)),
        ("let d = []; for (let i = 0; i < 100000; i++) d = [d]; structuredClone(d).length", json!(1)),
    ])
    .await;
}

/// Cycles are collected: garbage alone never reaches the memory's cap.
#[tokio::test]
async fn cyclic_garbage_does_not_fill_the_memory() {
    let limits = Limits { fuel: 20_000_000_000, ..Limits::default() };
    let source = "for (let i = 0; i < 300000; i++) { const a = { data: new Array(50).fill(i) }; a.self = a; a.f = () => a } 'collected'";
    let (report, _) = timed(&empty_space(), source, limits).await;
    assert_eq!(report.outcome.unwrap(), json!("collected"));
    assert!(report.usage.memory_bytes < 32 << 20, "{:?}", report.usage);
    let kept = "const kept = []; for (let i = 0; i < 300000; i++) { const a = { data: new Array(50).fill(i) }; a.self = a; kept.push(a) } 'kept'";
    let (report, _) = timed(&empty_space(), kept, Limits::default()).await;
    assert_eq!(report.outcome.unwrap_err().code, "limit.memory", "the twin, which keeps them");
}

#[tokio::test]
async fn endless_waits_are_ended() {
    let space = empty_space();
    let limits = Limits { time: Duration::from_millis(500), ..Limits::default() };
    for (source, code) in [
        ("await new Promise(() => {})", "script.pending"),
        ("await { then() {} }", "script.pending"),
        ("export default { then() {} }", "script.pending"),
        ("await new Promise(r => setTimeout(r, 1e9))", "limit.time"),
        ("setInterval(() => {}, 0); await new Promise(() => {})", "limit.time"),
        ("setInterval(() => {}, 1e9); await new Promise(() => {})", "limit.time"),
        ("const f = () => setTimeout(f, 0); f(); await new Promise(() => {})", "limit.time"),
        ("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", "script.error"),
        ("const w = Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0); await w.value", "script.error"),
    ] {
        let (report, took) = timed(&space, source, limits.clone()).await;
        let error = report.outcome.expect_err(source);
        assert_eq!(error.code, code, "{source}: {error:?}");
        assert!(took < BOUNDED, "{source}: {took:?}");
        assert_eq!(value(&space, "1 + 1").await, json!(2));
    }
}

#[tokio::test]
async fn console_and_result_floods_are_limited() {
    all_end_within(Limits::default(), &[
        ("for (;;) console.log('x'.repeat(100))", "limit.console"),
        ("console.log('x'.repeat(3e6)); console.log({ a: Array(1e5).fill('long enough') }); for (let i = 0; i < 100; i++) console.error('y'.repeat(65000))", "limit.console"),
        ("for (;;) console.table([[1, 2], [3, 4]])", "limit.console"),
        ("'x'.repeat(9 << 20)", "limit.result"),
        ("Array(1e6).fill('0123456789')", "limit.result"),
        ("const a = []; a.length = 2 ** 32 - 1; a", "limit.result"),
        ("let a = 'x'.repeat(1000); for (let i = 0; i < 20; i++) a = [a, a]; a", "limit.result"),
    ])
    .await;
}

/// 100 MB of result, where there is memory for it.
#[tokio::test]
async fn a_huge_result_is_limited() {
    let limits = Limits { memory: 1 << 30, fuel: u64::MAX, ..Limits::default() };
    let (report, _) = timed(&empty_space(), "'x'.repeat(100e6)", limits).await;
    assert_eq!(report.outcome.unwrap_err().code, "limit.result");
}

#[tokio::test]
async fn a_hundred_thousand_timers_fire() {
    let source = "let n = 0; await new Promise(done => { for (let i = 0; i < 100000; i++) setTimeout(() => { if (++n === 100000) done() }, i % 10) }); n";
    let limits = Limits { fuel: 20_000_000_000, ..Limits::default() };
    assert_eq!(run_with(&empty_space(), source, limits).await.outcome.unwrap(), json!(100000));
}
