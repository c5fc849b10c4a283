//! Metering: whatever a script burns time with, it pays for, lets others run meanwhile, and ends at exactly its fuel.

use agent_spaces::Limits;
use agent_spaces_tests::{empty_space, run_with};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Fuel of each run: a hundred slices.
const FUEL: u64 = 50_000_000;

/// Fuel between two yields.
const SLICE: u64 = 500_000;

/// The longest that a slice may take in the mean. Most take less than a millisecond, those that copy megabytes at once
/// ten; what is not charged would take for ever.
const MOST_PER_SLICE: Duration = Duration::from_millis(250);

/// Ways to burn time, most of them in functions of the engine that no bytecode runs in.
const ATTACKS: [(&str, &str); 74] = [
    ("endless loop", "for (;;);"),
    ("labels", "a: for (;;) { b: for (;;) { continue a } }"),
    ("straight code", "const f = new Function('x', 'x;'.repeat(20000)); for (;;) f(1)"),
    ("straight code in a loop", "new Function('x', 'for (;;) {' + 'x = x + 1;'.repeat(5000) + '}')(1)"),
    ("straight objects", "new Function('for (;;) {' + '({});'.repeat(5000) + '}')()"),
    ("switch", "let i = 0; for (;;) switch (i++ & 7) { case 1: case 2: i++; break; case 5: continue; default: }"),
    ("calls", "const f = (n) => n < 2 ? n : f(n - 1) + f(n - 2); f(60)"),
    ("constructors", "class A { constructor() { this.a = 1 } } class B extends A {} for (;;) new B()"),
    ("spread calls", "const a = new Array(1000).fill(1); for (;;) Math.max(...a)"),
    ("apply", "const a = new Array(10000).fill(1); for (;;) Math.max.apply(null, a)"),
    ("bound functions", "const f = (() => 1).bind(null, 1).bind(null, 2); for (;;) f()"),
    ("getters", "const o = { get x() { return 1 } }; for (;;) o.x"),
    ("generators", "function* g() { for (;;) yield 1 } for (const x of g());"),
    ("async generators", "async function* g() { for (;;) yield 1 } for await (const x of g());"),
    ("microtasks", "for (;;) await 0"),
    ("promises", "const f = () => Promise.resolve().then(f); await f()"),
    ("many reactions", "for (;;) await Promise.all(new Array(1000).fill(0))"),
    ("finally", "for (;;) { try { continue } finally { 1 } }"),
    ("exceptions", "for (;;) { try { throw 1 } catch {} }"),
    ("errors", "for (;;) { try { null.x } catch {} }"),
    ("eval", "for (;;) (0, eval)('1')"),
    ("compilation", "const s = 'x => x;'.repeat(10000); for (;;) new Function(s)"),
    ("backtracking", "/(a+)+$/.test('a'.repeat(50) + 'b')"),
    ("lookbehind", "const s = 'a'.repeat(1e5); for (;;) /(?<=b)a/.test(s)"),
    ("regexp over a long text", "const s = 'x'.repeat(1e6); for (;;) /y/.test(s)"),
    ("regexp sets", "const s = 'é'.repeat(1e5); for (;;) /[\\p{Lu}--[A-Z]]/v.test(s)"),
    ("matchAll", "const s = 'ab'.repeat(1e5); for (;;) [...s.matchAll(/a/g)]"),
    ("regexp compilation", "const s = '(a|b)'.repeat(200); for (;;) new RegExp(s)"),
    ("sort", "const a = Array.from({ length: 1e5 }, (_, i) => (i * 7919) % 100003); for (;;) a.toSorted()"),
    (
        "sort with a comparator",
        "const a = Array.from({ length: 1e4 }, (_, i) => (i * 7919) % 10007); for (;;) a.toSorted((x, y) => x - y)",
    ),
    ("proxies", "const p = new Proxy({}, { get: () => 1, has: () => true }); for (;;) { p.x; 'x' in p }"),
    ("chains of proxies", "let p = {}; for (let i = 0; i < 100; i++) p = new Proxy(p, {}); for (;;) p.x"),
    ("JSON.parse", "const s = '[' + '1.5,'.repeat(1e5) + '1]'; for (;;) JSON.parse(s)"),
    ("JSON.parse of a text", "const s = JSON.stringify('x'.repeat(1e6)); for (;;) JSON.parse(s)"),
    ("JSON.stringify", "const a = new Array(1e5).fill(1.5); for (;;) JSON.stringify(a)"),
    ("JSON.stringify of a text", "const s = '\\n'.repeat(1e6); for (;;) JSON.stringify(s)"),
    ("repeat", "for (;;) 'ab'.repeat(1e6)"),
    ("padding", "for (;;) 'x'.padStart(1e6, 'abc')"),
    ("concatenation", "for (;;) { let s = ''; for (let i = 0; i < 1e4; i++) s += 'abc' + s.length; s.charCodeAt(5) }"),
    ("replaceAll", "const s = 'ab'.repeat(1e5); for (;;) s.replaceAll('a', 'cc')"),
    ("split and join", "const s = 'a,'.repeat(1e5); for (;;) s.split(',').join(';')"),
    ("indexOf", "const s = 'a'.repeat(1e6); for (;;) s.indexOf('ab')"),
    ("lastIndexOf", "const s = 'a'.repeat(1e4), t = 'b' + 'a'.repeat(5e3); for (;;) s.lastIndexOf(t)"),
    ("comparison", "const a = 'x'.repeat(1e6) + 1, b = 'x'.repeat(1e6) + 2; for (;;) a < b"),
    ("equality", "const a = ['x'.repeat(1e6)], b = ['x'.repeat(1e6)]; for (;;) a[0] === b[0]"),
    ("normalize", "const s = 'é'.repeat(1e5); for (;;) s.normalize('NFD')"),
    ("case", "const s = 'aé'.repeat(1e5); for (;;) s.toUpperCase()"),
    ("big multiplication", "let n = 3n ** 20000n; for (;;) n * n"),
    ("big power", "for (;;) 3n ** 30000n"),
    ("big division", "const n = 3n ** 40000n, m = 7n ** 10000n; for (;;) n / m"),
    ("big to text", "const n = 3n ** 30000n; for (;;) String(n)"),
    ("big from text", "const s = '7'.repeat(20000); for (;;) BigInt(s)"),
    ("holes", "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)"),
    ("holes of an array", "const a = []; a.length = 2 ** 32 - 1; a.forEach(() => {})"),
    ("reverse of holes", "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })"),
    ("copyWithin of holes", "Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1)"),
    ("flat", "const a = new Array(1e5).fill([1]); for (;;) a.flat()"),
    ("splice", "const a = new Array(1e5).fill(1); for (;;) { a.splice(0, 1); a.splice(0, 0, 1) }"),
    ("fill of a typed array", "const a = new Uint8Array(8e6); for (;;) a.fill(1)"),
    ("set of a typed array", "const a = new Uint8Array(8e6), b = new Uint8Array(8e6); for (;;) a.set(b)"),
    ("copyWithin of a typed array", "const a = new Uint8Array(8e6); for (;;) a.copyWithin(1, 0)"),
    ("conversion of typed arrays", "const a = new Float64Array(1e6); for (;;) Int16Array.from(a)"),
    ("sort of a typed array", "const a = new Uint32Array(1e5).map((_, i) => i * 7919); for (;;) a.slice().sort()"),
    ("zeroed memory", "for (;;) new ArrayBuffer(8e6)"),
    ("structuredClone", "const a = Array.from({ length: 1e4 }, (_, i) => ({ i })); for (;;) structuredClone(a)"),
    ("prototype chain", "let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o); for (;;) o.x"),
    ("large shapes", "const o = {}; for (let i = 0; i < 1e4; i++) o['k' + i] = i; for (;;) Object.keys(o)"),
    ("delete", "const o = {}; for (let i = 0; i < 1e4; i++) o['k' + i] = i; for (;;) { delete o.k5; o.k5 = 1 }"),
    ("maps", "const m = new Map(); for (let i = 0; ; i++) { m.set(i & 65535, i); m.get(i) }"),
    ("clearing of sets", "for (;;) { const s = new Set([1, 2, 3, {}, 'x']); s.clear() }"),
    (
        "destructuring",
        "const a = new Array(1000).fill(1); for (;;) { const [b, ...c] = a; const { length, ...d } = a }",
    ),
    ("templates", "const t = (s, ...v) => s.raw.length; for (;;) t`a${1}b${2}c`"),
    ("texts of dates and locales", "for (;;) { new Date(1e12).toISOString(); (1234.5).toLocaleString('en') }"),
    (
        "URLs and encodings",
        "for (;;) { new URL('https://a.b/c?d=e'); new TextDecoder().decode(new TextEncoder().encode('é'.repeat(1e4))) }",
    ),
];

