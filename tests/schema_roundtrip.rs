//! Schema round trip, over real tool lists and our own schemas: for every value that a function's schema allows, the
//! provider receives what the script passes, and the script sees what the provider returns; other values are refused
//! with the path of the fault before they reach the provider.
//!
//! Every module is compiled, linked whole and called from scripts; nothing is short-circuited. `schema_roundtrip/` holds the parts:
//! values made from schemas, values with one fault, the exchange with a provider, and schemas of every construct.
//!
//! Environment: `AGENT_SPACES_CORPUS` is a folder with `servers/*.json`, answers to `tools/list`;
//! `AGENT_SPACES_LAW_SERVER` takes only those whose file name has the text in it; `AGENT_SPACES_LAW_SEED` and `AGENT_SPACES_LAW_VALUES` (values to a function) make other or more values.

mod check;
mod exchange;
mod faults;
mod random;
mod scalars;
mod schemas;
mod statistics;
mod values;

use capability_gen::compile::{ModuleSource, compile};
use capability_gen::model::Module;
use capability_gen::sources::{Format, Source, parse};
use check::{check_module, same};
use exchange::{Exchange, Outcome};
use serde_json::{Value, json};
use statistics::Statistics;
use std::path::PathBuf;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The module of one tool list, where it has tools.
fn module(name: &str, text: &str) -> Result<Option<Module>, String> {
    let source = Source { file: name, text, name: Some(name), format: Some(Format::Mcp) };
    let definitions = parse(&source).map_err(|error| error.to_string())?;
    if definitions.is_empty() {
        return Ok(None);
    }
    let source = ModuleSource { specifier: None, stem: None, definitions };
    compile(source).map(Some).map_err(|error| error.to_string())
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Runtime::new().unwrap()
}

/// Every construct of JSON Schema that becomes a type of its own, in both directions.
#[test]
fn every_schema_construct_round_trips() {
    let count = setting("AGENT_SPACES_LAW_VALUES", 50);
    let mut statistics = Statistics::default();
    for (name, tools) in schemas::servers() {
        match module(name, &json!({ "tools": tools }).to_string()) {
            Ok(Some(module)) => runtime().block_on(check_module(name, module, count, &mut statistics)),
            Ok(None) => statistics.fail(name, "has no tools"),
            Err(error) => statistics.fail(name, &error),
        }
    }
    statistics.close("round trip of our own schemas");
    assert!(statistics.get("values passed to a provider") > 1000 || count < 50, "too few values were made");
}

/// The tool lists of real servers.
#[test]
fn every_server_of_the_corpus_round_trips() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let corpus =
        std::env::var_os("AGENT_SPACES_CORPUS").map_or_else(|| here.join("../../shared/corpus"), PathBuf::from);
    let Ok(entries) = std::fs::read_dir(corpus.join("servers")) else {
        println!("skipped: no corpus of tool lists at {}", corpus.display());
        return;
    };
    let count = setting("AGENT_SPACES_LAW_VALUES", 3);
    let only = std::env::var("AGENT_SPACES_LAW_SERVER").ok();
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut statistics = Statistics::default();
    let runtime = runtime();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "json")) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let text = std::fs::read_to_string(file).unwrap();
        match module(&name, &text) {
            Ok(Some(module)) => runtime.block_on(check_module(&name, module, count, &mut statistics)),
            Ok(None) => statistics.count("skipped: servers without tools", 1),
            Err(error) => statistics.fail(&name, &error),
        }
    }
    statistics.close("round trip of the corpus");
    assert!(statistics.get("values passed to a provider") > 0, "no tools in {}", corpus.display());
}

/// A function with a member of each kind, for the explicit cases.
fn kinds() -> Exchange {
    let schema = json!({
        "type": "object",
        "properties": {
            "i": { "type": "integer" },
            "n": { "type": "number" },
            "s": { "type": "string" },
            "e": { "enum": ["a", "\u{fffd}"] },
            "any": {},
            "list": { "type": "array", "items": { "type": "integer" } },
            "texts": { "type": "array", "items": { "type": ["string", "null"] } },
            "union": { "type": ["string", "integer", "boolean"] },
            "map": { "type": "object", "additionalProperties": { "type": "number" } },
            "open": { "type": "object", "properties": { "a": { "type": "string" } }, "additionalProperties": true },
        },
    });
    let tools = json!({ "tools": [{ "name": "take", "inputSchema": schema, "outputSchema": schema }] });
    let module = module("kinds", &tools.to_string()).unwrap().unwrap();
    Exchange::new(module).unwrap()
}

