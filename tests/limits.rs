//! Limits of a run: just under each a script works, over it the run ends with its own error code, usage is reported,
//! and the next run is unaffected.

use agent_spaces::{Handlers, Limits, Space};
use agent_spaces_tests::{empty_space, run_with, space, value};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const WIT: &str = "package test:io@1.0.0;
interface io {
    use agent-spaces:host/types@0.1.0.{capability-error, json};
    echo: async func(text: string) -> result<string, capability-error>;
    grow: async func(length: u32) -> result<string, capability-error>;
    sleep: async func(milliseconds: u32) -> result<_, capability-error>;
    sleep-now: func(milliseconds: u32) -> result<_, capability-error>;
    numbers: async func(bytes: list<u8>) -> result<u32, capability-error>;
}";

fn io() -> Space {
    let mut handlers = Handlers::new();
    handlers.add("test:io/io@1.0.0", "echo", |call| async move { Ok(call.params["text"].clone()) });
    handlers.add("test:io/io@1.0.0", "grow", |call| async move {
        Ok("x".repeat(call.params["length"].as_u64().unwrap_or_default() as usize).into())
    });
    for name in ["sleep", "sleep-now"] {
        handlers.add("test:io/io@1.0.0", name, |call| async move {
            tokio::time::sleep(Duration::from_millis(call.params["milliseconds"].as_u64().unwrap_or_default())).await;
            Ok(Value::Null)
        });
    }
    handlers.add("test:io/io@1.0.0", "numbers", |call| async move {
        Ok(call.params["bytes"].as_str().map_or(0, str::len).into())
    });
    space(WIT, handlers)
}

/// Runs a script under a limit and one over it; the next run is unaffected.
async fn pair(space: &Space, limits: Limits, under: &str, over: &str, code: &str) {
    let import = "import { io } from '@test/io';";
    let has_io = space.modules().next().is_some();
    let with_import = |source: &str| if has_io { format!("{import} {source}") } else { source.to_owned() };
    let report = run_with(space, &with_import(under), limits.clone()).await;
    assert!(report.outcome.is_ok(), "under {code}: {:?}", report.outcome);
    let report = run_with(space, &with_import(over), limits.clone()).await;
    let error = report.outcome.expect_err(over);
    assert_eq!(error.code, code, "{error:?}");
    assert!(error.hint.is_some(), "{error:?}");
    assert!(report.usage.fuel > 0 && report.usage.memory_bytes > 0 && report.usage.wall_ms > 0.0, "{:?}", report.usage);
    let caught =
        format!("try {{ await (async () => {{ {over} }})() }} catch (e) {{ console.log('caught', e) }} 'went on'");
    let error = run_with(space, &with_import(&caught), limits).await.outcome.expect_err("a limit cannot be caught");
    assert_eq!(error.code, code, "caught: {error:?}");
    assert_eq!(value(space, "1 + 1").await, json!(2));
}

#[tokio::test]
async fn fuel() {
    let limits = Limits { fuel: 100_000_000, ..Limits::default() };
    pair(&empty_space(), limits.clone(), "for (let i = 0; i < 10000; i++);", "while (true) {}", "limit.fuel").await;
    let report = run_with(&empty_space(), "while (true) {}", limits).await;
    assert_eq!(report.usage.fuel, 100_000_000, "all of it");
    assert!(report.outcome.unwrap_err().message.contains("100000000"));
}

#[tokio::test]
async fn memory() {
    let limits = Limits { memory: 32 << 20, ..Limits::default() };
    let over = "const a = []; for (;;) a.push(new Uint8Array(1 << 20))";
    pair(&empty_space(), limits.clone(), "const a = new Uint8Array(8 << 20); a.length", over, "limit.memory").await;
    let report = run_with(&empty_space(), over, limits).await;
    assert!(report.usage.memory_bytes <= 32 << 20 && report.usage.memory_bytes > 16 << 20, "{:?}", report.usage);
}