#[tokio::test]
async fn every_way_to_burn_time_is_paid_for() {
    let space = empty_space();
    let limits = Limits { fuel: FUEL, time: Duration::from_secs(60), ..Limits::default() };
    run_with(&space, "1", limits.clone()).await; // Compiles what all runs share.
    let mut failures = Vec::new();
    for (name, source) in ATTACKS {
        // On the run's own thread: it gets there only when the run yields.
        let (turns, fired) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let others = [
            tokio::spawn({
                let turns = turns.clone();
                async move {
                    loop {
                        turns.fetch_add(1, Ordering::Relaxed);
                        tokio::task::yield_now().await;
                    }
                }
            }),
            tokio::spawn({
                let fired = fired.clone();
                async move {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    fired.store(true, Ordering::Relaxed);
                }
            }),
        ];
        let begun = cpu_time();
        let report = run_with(&space, source, limits.clone()).await;
        let took = cpu_time() - begun;
        others.iter().for_each(tokio::task::JoinHandle::abort);
        let code = report.outcome.map_or_else(|error| error.code, |value| value.to_string());
        let (turns, fired) = (turns.load(Ordering::Relaxed), fired.load(Ordering::Relaxed));
        // Others get a turn in each millisecond at least, but a single instruction may take several.
        let is_fair = u128::from(turns) >= took.as_millis().min(8)
            && (fired || took < Duration::from_millis(4))
            && took < MOST_PER_SLICE * (FUEL / SLICE) as u32;
        if code != "limit.fuel" || report.usage.fuel != FUEL || !is_fair {
            let fuel = report.usage.fuel;
            failures
                .push(format!("{name}: {code} after {fuel} units, {turns} turns of others, timer {fired}, {took:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Processor time of this thread: what the run and the others take, however busy the machine is.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Cancellation and the time limit end each of them within some slices, whatever fuel is left.
#[tokio::test]
async fn every_way_to_burn_time_ends_with_it() {
    let space = empty_space();
    let limits = Limits { fuel: u64::MAX, time: Duration::from_millis(50), ..Limits::default() };
    for (name, source) in ATTACKS {
        let begun = Instant::now();
        let report = run_with(&space, source, limits.clone()).await;
        let code = report.outcome.map_or_else(|error| error.code, |value| value.to_string());
        assert_eq!(code, "limit.time", "{name}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{name}: {:?}", begun.elapsed());
    }
}

/// The same fuel in every run, to the unit, at any limit.
#[tokio::test]
async fn fuel_is_the_same_to_the_unit() {
    let space = empty_space();
    let source = "let n = 0; for (let i = 0; i < 3e4; i++) n += [...'abc'].map((c) => c + i).join('').length; n";
    let limits = |fuel| Limits { fuel, ..Limits::default() };
    let used = run_with(&space, source, limits(u64::MAX)).await.usage.fuel;
    assert!(used > 2 * SLICE, "{used}: less than some slices");
    // Until it is kept compiled, and after that.
    for _ in 0..20 {
        let report = run_with(&space, source, limits(Limits::default().fuel)).await;
        assert_eq!((report.outcome.is_ok(), report.usage.fuel), (true, used));
        let report = run_with(&space, source, limits(used / 2)).await;
        assert_eq!((report.outcome.unwrap_err().code.as_str(), report.usage.fuel), ("limit.fuel", used / 2));
    }
}