/// Values that JSON Schema may allow and that cannot be passed unchanged.
#[tokio::test]
async fn unrepresentable_arguments_are_refused_with_their_path() {
    let cases = [
        ("{ i: 2 ** 53 }", "i"),
        ("{ i: -(2 ** 53) }", "i"),
        ("{ i: 1e300 }", "i"),
        ("{ i: 2n ** 63n }", "i"),
        ("{ i: NaN }", "i"),
        ("{ n: NaN }", "n"),
        ("{ n: -Infinity }", "n"),
        ("{ n: 1n }", "n"),
        ("{ s: 'a\\ud800' }", "s"),
        ("{ s: new String('a') }", "s"),
        ("{ e: '\\ud800' }", "e"),
        ("{ any: '\\udfff' }", "any"),
        ("{ any: { a: [0, NaN] } }", "any.a[1]"),
        ("{ any: { a: [0, '\\ud800'] } }", "any.a[1]"),
        ("{ any: { '\\ud800': 1 } }", "any"),
        ("{ any: 1n }", "any"),
        ("{ any: [undefined] }", "any[0]"),
        ("{ any: () => 1 }", "any"),
        ("{ any: new Map() }", "any"),
        ("{ any: { a: Symbol() } }", "any.a"),
        ("{ any: (() => { const loop = { a: {} }; loop.a.b = loop; return loop })() }", "any.a.b"),
        ("{ list: [1, , 3] }", "list[1]"),
        ("{ list: [1, 2 ** 60] }", "list[1]"),
        ("{ texts: [null, '\\ud800'] }", "texts[1]"),
        ("{ union: '\\ud800' }", "union"),
        ("{ union: 2 ** 53 }", "union"),
        ("{ union: NaN }", "union"),
        ("{ map: { a: NaN } }", "map.a"),
        ("{ map: { 'a b': Infinity } }", "map[\"a b\"]"),
        ("{ open: { b: NaN } }", "open.b"),
        ("{ open: { a: '\\ud800' } }", "open.a"),
        ("{ open: { b: ['\\ud800'] } }", "open.b[0]"),
        ("{ open: { '\\ud800': 1 } }", "open"),
    ];
    let exchange = kinds();
    let mut failures = Vec::new();
    for (value, path) in cases {
        match exchange.run(&format!("[['take', {value}]]")).await.as_deref() {
            Ok([Outcome::Refused { code, paths, .. }]) if code == "call.invalid" && *paths == [path] => {}
            other => failures.push(format!("{value}: expected call.invalid at {path}, got {other:?}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The same for answers: the error names the part that could not be converted.
#[tokio::test]
async fn unrepresentable_results_fail_with_their_path() {
    let cases = [
        (json!({ "i": 1u64 << 53 }), "i: "),
        (json!({ "i": 1e300 }), "i: "),
        (json!({ "n": (1u64 << 53) + 1 }), "n: "),
        (json!({ "any": { "a": [u64::MAX] } }), "any.a[0]: "),
        (json!({ "list": [0, i64::MIN + 1] }), "list[1]: "),
        (json!({ "union": (1u64 << 53) + 1 }), "union: "),
        (json!({ "open": { "b": { "c": (1u64 << 53) + 1 } } }), "open.b.c: "),
        (json!({ "undeclared": [(1u64 << 53) + 1] }), "undeclared[0]: "),
    ];
    let exchange = kinds();
    let mut failures = Vec::new();
    for (answer, path) in cases {
        exchange.answer_with("take", vec![answer.clone()]);
        match exchange.run("[['take', {}]]").await.as_deref() {
            Ok([Outcome::Failed(_, message)]) if message.contains(path) => {}
            other => failures.push(format!("{answer}: expected call.failed at {path}, got {other:?}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// JavaScript values whose JSON is plain.
#[tokio::test]
async fn values_with_a_json_form_arrive_in_it() {
    let cases = [
        ("{ i: 1, s: undefined, any: { a: undefined } }", json!({ "i": 1, "any": {} })),
        ("{ i: 2 ** 53 - 1, n: 2 ** 53 }", json!({ "i": (1u64 << 53) - 1, "n": 9007199254740992.0 })),
        ("{ i: -0 }", json!({ "i": 0 })),
        ("{ n: -0, any: -0 }", json!({ "n": -0.0, "any": -0.0 })),
        ("{ i: 9007199254740993n }", json!({ "i": 9007199254740993u64 })),
        ("{ any: new Date(0) }", json!({ "any": "1970-01-01T00:00:00.000Z" })),
        ("{ any: null, texts: [null] }", json!({ "any": null, "texts": [null] })),
        ("Object.create(null, { i: { value: 1, enumerable: true } })", json!({ "i": 1 })),
        ("Object.create({ i: 1 })", json!({})),
        ("undefined", json!({})),
    ];
    let exchange = kinds();
    exchange.answer_with("take", vec![json!({})]);
    let mut failures = Vec::new();
    for (value, expected) in cases {
        match exchange.run(&format!("[['take', {value}]]")).await.as_deref() {
            Ok([Outcome::Answered(arrival, _)]) if text(&arrival.params) == text(&expected) => {}
            other => failures.push(format!("{value}: expected {expected}, got {other:?}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(!same(&json!({ "a": 1 }), &json!({ "a": 1, "b": null })), "the comparison sees what is not there");
    assert!(!same(&json!([0.1]), &json!([0.2])) && same(&Value::from(1), &Value::from(1.0)));
}

/// As it is written, so that 1 and 1.0 differ.
fn text(value: &Value) -> String {
    value.to_string()
}
