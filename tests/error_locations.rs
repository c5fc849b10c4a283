//! Error locations: file, line and column in the author's source.

use agent_spaces::{RunError, RunOptions, Space, Workspace};
use agent_spaces_tests::{builder, empty_space, error};
use std::fs;

fn place(error: &RunError) -> (String, u32, u32) {
    let location = error.location.as_ref().unwrap_or_else(|| panic!("no place: {error:?}"));
    (location.file.clone(), location.line, location.column)
}

async fn at(source: &str, line: u32, column: u32) {
    let ended = error(&empty_space(), source).await;
    assert_eq!(place(&ended), ("script.ts".into(), line, column), "{source}\n{ended:?}");
}

/// Everything that TypeScript adds is still counted.
#[tokio::test]
async fn a_throw_is_located_in_the_source() {
    at("throw new Error('a')", 1, 7).await;
    at("const a = 1;\n\n   throw new Error('a')", 3, 10).await;
    at("type T = string;\ninterface I { a: T }\nfunction f<T>(x: T): never { throw new TypeError('x') }\nf<string>('x')", 3, 36).await;
    at("/* 🚂 */ throw new Error('after an astral character')", 1, 15).await;
    at("enum A { B, C }\nnamespace N { export const x = 1 }\nthrow new Error('a')", 3, 7).await;
    at("const f = async (): Promise<void> => {\n  await 0;\n  throw new Error('later')\n};\nawait f()", 3, 9).await;
    at("if (true) return (() => { throw new Error('in a return') })()", 1, 33).await;
    at("class A { constructor(private x: number, public y = 1) { throw new Error('constructed') } }\nnew A(1)", 1, 64)
        .await;
    at("\u{feff}throw new Error('after a mark')", 1, 7).await;
    at("const a = 1;\r\nthrow new Error('crlf')", 2, 7).await;
}