/// `undefined` stands for an item of half a megabyte, so a short array may need more than the address space has.
#[tokio::test]
async fn memory_of_items_that_are_larger_than_they_look() {
    const LETTERS: [char; 4] = ['a', 'b', 'c', 'd'];
    let record = |name: char, field: &str| {
        let fields: Vec<String> = LETTERS.iter().flat_map(|x| LETTERS.map(|y| format!("{x}{y}: {field}"))).collect();
        format!("record {name} {{ {} }}", fields.join(", "))
    };
    let records = [record('a', "u64"), record('b', "a"), record('c', "b"), record('d', "c")].join(" ");
    let wit = format!(
        "package test:large@1.0.0;
        interface large {{
            use agent-spaces:host/types@0.1.0.{{capability-error}};
            {records}
            count: async func(items: list<option<d>>) -> result<u32, capability-error>;
        }}"
    );
    let mut handlers = Handlers::new();
    handlers.add("test:large/large@1.0.0", "count", |call| async move {
        Ok(call.params["items"].as_array().map_or(0, Vec::len).into())
    });
    let large = space(&wit, handlers);
    let count = async |length: usize| {
        let source = format!(
            "import {{ large }} from '@test/large';
            export default await large.count(Array({length}).fill(undefined))"
        );
        run_with(&large, &source, Limits::default()).await.outcome
    };
    assert_eq!(count(10).await.unwrap(), json!(10));
    // 8,192 of them and their tags are just over 4 GiB.
    for length in [1_000, 8_191, 8_192, 8_200, 16_400] {
        assert_eq!(count(length).await.unwrap_err().code, "limit.memory", "{length} items");
    }
}

/// A limit below what the engine itself takes ends the run before it starts, by its own name.
#[tokio::test]
async fn memory_limit_below_the_engines_minimum() {
    let limits = Limits { memory: 1 << 16, ..Limits::default() };
    let report = run_with(&empty_space(), "1", limits).await;
    assert_eq!(report.outcome.unwrap_err().code, "limit.memory");
}

