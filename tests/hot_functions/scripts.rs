//! Scripts with compiled functions, and what ends them early.

use super::{COMPILING, compare, heat, observable, pair, run, short};
use agent_spaces::{EngineConfig, Limits, RunOptions};
use std::time::{Duration, Instant};

const WORKLOADS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../bench/workloads");

fn workload(name: &str) -> String {
    std::fs::read_to_string(format!("{WORKLOADS}/{name}.js")).unwrap()
}

/// Scripts each of which has at least one function that is compiled.
const SCRIPTS: [(&str, &str); 24] = [
    (
        "doubles",
        "function f(n) { let s = 0; for (let i = 0; i < n; i++) s += i * i * 1000003; return s } [f(10), f(100000), f(-1)]",
    ),
    (
        "overflow",
        "function f(n) { let x = 1; for (let i = 0; i < n; i++) x = x + x; return x } [f(10), f(31), f(32), f(64)]",
    ),
    (
        "error",
        "function f(n) { let s = 0; for (let i = 0; i < n; i++) { s += i; if (i === 70) null.x; } return s } f(100)",
    ),
    (
        "thrown",
        "function g(x) { let n = 0; for (let i = 0; i < 5; i++) n += i; if (x > 3) throw new RangeError('no ' + x); return n }\n\
        function f(n) { let s = 0; for (let i = 0; i < n; i++) s += g(i); return s }\n\
        let r; try { f(9) } catch (e) { r = [e.name, e.message, e.stack] } r",
    ),
    (
        "tail",
        "function gcd(a, b) { return b === 0 ? a : gcd(b, a % b) } let s = 0; for (let i = 1; i < 200; i++) s += gcd(i * 7, 42 + i); s",
    ),
    (
        "arrays",
        "function sum(a) { let s = 0; for (let i = 0; i < a.length; i++) s += a[i]; return s }\n\
        function fill(a, n) { for (let i = 0; i < n; i++) a[i] = i * 2; return a }\n\
        const holes = [1, , 3]; const big = fill([], 500);\n\
        [sum([1, 2, 3]), sum(big), sum(holes), sum('123'), sum([1.5, 'x']), sum(new Uint8Array([250, 9])), sum(new Float64Array([0.1, -0])), fill(new Int8Array(4), 9)]",
    ),
    (
        "bits",
        "function f(n) { let h = 0; for (let i = 0; i < n; i++) h = (h << 5) - h + i | 0; return h >>> 0 } [f(1), f(40), f(999)]",
    ),
    (
        "getters",
        "let log = []; const o = { valueOf() { log.push('v'); return 3 } };\n\
        function f(a, n) { let s = 0; for (let i = 0; i < n; i++) s = s + a; return s } [f(o, 3), f(1, 3), f('x', 3), f(2n, 3), log]",
    ),
    (
        "closures",
        "let count = 0; const add = (n) => { for (let i = 0; i < n; i++) count += i; return count };\n\
        const apply = (f, n) => f(f(n)); [add(3), apply(add, 4), [5, 6].map((n) => add(n))]",
    ),
    (
        "finally",
        "let log = 0; function f(n) { let s = 0; for (let i = 0; i < n; i++) s += i; try { if (s > 10) throw s; return s } finally { log++ } }\n\
        [f(3), (() => { try { return f(9) } catch (e) { return [e, log] } })()]",
    ),
    (
        "labels",
        "function f(n) { let s = 0; outer: for (let i = 0; i < n; i++) { for (let j = 0; j < n; j++) { if (j > i) continue outer; if (i * j > 40) break outer; s += j } } return s } [f(3), f(20)]",
    ),
    (
        "switch",
        "function f(n) { let s = 0; for (let i = 0; i < n; i++) switch (i % 4) { case 0: s += 1; break; case 1: s -= 2; case 2: s *= 2; break; default: s++ } return s } [f(9), f(30)]",
    ),
    (
        "uninitialized",
        "function f(n) { let s = 0; for (let i = 0; i < n; i++) { s += late } return s }\n\
        let r; try { f(2) } catch (e) { r = [e.message, e.stack] } let late = 2; [r, f(5)]",
    ),
    (
        "this",
        "function f(n) { let s = 0; for (let i = 0; i < n; i++) s += this[0]; return s } [f.call([4], 3), f.call([[]], 2)]",
    ),
    (
        "proxies",
        "const p = new Proxy([1, 2, 3], { get(t, k) { return k === 'length' ? 3 : t[k] * 10 } });\n\
        function sum(a) { let s = 0; for (let i = 0; i < a.length; i++) s += a[i]; return s } [sum([1, 2]), sum(p), sum({ length: 2, 0: 1, 1: 2 })]",
    ),
    (
        "loops that begin a function",
        "let left = 0; function step() { return --left > 0 } function drain() { while (step()); }\n\
        function twice(n) { let s = 0; for (let i = 0; i < n; i++) { left = 3; drain(); step(); s += i } return s }\n\
        left = 5; drain(); const stack = new Error('x').stack; [stack, twice(3)]",
    ),
    (
        "constants that are made anew while a closure has them",
        "const fns = []; function* outer() { for (let i = 0; ; i++) { try { const x = [i, i, i];\n\
        fns.push(function (n) { let s = 0; for (let k = 0; k < n; k++) s += k; return x[step()] + s }); yield i; throw 0 } catch {} } }\n\
        const it = outer(); function step() { it.next(); return 0 } it.next(); [fns[0](4), fns[1](5)]",
    ),
    (
        "arguments that are assigned",
        "function f(o, n) { let s; s = o = 0; for (let i = 0; i < n; i++) s += i; return s }\n\
        function g(n) { let s = 0; for (let i = 0; i < n; i++) s += i; return s } [f([], 10), f([1], 10), g(4)]",
    ),
    (
        "arguments that are freed",
        "const log = []; const reg = new FinalizationRegistry((v) => log.push(v));\n\
        function mk(i) { const o = {}; reg.register(o, i); return o }\n\
        function f(o, n) { o = 0; let b = mk(2); b = 0; let s = 0; for (let i = 0; i < n; i++) s += i; return s }\n\
        function g(n) { let s = 0; for (let i = 0; i < n; i++) s += i; return s }\n\
        f(mk(1), 10 + g(3)); await new Promise((r) => setTimeout(r, 1)); log.join()",
    ),
    (
        "what tail calls free",
        "const log = []; const reg = new FinalizationRegistry((v) => log.push(v));\n\
        function mk(i) { const o = {}; reg.register(o, i); return o } function id() { return 0 }\n\
        function f(n) { let a = mk(1), s = 0; for (let i = 0; i < n; i++) s += i; return id(mk(2)) }\n\
        f(9); await new Promise((r) => setTimeout(r, 1)); log.join()",
    ),
    (
        "what tail calls free of variables",
        "const log = []; const reg = new FinalizationRegistry((v) => log.push(v));\n\
        function mk(i) { const o = () => i; reg.register(o, i); return o }\n\
        function sum(o, n) { let s = 0; for (let i = 0; i < n; i++) s += i; return s }\n\
        function f(n) { let a = mk(1), b = mk(2); return sum(a, n) } function g() { let a = mk(3), b = mk(4); return a() }\n\
        f(9); g(); await new Promise((r) => setTimeout(r, 1)); log.join()",
    ),
    (
        "what is left on the stack",
        "const log = []; const reg = new FinalizationRegistry((v) => log.push(v));\n\
        function mk(i) { const o = () => i; reg.register(o, i); return o }\n\
        function h(n) { let s = 0; for (let i = 0; i < n; i++) s += i; let a = mk(5), b = mk(6); switch (a) { default: return s } }\n\
        h(9); await new Promise((r) => setTimeout(r, 1)); log.join()",
    ),
    (
        "positions that are missing",
        "function f(k, n) { let s = 0; for (let i = 0; i < n; i++) s += i; return { [k]: s } }\n\
        let r; try { f({ toString() { throw new Error('key') } }, 5) } catch (e) { r = e.stack } r",
    ),
    (
        "callbacks that calculate",
        "const by = (a, b) => a - b, third = (n) => n % 3 === 0, plus = (a, b) => a + b;\n\
        const all = [9, 3, -1, 'x', 2.5, 40, null, 7n].slice(0, 6); [[5, 1, 4].sort(by), all.filter(third), all.reduce(plus), all.map(third).length]",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_errors_and_fuel_are_the_interpreters() {
    let pair = pair();
    let whole = Limits::default();
    for (name, source) in SCRIPTS {
        let compiled = compare(&pair, source, std::slice::from_ref(&whole)).await;
        assert!(compiled > 0, "{name}");
    }
}

/// Kernels that calculate have compiled functions; all of them behave as before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workloads_are_unchanged() {
    let pair = pair();
    let names = ["recursion", "integers", "closures", "objects", "sort", "strings", "json", "regex"];
    for name in names.into_iter().chain(["trivial"]) {
        let source = workload(name);
        let (on, off) = (pair.on.prepare("agent.js", &source).unwrap(), pair.off.prepare("agent.js", &source).unwrap());
        let is_calculating = ["recursion", "integers"].contains(&name);
        let is_hot = heat(&on, if is_calculating { COMPILING } else { Duration::from_millis(300) }).await;
        assert!(is_hot || !is_calculating, "{name}");
        let limits = Limits::default();
        let times = |program: agent_spaces::Program| async move {
            let mut least = Duration::MAX;
            for _ in 0..3 {
                let begun = Instant::now();
                run(&program, &Limits::default()).await;
                least = least.min(begun.elapsed());
            }
            least
        };
        let expected = observable(&run(&off, &limits).await);
        assert_eq!(observable(&run(&on, &limits).await), expected, "{name}");
        eprintln!(
            "{name}: {} functions, {:?} on, {:?} off",
            on.compiled_functions(),
            times(on.clone()).await,
            times(off.clone()).await
        );
    }
}

/// Limits of fuel in the middle of a compiled loop, and of compiled recursion.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_apply_at_the_same_point() {
    let pair = pair();
    for source in [
        "function f() { let n = 0; for (;;) n = n + 1 & 1023; } f()".to_owned(),
        "function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) } f(40)".to_owned(),
        "const all = []; function f(n) { let s = 0; for (let i = 0; i < n; i++) s += i; return s } for (;;) all.push(f(99))".to_owned(),
    ] {
        let fuel = [1_000, 400_000, 499_999, 500_000, 500_001, 777_777, 2_000_003, 20_000_000];
        let limits: Vec<_> = fuel.iter().map(|fuel| Limits { fuel: *fuel, ..Limits::default() }).collect();
        compare(&pair, &source, &limits).await;
    }
    let memory = "function f(n) { let s = 0; for (let i = 0; i < n; i++) s += i; return s }\n\
        const all = []; for (let i = 0; i < 400; i++) all.push('x'.repeat(1e5) + f(i)); all.length";
    let limits = [1 << 20, 8 << 20, 20 << 20, 64 << 20].map(|memory| Limits { memory, ..Limits::default() });
    compare(&pair, memory, &limits).await;
}