/// The line is that of the failing statement, whatever precedes it.
#[tokio::test]
async fn an_error_is_located_at_the_line_of_the_failing_statement() {
    let mut failures = Vec::new();
    for (source, line) in [
        ("const x: { a: string } | null = null as any;\nx!.a", 2),
        ("const x: any = undefined;\nconst y = x.a.b;\ny", 2),
        ("function f(x: any) {\n  const y = String(1);\n  return x.a.b;\n}\nf({})", 3),
        ("function f(x: any) {\n  String(1);\n  const { a } = x;\n  return a\n}\nf(null)", 3),
        ("async function f(x: any) {\n  await 0;\n  return x.a;\n}\nawait f(undefined)", 3),
        (
            "async function f(x: any) {\n  await new Promise(r => setTimeout(r, 1));\n  return x.a;\n}\nawait f(undefined)",
            3,
        ),
        ("import type { A } from 'a'; export default (x?: A) => {\n  String(1);\n  return (x as any).y }", 3),
        ("const list = [1];\nString(1);\nfor (const x of 5 as any) list.push(x)", 3),
        ("String(1);\nlet z = 1;\nz = missing + 1", 3),
        ("String(1);\nconst c = 1;\n(c as any) = 2", 3),
        ("String(1);\nconst o: any = {};\no.f()", 3),
        ("String(1);\nconst o: any = {};\nnew o.F()", 3),
        ("String(1);\nconst t = 'x';\nt.repeat(-1)", 3),
        ("String(1);\nthrow Object.assign(\n  new Error('a'),\n  { b: 1 })", 3),
        ("String(1);\nif (1 > 0) {\n  null!.x\n}", 3),
        ("String(1);\nJSON.parse(\n  '{')", 2),
    ] {
        let ended = error(&empty_space(), source).await;
        let found = ended.location.as_ref().map(|location| (location.line, location.column));
        if found.map(|(found, _)| found) != Some(line) {
            failures.push(format!("{source:?}: expected line {line}, got {found:?}: {}", ended.message));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// An error is where it is made, not where its last argument is.
#[tokio::test]
async fn an_error_with_arguments_is_located_at_its_construction() {
    at("const text = 'x';\nthrow new Error(\n  'a' +\n  text\n)", 2, 7).await;
}

/// The stack holds the script's own frames, in order, and nothing of the engine.
#[tokio::test]
async fn a_stack_has_only_the_scripts_frames() {
    let source = "function inner(): never { throw new RangeError('deep') }\nconst outer = (): void => { [1].map(() => inner()) };\nouter();";
    let ended = error(&empty_space(), source).await;
    assert_eq!((ended.name.as_deref(), ended.message.as_str()), (Some("RangeError"), "deep"));
    let stack = ended.stack.expect("a stack");
    let frames: Vec<&str> = stack.lines().collect();
    assert!(frames[0].contains("inner") && frames[0].contains("script.ts:1:33"), "{stack}");
    assert!(stack.contains("outer (script.ts:2:"), "{stack}");
    for internal in ["native", "agent-spaces:", "<anonymous>:", "evalmachine", ".wasm", "/work", ".rs"] {
        assert!(!stack.contains(internal), "{internal} in {stack}");
    }
}

/// The frames of async functions that wait are there too, or at least the place of the throw.
#[tokio::test]
async fn an_error_after_an_await_is_located() {
    let source = "async function first(): Promise<number> {\n  await new Promise(r => setTimeout(r, 1));\n  const none: any = undefined;\n  return none.length;\n}\nexport default async () => {\n  return await first();\n}";
    let ended = error(&empty_space(), source).await;
    assert_eq!(place(&ended).1, 4, "{ended:?}");
    assert_eq!(ended.name.as_deref(), Some("TypeError"));
}

async fn fails(space: &Space, source: &str) -> RunError {
    let program = space.prepare("main.ts", source).unwrap_or_else(|error| panic!("{error}"));
    program.run(RunOptions::default()).await.outcome.expect_err(source)
}

#[tokio::test]
async fn an_error_in_an_imported_file_is_located_there() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("lib")).unwrap();
    fs::write(folder.path().join("lib/a.ts"), "export type T = string;\nexport function fail(x: T): never {\n    const y: number = 1; throw new Error('y') }\n").unwrap();
    fs::write(folder.path().join("b.js"), "export const b = 1;\nnull.x;\n").unwrap();
    let space = builder().workspace(Workspace::open(folder.path()).unwrap()).build().unwrap();
    let ended = fails(&space, "import { fail } from './lib/a';\n  fail('x')").await;
    assert_eq!(place(&ended), ("lib/a.ts".into(), 3, 32), "{ended:?}");
    assert!(ended.stack.as_deref().is_some_and(|stack| stack.contains("main.ts:2:")), "{ended:?}");
    let ended = fails(&space, "import './b.js'").await;
    assert_eq!(place(&ended), ("b.js".into(), 2, 6), "{ended:?}");
    let program = space.prepare("main.ts", "import { fail } from './lib/a';\nfail('x')").unwrap();
    let ended = program.run(RunOptions::default()).await.outcome.unwrap_err();
    let frame = program.code_frame(&ended.location.unwrap()).expect("a frame of the imported file");
    assert!(frame.contains("throw new Error('y')"), "{frame}");
}

/// Returns the error of a script with a file that imports it.
async fn fails_in_a_cycle(main: &str) -> RunError {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("main.ts"), main).unwrap();
    let importing = "import * as main from './main.ts';\nexport const b = () => typeof main.a;\n";
    fs::write(folder.path().join("b.ts"), importing).unwrap();
    let space = builder().workspace(Workspace::open(folder.path()).unwrap()).build().unwrap();
    fails(&space, main).await
}

/// A file that imports the script itself does not confuse the two.
#[tokio::test]
async fn an_import_cycle_through_the_script_keeps_locations() {
    let main = "import { b } from './b.ts';\nexport const a = 1; const value: number = b();\nthrow new Error('here')";
    let ended = fails_in_a_cycle(main).await;
    assert_eq!(place(&ended), ("main.ts".into(), 3, 7), "{ended:?}");
}

/// The last expression is moved into an export; a cycle must not see that as another place.
#[tokio::test]
async fn an_import_cycle_through_a_script_with_a_last_expression_keeps_locations() {
    let ended = fails_in_a_cycle("import { b } from './b.ts';\nexport const a = 1;\nb(), (null as any).x").await;
    assert!(matches!(place(&ended), (_, 3, 1..=20)), "{ended:?}");
}

/// Code made at run time has no file; the place is the script's own.
#[tokio::test]
async fn an_error_in_eval_is_located_at_the_eval_call() {
    let ended = error(&empty_space(), "const x = 1;\neval('null.x')").await;
    assert_eq!(place(&ended), ("script.ts".into(), 2, 1), "{ended:?}");
}