/// Time passes while the script computes, sleeps, waits for a call, and inside a plain call.
#[tokio::test]
async fn time() {
    let limits = Limits { time: Duration::from_millis(400), fuel: u64::MAX, ..Limits::default() };
    let (space, start) = (io(), Instant::now());
    pair(&space, limits.clone(), "await io.sleep(1)", "await io.sleep(60000)", "limit.time").await;
    pair(&space, limits.clone(), "io.sleepNow(1)", "io.sleepNow(60000)", "limit.time").await;
    pair(&space, limits.clone(), "1", "while (true) {}", "limit.time").await;
    pair(&space, limits.clone(), "1", "await new Promise(r => setTimeout(r, 60000))", "limit.time").await;
    pair(&space, limits, "1", "for (;;) await 0", "limit.time").await;
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

/// Recursion has an end that does not depend on the host's stack.
#[tokio::test]
async fn stack() {
    let under = "const f = n => n === 0 ? 0 : 1 + f(n - 1); f(2000)";
    pair(&empty_space(), Limits::default(), under, "const f = () => f() + 1; f()", "limit.stack").await;
}

#[tokio::test]
async fn result() {
    let limits = Limits { result: 1_000, ..Limits::default() };
    let space = empty_space();
    let report = run_with(&space, "'x'.repeat(998)", limits.clone()).await;
    assert_eq!(report.outcome.unwrap().as_str().map(str::len), Some(998), "with its quotes, a thousand");
    for over in ["'x'.repeat(999)", "new Array(1000).fill(0)", "({ a: 'é'.repeat(500) })", "'\\u0000'.repeat(200)"] {
        let report = run_with(&space, over, limits.clone()).await;
        let error = report.outcome.expect_err(over);
        assert_eq!(error.code, "limit.result", "{over}");
        assert!(error.message.contains("1000"), "{error:?}");
    }
    assert_eq!(value(&space, "1 + 1").await, json!(2));
}

#[tokio::test]
async fn console() {
    let limits = Limits { console: 10_000, ..Limits::default() };
    let over = "for (let i = 0; i < 11; i++) console.log('x'.repeat(984))";
    pair(
        &empty_space(),
        limits.clone(),
        "for (let i = 0; i < 10; i++) console.log('x'.repeat(984))",
        over,
        "limit.console",
    )
    .await;
    let report = run_with(&empty_space(), over, limits.clone()).await;
    assert_eq!(report.console.len(), 10, "what fits is kept");
    let report = run_with(&empty_space(), "for (;;) console.log()", limits).await;
    assert_eq!(report.outcome.unwrap_err().code, "limit.console", "empty lines are not free");
}

#[tokio::test]
async fn calls() {
    let limits = Limits { calls: 10, ..Limits::default() };
    let loop_of = |n: u32| format!("for (let i = 0; i < {n}; i++) await io.echo('a')");
    pair(&io(), limits.clone(), &loop_of(10), &loop_of(11), "limit.calls").await;
    let report = run_with(&io(), &format!("import {{ io }} from '@test/io'; {}", loop_of(11)), limits).await;
    assert_eq!(report.usage.calls, 10);
}

#[tokio::test]
async fn in_flight() {
    let limits = Limits { in_flight: 5, ..Limits::default() };
    let at_once = |n: u32| format!("await Promise.all(Array.from({{ length: {n} }}, () => io.sleep(20)))");
    let under = format!("{0}; {0}; {0}", at_once(5));
    pair(&io(), limits.clone(), &under, &at_once(6), "limit.inflight").await;
    pair(&io(), limits, "for (let i = 0; i < 20; i++) await io.echo('a')", &at_once(7), "limit.inflight").await;
}

/// Both ways.
#[tokio::test]
async fn bytes_of_a_call() {
    let limits = Limits { call_bytes: 10_000, ..Limits::default() };
    let space = io();
    pair(&space, limits.clone(), "await io.echo('x'.repeat(9900))", "await io.echo('x'.repeat(10100))", "limit.bytes")
        .await;
    pair(&space, limits.clone(), "await io.grow(9900)", "await io.grow(10100)", "limit.bytes").await;
    pair(
        &space,
        limits,
        "await io.numbers(new Uint8Array(7000))",
        "await io.numbers(new Uint8Array(9000))",
        "limit.bytes",
    )
    .await;
}

/// Guest data is limited before the host copies it.
#[tokio::test]
async fn a_huge_call_is_refused_before_lifting() {
    let limits = Limits { call_bytes: 10_000, result: 10_000, memory: 512 << 20, ..Limits::default() };
    let source = "import { io } from '@test/io'; await io.echo('x'.repeat(50_000_000))";
    let report = run_with(&io(), source, limits).await;
    assert_eq!(report.outcome.unwrap_err().code, "limit.bytes");
    assert_eq!(report.usage.bytes_out, 0);
}

/// Bytes are counted in both directions.
#[tokio::test]
async fn bytes_are_reported() {
    let report = run_with(
        &io(),
        "import { io } from '@test/io'; await io.echo('x'.repeat(100)); await io.grow(1000); 0",
        Limits::default(),
    )
    .await;
    report.outcome.unwrap();
    assert!((100..300).contains(&report.usage.bytes_out), "{:?}", report.usage);
    assert!((1_100..1_300).contains(&report.usage.bytes_in), "{:?}", report.usage);
}

/// The same script takes the same fuel every time; another takes another.
#[tokio::test]
async fn fuel_is_deterministic() {
    let space = io();
    let mut seen = Vec::new();
    for source in [
        "1",
        "let n = 0; for (let i = 0; i < 100000; i++) n += i % 7; n",
        "const m = new Map(); for (let i = 0; i < 2000; i++) m.set('k' + i, { i }); [...m.values()].sort((a, b) => b.i - a.i).length",
        "console.log('hello', { a: [1, 2] }); JSON.stringify(JSON.parse('{\"a\":[1,2,{\"b\":null}]}'))",
        "let s = ''; for (let i = 0; i < 500; i++) s += String.fromCharCode(97 + i % 26); s.replace(/[aeiou]+/g, '-').length",
        "import { io } from '@test/io'; await io.echo('a'); await io.echo('b')",
        "import { io } from '@test/io'; await Promise.all([io.echo('a'), io.grow(100)]); 1",
        "try { null.x } catch (e) { e.stack.length }",
        "let a = []; for (let i = 0; i < 3000; i++) { const o = { a }; o.o = o; } 'collected'",
    ] {
        let mut fuels = Vec::new();
        for _ in 0..5 {
            let report = run_with(&space, source, Limits::default()).await;
            report.outcome.unwrap_or_else(|error| panic!("{source}: {error:?}"));
            fuels.push(report.usage.fuel);
        }
        assert!(fuels.iter().all(|fuel| *fuel == fuels[0]), "{source}: {fuels:?}");
        assert!(!seen.contains(&fuels[0]), "{source}: another script took as much");
        seen.push(fuels[0]);
    }
}

/// Fuel does not tick while the run waits.
#[tokio::test]
async fn waiting_takes_no_fuel() {
    let space = io();
    let mut fuels = Vec::new();
    for milliseconds in [100, 400] {
        let source = format!("import {{ io }} from '@test/io'; await io.sleep({milliseconds}); 1");
        let report = run_with(&space, &source, Limits::default()).await;
        assert!(report.usage.wall_ms >= f64::from(milliseconds));
        fuels.push(report.usage.fuel);
    }
    let difference = fuels[0].abs_diff(fuels[1]);
    assert!(difference * 100 < fuels[0], "{fuels:?}");
}