/// Compiled functions nest as deep as interpreted ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stacks_overflow_at_the_same_depth() {
    let pair = pair();
    for source in [
        "function f(n) { return f(n + 1) + 1 } f(0)",
        "function f(n) { return n === 0 ? 0 : f(n - 1) + 1 } f(5000)",
        "let deepest = 0; function g(n) { deepest = n; return [n].map((x) => f(x))[0] } function f(n) { return g(n + 1) + 1 } f(0)",
        "function f(a, n) { let s = 0; for (let i = 0; i < 3; i++) s += i; return a(a, n + 1) + s } f(f, 0)",
        "function f(n) { let s = 0; for (let i = 0; i < 3; i++) s += i; return [s].length + f(n + 1) } f(0)",
    ] {
        compare(&pair, source, &[Limits::default()]).await;
    }
}

/// An endless loop of compiled code ends with its time, and when it is cancelled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_loops_end() {
    let pair = pair();
    let program = pair.on.prepare("agent.js", "function f() { let n = 0; for (;;) n = n + 1 & 1023; } f()").unwrap();
    assert!(heat(&program, COMPILING).await);
    let limits = Limits { fuel: u64::MAX, time: Duration::from_millis(100), ..Limits::default() };
    let report = run(&program, &limits).await;
    assert_eq!(report.outcome.unwrap_err().code, "limit.time");
    let options = RunOptions { limits: Some(Limits { fuel: u64::MAX, ..Limits::default() }), ..RunOptions::default() };
    let cancel = options.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    assert_eq!(program.run(options).await.outcome.unwrap_err().code, "run.cancelled");
}

/// Without the setting a script is kept compiled, with no functions as native code.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_setting_switches_it_off() {
    assert!(EngineConfig::default().compile_hot_functions);
    let pair = pair();
    let program = pair.off.prepare("agent.js", &workload("integers")).unwrap();
    for _ in 0..30 {
        run(&program, &short()).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(program.is_kept_compiled());
    assert_eq!(program.compiled_functions(), 0);
}
