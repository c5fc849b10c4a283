//! Cache of compiled scripts: a script that is run often is compiled once, without changing its behaviour.

use agent_spaces::{Handlers, Limits, ModuleSource, Program, RunOptions, RunReport, Space, SpaceBuilder};
use agent_spaces_tests::builder_with;
use serde_json::{Value, json};
use std::time::Duration;

const WIT: &str = "package test:io@1.0.0; interface io {
    use agent-spaces:host/types@0.1.0.{capability-error};
    record params { text: string, numbers: list<f64> }
    echo: async func(params: params) -> result<params, capability-error>;
    fail: async func(params: params) -> result<params, capability-error>;
}";

fn io() -> Space {
    io_builder().build().unwrap()
}

fn io_builder() -> SpaceBuilder {
    let mut handlers = Handlers::new();
    handlers.add("test:io/io@1.0.0", "echo", |call| async move { Ok(call.params) });
    handlers.add("test:io/io@1.0.0", "fail", |_| async {
        Err(agent_spaces::CapabilityError::failed("it is closed".to_owned()))
    });
    builder_with(WIT, handlers)
}

async fn run(program: &Program, limits: Limits) -> RunReport {
    program.run(RunOptions { limits: Some(limits), ..RunOptions::default() }).await
}

/// Runs a program until its script is kept compiled.
async fn run_often(program: &Program) {
    for _ in 0..1_000 {
        run(program, Limits::default()).await;
        if program.is_kept_compiled() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{} is never kept", program.name());
}

/// Result of a run, without its time and id.
fn observable(report: &RunReport) -> Value {
    let console: Vec<_> = report.console.iter().map(|line| &line.text).collect();
    let usage = &report.usage;
    json!([
        format!("{:?}", report.outcome),
        format!("{console:?}"),
        usage.fuel,
        usage.memory_bytes,
        usage.calls,
        usage.bytes_in,
        usage.bytes_out,
    ])
}

const SCRIPTS: [&str; 14] = [
    "1 + 1",
    "'a string'",
    "export default function main() { console.log(main.toString()); return [main.name, import.meta.url] }",
    "export default async () => { await 0; return new Date(0).toISOString() }",
    "throw new TypeError('no', { cause: 'itself' })",
    "null.nothing",
    "const deep = (n) => n ? deep(n - 1) : new Error('deep').stack; deep(5)",
    "import { io } from '@test/io'; await io.echo({ text: 'äöü', numbers: [1, 2.5, -0] })",
    "import { io } from '@test/io'; await Promise.all([1, 2, 3].map((n) => io.echo({ text: String(n), numbers: [n] })))",
    "import { io } from '@test/io'; try { await io.fail({ text: '', numbers: [] }) } catch (e) { [e.code, e.message, e.stack] }",
    "class A { #x = 1; static y = new A(); get x() { return this.#x } } [A.y.x, /(?<year>\\d+)/.exec('in 1999').groups.year]",
    "let n = 0; for (let i = 0; i < 10_000; i++) n += i; [n, 10n ** 20n + '', `${n}`, new Map([[1, { a: [1] }]]).size]",
    "function* g() { yield* [1, 2] } console.log([...g()], globalThis.left ??= 'behind'); [...g()]",
    "const big = Array.from({ length: 5_000 }, (_, i) => ({ i, text: 'x'.repeat(i % 50) })); JSON.stringify(big).length",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cached_runs_equal_the_first() {
    let space = io();
    for source in SCRIPTS {
        let program = space.prepare("agent.ts", source).unwrap();
        let first = observable(&run(&program, Limits::default()).await);
        run_often(&program).await;
        for _ in 0..3 {
            assert_eq!(observable(&run(&program, Limits::default()).await), first, "{source}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_apply_at_the_same_point() {
    let space = io();
    let source =
        "const all = []; for (let i = 0; i < 20; i++) all.push('x'.repeat(1e5)); console.log('there'); all.length";
    let (kept, fresh) = (space.prepare("agent.ts", source).unwrap(), || io().prepare("agent.ts", source).unwrap());
    run_often(&kept).await;
    let whole = run(&kept, Limits::default()).await.usage;
    let fuel = [1, whole.fuel / 3, whole.fuel - 1, whole.fuel, whole.fuel + 1];
    let memory = [1, whole.memory_bytes / 2, whole.memory_bytes - 1, whole.memory_bytes];
    let limits = fuel.map(|fuel| Limits { fuel, ..Limits::default() }).into_iter();
    let limits = limits.chain(memory.map(|memory| Limits { memory, ..Limits::default() }));
    for limits in limits.chain([Limits { result: 1, ..Limits::default() }]) {
        let expected = observable(&run(&fresh(), limits.clone()).await);
        assert_eq!(observable(&run(&kept, limits.clone()).await), expected, "{limits:?}");
    }
}

/// Changes that a run makes to its realm end with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_state_leaks_between_runs() {
    let space = io();
    let source = "const before = globalThis.runs ?? 0; globalThis.runs = before + 1; Array.prototype.push = null;
        export default [before, typeof [].push, Math.random(), crypto.randomUUID()]";
    let program = space.prepare("agent.ts", source).unwrap();
    run_often(&program).await;
    let mut drawn = std::collections::HashSet::new();
    for _ in 0..5 {
        let value = run(&program, Limits::default()).await.outcome.unwrap();
        assert_eq!([&value[0], &value[1]], [&json!(0), &json!("object")]);
        assert!(drawn.insert((value[2].to_string(), value[3].to_string())), "{value} was drawn before");
    }
}

/// A module in place of another is not the program that was compiled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_module_is_another_program() {
    let space = io_builder().module("given", ModuleSource::Json("1".into())).build().unwrap();
    let program = space.prepare("agent.ts", "import given from 'given'; export default given").unwrap();
    run_often(&program).await;
    let other = program.with_module("given", ModuleSource::Json("2".into()));
    assert!(!other.is_kept_compiled());
    for _ in 0..20 {
        assert_eq!(run(&other, Limits::default()).await.outcome, Ok(json!(2)));
        assert_eq!(run(&program, Limits::default()).await.outcome, Ok(json!(1)));
    }
}

/// A script that needs more memory to be compiled than an engine begins with, and one of several files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn larger_programs_are_cached_too() {
    let small = run(&io().prepare("agent.ts", "1").unwrap(), Limits::default()).await.usage.memory_bytes;
    let source: String = (0..1_000).map(|i| format!("const v{i} = [{i}, 'text {i}', () => v{i}];\n")).collect();
    let lines = ModuleSource::JavaScript(format!("{source} export {{ v999 }}"));
    let space = io_builder().module("lines", lines).build().unwrap();
    let entry = "import { v999 } from 'lines'; import { io } from '@test/io';
        [v999[2]()[1], await io.echo({ text: String(v999[2]), numbers: [] })]";
    for program in [space.prepare("agent.ts", entry).unwrap(), space.prepare("agent.ts", &source).unwrap()] {
        let first = run(&program, Limits::default()).await;
        assert!(first.usage.memory_bytes > small, "{:?}", first.usage);
        run_often(&program).await;
        for _ in 0..3 {
            assert_eq!(observable(&run(&program, Limits::default()).await), observable(&first));
        }
    }
}

/// A run whose caps are too small for compiling says nothing of the next.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_compilations_are_retried() {
    let program = io().prepare("agent.ts", "1 + 1").unwrap();
    for _ in 0..8 {
        run(&program, Limits { fuel: 1_000, ..Limits::default() }).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!program.is_kept_compiled());
    run_often(&program).await;
}

/// A script whose code is too much to be kept is compiled every time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uncacheable_scripts_run_normally() {
    let source: String = (0..20_000).map(|i| format!("const v{i} = [{i}, 'text {i}', () => v{i}];\n")).collect();
    let program = io().prepare("agent.ts", &format!("{source} v9999[2]()[1]")).unwrap();
    let first = observable(&run(&program, Limits::default()).await);
    for _ in 0..9 {
        assert_eq!(observable(&run(&program, Limits::default()).await), first);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!program.is_kept_compiled());
    assert_eq!(observable(&run(&program, Limits::default()).await), first);
}
