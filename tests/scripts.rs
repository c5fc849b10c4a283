//! Scripts as people and models write them: their value, imports and error locations.

use agent_spaces::{RunOptions, Space};
use agent_spaces_tests::{empty_space, error, refusal, run, value};
use serde_json::{Value, json};

async fn all(cases: &[(&str, Value)]) {
    let space = empty_space();
    let mut failures = Vec::new();
    for (source, expected) in cases {
        match space.prepare("script.ts", source) {
            Ok(program) => match program.run(RunOptions::default()).await.outcome {
                Ok(value) if value == *expected => {}
                other => failures.push(format!("{source}: expected {expected}, got {other:?}")),
            },
            Err(error) => failures.push(format!("{source}: {error}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn the_value_is_the_default_export_a_return_or_the_last_expression() {
    all(&[
        ("export default 1 + 1", json!(2)),
        ("export default function () { return 'called' }", json!("called")),
        ("export default async () => { await 0; return 'awaited' }", json!("awaited")),
        ("export default Promise.resolve('promised')", json!("promised")),
        ("const f = () => 'named'; export { f as default }", json!("named")),
        ("export default async () => Promise.resolve([Promise.resolve(1)].length)", json!(1)),
        ("if (1 > 0) return 'early'; return 'late'", json!("early")),
        ("const x: number = await Promise.resolve(20); return { x }", json!({"x": 20})),
        ("for (const i of [1, 2, 3]) { if (i === 2) return i }", json!(2)),
        ("const x = 1;\nx + 1", json!(2)),
        ("1, 2, 3", json!(3)),
        ("await Promise.resolve('last')", json!("last")),
        ("40 + 2;\nfunction after() {}\nconst also = 1", json!(42)),
        ("const x = 1", json!(null)),
        ("", json!(null)),
        ("// nothing", json!(null)),
        ("return", json!(null)),
        ("undefined", json!(null)),
        ("null", json!(null)),
        ("({ then(resolve) { resolve('thenable') } })", json!("thenable")),
        ("export default () => ({ then(resolve) { setTimeout(resolve, 1, 'late') } })", json!("late")),
        ("({ a: undefined, b: [undefined, NaN], d: new Date(0), n: -0, e: new Error('told') })", json!({"b": [null, null], "d": "1970-01-01T00:00:00.000Z", "n": 0, "e": {"name": "Error", "message": "told"}})),
        ("[1e21, 0.1, 1e-7]", json!([1e21, 0.1, 1e-7])),
        ("JSON.parse('{\"__proto__\": 1, \"constructor\": 2}')", serde_json::from_str("{\"__proto__\":1,\"constructor\":2}").unwrap()),
        ("({ toJSON() { return 'itself' } })", json!("itself")),
        ("[new Uint8Array([1, 2, 3])]", json!([{ "type": "Uint8Array", "base64": "AQID" }])),
        ("new Uint8Array(new Uint8Array([9, 1, 2, 9]).buffer, 1, 2)", json!({ "type": "Uint8Array", "base64": "AQI=" })),
        ("new Uint8Array([255]).buffer", json!({ "type": "ArrayBuffer", "base64": "/w==" })),
        ("new DataView(new Uint8Array([9, 1, 9]).buffer, 1, 1)", json!({ "type": "DataView", "base64": "AQ==" })),
        ("new Uint8ClampedArray([300])", json!({ "type": "Uint8ClampedArray", "base64": "/w==" })),
        ("[new Uint8Array(), new Int16Array([-1, 2]), new Float64Array([0.5])]", json!([{ "type": "Uint8Array", "base64": "" }, [-1, 2], [0.5]])),
    ])
    .await;
}

/// Null is a value, and `undefined` is none.
#[tokio::test]
async fn null_is_distinguished_from_no_value() {
    for (source, has_value) in [
        ("export default null", true),
        ("null", true),
        ("export default () => null", true),
        ("export default undefined", false),
        ("export default () => { }", false),
        ("const a = 1", false),
        ("await Promise.resolve()", false),
        ("[undefined]", true),
    ] {
        let report = run(&empty_space(), source).await;
        assert_eq!((report.has_value, report.outcome.is_ok()), (has_value, true), "{source}");
    }
    assert!(!run(&empty_space(), "throw 1").await.has_value);
}

/// A value that JSON cannot carry is an error that says where.
#[tokio::test]
async fn a_value_that_json_cannot_carry_is_an_error_with_its_path() {
    let space = empty_space();
    for (source, part) in [
        ("const a = { b: [] }; a.b.push(a); a", "b[0]"),
        ("({ n: [1, 2n] })", "n[1]"),
        ("({ a: { f() {} } })", "a.f"),
        ("() => 1", "function"),
        ("[Symbol('s')]", "[0]"),
        ("({ m: new Map() })", "Object.fromEntries"),
        ("[new Set()]", "[...set]"),
        ("({ p: Promise.resolve(1) })", "await"),
        ("['\\ud800']", "surrogate"),
        ("let d = 1; for (let i = 0; i < 200; i++) d = [d]; d", "100 levels"),
    ] {
        let ended = error(&space, source).await;
        assert_eq!(ended.code, "script.result", "{source}: {ended:?}");
        assert!(ended.message.contains(part), "{source}: {}", ended.message);
        assert!(ended.hint.is_some());
    }
}

/// Every double is returned unchanged.
#[tokio::test]
async fn every_double_is_returned_exactly() {
    let doubles: Vec<f64> = (1..2_000u64)
        .map(|i| f64::from_bits(i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 2))
        .filter(|d| d.is_finite())
        .collect();
    let source = format!(
        "const bits = [{}].map(b => {{ const v = new DataView(new ArrayBuffer(8)); v.setBigUint64(0, b); return v.getFloat64(0) }}); bits",
        doubles.iter().map(|double| format!("{}n", double.to_bits())).collect::<Vec<_>>().join(",")
    );
    let seen = value(&empty_space(), &source).await;
    let changed: Vec<_> =
        seen.as_array().unwrap().iter().zip(&doubles).filter(|(seen, sent)| seen.as_f64() != Some(**sent)).collect();
    assert!(
        changed.is_empty(),
        "{} of {} changed: {:?}",
        changed.len(),
        doubles.len(),
        &changed[..3.min(changed.len())]
    );
}

/// A script that is one string, or ends in one after others, has it for its value, as `eval` says.
#[tokio::test]
async fn a_lone_string_is_a_value() {
    all(&[
        ("'hello'", json!("hello")),
        ("\"a\";\n'b';\nfunction after() {}", json!("b")),
        ("'use strict'; 5", json!(5)),
    ])
    .await;
}

/// A proxy of an array is an array, as `JSON.stringify` has it.
#[tokio::test]
async fn a_proxy_of_an_array_is_an_array() {
    all(&[("new Proxy([1, 2], {})", json!([1, 2])), ("({ a: new Proxy({ b: 1 }, {}) })", json!({"a": {"b": 1}}))])
        .await;
}

#[tokio::test]
async fn typescript_runs() {
    all(&[
        ("enum Color { Red, Green = 'g', Blue = 5, Next } [Color.Red, Color.Green, Color.Next, Color[5]]", json!([0, "g", 6, "Blue"])),
        ("const enum Size { S = 1 << 2 } Size.S", json!(4)),
        ("namespace Deep.Er { export const x = 1; export function f(): number { return x + 1 } } Deep.Er.f()", json!(2)),
        ("interface A { a: number } type B = A & { b?: string }; const v = { a: 1 } satisfies B as B; v!.a", json!(1)),
        ("function id<T extends string | number>(x: T): T { return x } id<number>(3)", json!(3)),
        ("abstract class A { constructor(protected readonly x: number, private y?: string) {} abstract f(): void } class B extends A { declare z: 1; f() {} get v() { return this.x } } new B(7).v", json!(7)),
        ("let x: any = 5; (<number>x) + (x as unknown as number)", json!(10)),
        ("import type { Nothing } from 'nowhere'; const f = (this_: unknown, ...r: Nothing[]): r is [] => true; f(1)", json!(true)),
        ("function over(a: string): string; function over(a: number): number; function over(a: any) { return a } over(1)", json!(1)),
        ("const t: [a: string, b?: number] = ['x']; t satisfies readonly unknown[]; t[0]", json!("x")),
        ("declare const ghost: number; declare module 'm' {} let u!: string; u = 'set'; u", json!("set")),
    ])
    .await;
    let refused = refusal(&empty_space(), "script.ts", "@sealed class A {}");
    assert_eq!(refused.code, "script.syntax");
    assert!(refused.message.to_lowercase().contains("decorator"), "{refused:?}");
    let refused = refusal(&empty_space(), "script.js", "const x: number = 1");
    assert_eq!(refused.code, "script.syntax", "JavaScript is not TypeScript");
}

#[test]
fn a_syntax_error_has_its_location() {
    let refused = refusal(&empty_space(), "script.ts", "const a = 1;\nconst b = ;\n");
    assert_eq!(refused.code, "script.syntax");
    assert_eq!(refused.position.map(|position| (position.line, position.column)), Some((2, 11)));
}

#[test]
fn a_computed_import_is_refused_before_the_run() {
    let space = empty_space();
    for source in ["const m = 'x'; await import(m)", "await import('a' + 'b')", "await import(`${1}`)"] {
        let refused = refusal(&space, "script.ts", source);
        assert_eq!(refused.code, "import.denied", "{source}");
        assert!(refused.position.is_some());
    }
}

fn trains() -> Space {
    let wit = "package capabilities:train-schedule@1.0.0; interface train-schedule { get-schedule: async func() -> result<u32, string>; }";
    let mut handlers = agent_spaces::Handlers::new();
    handlers.add("capabilities:train-schedule/train-schedule@1.0.0", "get-schedule", |_| async { Ok(json!(7)) });
    agent_spaces_tests::space(wit, handlers)
}

#[tokio::test]
async fn an_unknown_module_or_export_is_refused_with_the_nearest_name() {
    let space = trains();
    let refused =
        refusal(&space, "script.ts", "import { trainSchedule } from '@capabilities/train-shedule'; trainSchedule");
    assert_eq!(refused.code, "import.unknown");
    assert!(refused.hint.is_some_and(|hint| hint.contains("'@capabilities/train-schedule'")));
    let refused =
        refusal(&space, "script.ts", "import { trainScedule } from '@capabilities/train-schedule'; trainScedule");
    assert_eq!(refused.code, "import.unknown");
    assert!(refused.hint.as_ref().is_some_and(|hint| hint.starts_with("did you mean 'trainSchedule'?")), "{refused:?}");
    let refused = refusal(&space, "script.ts", "import schedule from '@capabilities/train-schedule'; schedule");
    assert!(refused.message.contains("default"), "{refused:?}");
    let refused = refusal(&space, "script.ts", "import fs from 'node:fs'; fs");
    assert!(refused.hint.is_some_and(|hint| hint.contains("Node")));
    let refused = refusal(&space, "script.ts", "import _ from 'lodash'; _");
    assert!(refused.message.contains("lodash") && refused.hint.is_some());
    let returned =
        "import { trainSchedule as t } from '@capabilities/train-schedule'; if (true) return await t.getSchedule()";
    assert_eq!(value(&space, returned).await, json!(7));
    let whole = "import * as m from '@capabilities/train-schedule'; [Object.keys(m), Object.keys(m.trainSchedule), typeof m.trainSchedule.getSchedule]";
    assert_eq!(value(&space, whole).await, json!([["trainSchedule"], ["getSchedule"], "function"]));
}

/// A function that does not exist is a mistake that can be acted on.
#[tokio::test]
async fn an_unknown_function_is_refused_with_the_nearest_name() {
    let ended = error(
        &trains(),
        "import { trainSchedule } from '@capabilities/train-schedule'; await trainSchedule.getSchedules()",
    )
    .await;
    assert_eq!((ended.code.as_str(), ended.name.as_deref()), ("call.denied", Some("CapabilityError")));
    assert!(ended.message.starts_with("trainSchedule.getSchedules: no such function"), "{ended:?}");
    let hint = ended.hint.as_deref();
    assert_eq!(hint, Some("trainSchedule has no function `getSchedules`; did you mean `getSchedule`?"));
    assert!(ended.location.is_some(), "{ended:?}");
}

/// Exports of an interface cannot be changed for others.
#[tokio::test]
async fn an_imported_capability_cannot_be_reassigned() {
    let space = trains();
    let source = "import { trainSchedule } from '@capabilities/train-schedule'; trainSchedule = 1";
    assert!(space.prepare("script.ts", source).is_err() || run(&space, source).await.outcome.is_err());
}
