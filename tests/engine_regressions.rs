//! Engine regressions: bugs that QuickJS-ng had in some release, or could have, such as use after free and reentrancy.
//! `engine_regressions/` has one script per case and its expected value; a case that touches freed memory ends with
//! another value, an error, or a crash of the run.

use agent_spaces::{Limits, RunOptions, Space, Workspace};
use agent_spaces_tests::{builder, empty_space};
use serde_json::{Value, json};
use std::fmt::Write as _;

const PRELUDE: &str = include_str!("engine_regressions/prelude.js");

const FILES: [(&str, &str); 8] = [
    ("arrays", include_str!("engine_regressions/arrays.js")),
    ("iteration", include_str!("engine_regressions/iteration.js")),
    ("lifetimes", include_str!("engine_regressions/lifetimes.js")),
    ("numbers", include_str!("engine_regressions/numbers.js")),
    ("objects", include_str!("engine_regressions/objects.js")),
    ("regexps", include_str!("engine_regressions/regexps.js")),
    ("strings", include_str!("engine_regressions/strings.js")),
    ("typed_arrays", include_str!("engine_regressions/typed_arrays.js")),
];

/// Fewer would mean that cases were not read.
const MIN_CASES: usize = 140;

/// One script, under its name, with what its value must be.
struct Case<'a> {
    name: &'a str,
    expected: Value,
    source: &'a str,
}

/// The cases of a file: `// case: NAME`, `// is: JSON`, and the script.
fn cases(text: &str) -> impl Iterator<Item = Case<'_>> {
    text.split("// case: ").skip(1).map(|case| {
        let (name, rest) = case.split_once('\n').expect("a case has a name");
        let (expected, source) = rest.split_once('\n').expect("a case has a value");
        let expected = expected.strip_prefix("// is: ").unwrap_or_else(|| panic!("{name} does not say what it is"));
        Case {
            name,
            expected: serde_json::from_str(expected).unwrap_or_else(|error| panic!("{name}: {error}")),
            source,
        }
    })
}

/// Returns a mismatch of a script's result, if any.
async fn difference(space: &Space, source: &str, expected: &Value) -> Option<String> {
    let limits = Limits { fuel: 20_000_000_000, ..Limits::default() };
    let program = match space.prepare("case.js", source) {
        Ok(program) => program,
        Err(error) => return Some(format!("refused: {error}")),
    };
    match program.run(RunOptions { limits: Some(limits), ..RunOptions::default() }).await.outcome {
        Ok(value) if value == *expected => None,
        Ok(value) => Some(format!("expected {expected}, got {value}")),
        Err(error) => Some(format!("expected {expected}, got {}: {}", error.code, error.message)),
    }
}

#[tokio::test]
async fn every_case_has_its_expected_value() {
    let space = empty_space();
    let (mut count, mut wrong) = (0, String::new());
    for (file, text) in FILES {
        for Case { name, expected, source } in cases(text) {
            count += 1;
            if let Some(difference) = difference(&space, &format!("{PRELUDE}{source}"), &expected).await {
                let _ = writeln!(wrong, "{file}: {name}: {difference}");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= MIN_CASES, "only {count} cases were read");
}

/// Modules that import each other, and what they export through each other.
#[tokio::test]
async fn cyclic_modules_have_their_expected_values() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("first.js", "import { g } from './second.js'; export function f(x) { return g(x) * 2 } export { g };"),
        ("second.js", "import { f } from './first.js'; export { f }; export function g(x) { return x + 1 }"),
        ("through.js", "export * from './first.js'; export * as again from './second.js';"),
        ("parts.js", "export const { a, b: [c] } = { a: 1, b: [2] }; export const [d, ...e] = [3, 4, 5];"),
        (
            "self.js",
            "import * as self from './self.js'; export const names = () => Object.keys(self); export let late = 1;",
        ),
        ("empty.js", ""),
        ("bad.js", "export { missing } from './empty.js';"),
        ("loop.js", "export { x } from './loop.js';"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let space = builder().workspace(Workspace::open(folder.path()).unwrap()).build().unwrap();
    for (source, expected) in [
        ("import { f, g } from './first.js'; [f(1), g(1)]", json!([4, 2])),
        ("import { f } from './second.js'; f(1)", json!(4)),
        ("import { f, again } from './through.js'; [f(2), again.g(2), again.f === f]", json!([6, 3, true])),
        ("import * as parts from './parts.js'; parts", json!({"a": 1, "c": 2, "d": 3, "e": [4, 5]})),
        ("import { names } from './self.js'; names()", json!(["late", "names"])),
        ("import * as empty from './empty.js'; [Object.keys(empty), Reflect.set(empty, 'x', 1)]", json!([[], false])),
    ] {
        assert_eq!(difference(&space, source, &expected).await, None, "{source}");
    }
    for source in ["import { missing } from './bad.js'; missing", "import { x } from './loop.js'; x"] {
        let ended = difference(&space, source, &Value::Null).await.expect("it cannot be linked");
        assert!(ended.contains("yntax") || ended.contains("export"), "{source}: {ended}");
    }
}
