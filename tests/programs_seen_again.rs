//! Programs that are seen again: what was prepared of them is kept, and nothing else changes.

use agent_spaces::policy::Policy;
use agent_spaces::{Handlers, Limits, ModuleSource, Program, RunOptions, Space, Workspace, config};
use agent_spaces_tests::{builder, builder_with, empty_space};
use serde_json::{Value, json};
use std::fs;
use std::thread;
use std::time::Duration;

const WIT: &str = "package test:desk@1.0.0; interface desk {
    use agent-spaces:host/types@0.1.0.{capability-error};
    note: async func(text: string) -> result<string, capability-error>;
}";
const NOTES: &str = "import { desk } from '@test/desk'; export default () => desk.note('a')";

fn desk(functions: &Value) -> Space {
    let mut handlers = Handlers::new();
    handlers.add("test:desk/desk@1.0.0", "note", |_| async { Ok(json!("noted")) });
    let rules = json!({ "policy": { "functions": functions } });
    let policy = Policy::new(config::from_value("policy", rules).unwrap().policy);
    builder_with(WIT, handlers).policy(policy).build().unwrap()
}

async fn value(program: &Program) -> Result<Value, String> {
    program.run(RunOptions::default()).await.outcome.map_err(|error| error.code)
}

/// Runs a program with a value of its own in each run, until its script is kept compiled.
async fn run_often(program: impl Fn(u32) -> Program) {
    for number in 0..1_000 {
        let program = program(number);
        assert_eq!(value(&program).await, Ok(json!(number)));
        if program.is_kept_compiled() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it is never kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_text_is_prepared_once_and_becomes_hot() {
    let space = empty_space();
    for number in 0..20 {
        let program = space.prepare("program.ts", "const n: number = 20; n + 1").unwrap();
        assert_eq!((value(&program).await, space.reused_programs()), (Ok(json!(21)), number));
    }
    // Another text, and another name, which errors show.
    space.prepare("program.ts", "const n: number = 20; n + 2").unwrap();
    space.prepare("other.ts", "const n: number = 20; n + 1").unwrap();
    assert_eq!(space.reused_programs(), 19);
    for _ in 0..1_000 {
        let program = space.prepare("program.ts", "const n: number = 20; n + 1").unwrap();
        if program.is_kept_compiled() {
            return;
        }
        assert_eq!(value(&program).await, Ok(json!(21)));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it is never kept compiled");
}

/// What cannot be prepared is looked at every time.
#[test]
fn mistakes_are_not_kept() {
    let space = empty_space();
    for _ in 0..3 {
        assert!(space.prepare("program.ts", "import { a } from '@test/none'; a").is_err());
    }
    assert_eq!(space.reused_programs(), 0);
}

#[tokio::test]
async fn a_file_that_changed_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("a.ts", "export { b as a } from './b'");
    write("b.ts", "export const b = 1");
    let space = builder().workspace(Workspace::open(folder.path()).unwrap()).build().unwrap();
    let prepare = || space.prepare("program.ts", "import { a } from './a'; a");
    assert_eq!(value(&prepare().unwrap()).await, Ok(json!(1)));
    assert_eq!(value(&prepare().unwrap()).await, Ok(json!(1)));
    assert_eq!(space.reused_programs(), 1);
    // A file behind another.
    write("b.ts", "export const b = 2");
    assert_eq!(value(&prepare().unwrap()).await, Ok(json!(2)));
    // A file that is found after the one that was.
    fs::create_dir(folder.path().join("b")).unwrap();
    write("b/index.ts", "export const b = 4");
    assert_eq!(value(&prepare().unwrap()).await, Ok(json!(2)), "b.ts comes first");
    assert_eq!(space.reused_programs(), 2);
    fs::remove_file(folder.path().join("b.ts")).unwrap();
    assert_eq!(value(&prepare().unwrap()).await, Ok(json!(4)));
    // What scripts may not import any more is refused, though it was prepared before.
    write("b/index.ts", "import '@test/none'; export const b = 5");
    assert!(prepare().is_err());
    fs::remove_dir_all(folder.path().join("b")).unwrap();
    assert!(prepare().is_err());
}

/// A policy belongs to a space, and so does what was prepared under it.
#[tokio::test]
async fn another_policy_is_another_space() {
    let (allowed, denied) = (desk(&json!({})), desk(&json!({ "desk.note": "deny" })));
    for _ in 0..2 {
        assert_eq!(value(&allowed.prepare("program.ts", NOTES).unwrap()).await, Ok(json!("noted")));
        let refused = match denied.prepare("program.ts", NOTES) {
            Ok(program) => value(&program).await.is_err(),
            Err(_) => true,
        };
        assert!(refused);
    }
    // A revoked grant takes effect at once, in programs that are kept too.
    assert!(allowed.grants().revoke("test:desk/desk@1.0.0"));
    let again = allowed.prepare("program.ts", NOTES).unwrap();
    assert_eq!((value(&again).await, allowed.reused_programs()), (Err("call.denied".to_owned()), 2));
}

#[test]
fn the_programs_that_are_kept_are_bounded() {
    let space = empty_space();
    for number in 0..200 {
        space.prepare("program.ts", &number.to_string()).unwrap();
    }
    space.prepare("program.ts", "199").unwrap();
    assert_eq!(space.reused_programs(), 1);
    space.prepare("program.ts", "0").unwrap();
    assert_eq!(space.reused_programs(), 1, "the first is long gone");
}

#[test]
fn programs_with_different_imports_are_prepared_at_once() {
    let wit = |name: &str| {
        let functions: String =
            (0..20).map(|i| format!("f{i}: async func(a: string, b: list<u32>) -> string;")).collect();
        format!("package test:{name}@1.0.0; interface {name} {{ {functions} }}")
    };
    let names = ["one", "two", "three", "four"];
    let mut interfaces = agent_spaces::Interfaces::new().unwrap();
    let mut handlers = Handlers::new();
    for name in names {
        interfaces.add(name, &wit(name)).unwrap();
        handlers.add_interface(format!("test:{name}/{name}@1.0.0"), |_| async { Ok(json!("")) });
    }
    let space = builder().interfaces(interfaces, handlers).build().unwrap();
    thread::scope(|scope| {
        for index in 0..16 {
            let (space, name) = (&space, names[index % names.len()]);
            scope.spawn(move || {
                let source = format!("import {{ {name} }} from '@test/{name}'; {index}");
                assert!(space.prepare("program.ts", &source).is_ok(), "{source}");
            });
        }
    });
    assert_eq!(space.reused_programs(), 0);
}

/// Runs with different inputs share the compiled script, and none sees the input of another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_with_inputs_start_from_one_compiled_script() {
    let space = builder().module("input", ModuleSource::Json("null".into())).build().unwrap();
    let sources = [
        "import input from 'input'; export default input",
        "import input from 'input'; export default async () => { await 0; return (await import('input')).default }",
        "import * as all from 'input'; const [name] = Object.keys(all); export default () => all[name]",
    ];
    for source in sources {
        let program = space.prepare("program.ts", source).unwrap();
        run_often(|number| program.with_given("input", number.to_string())).await;
        let fuel = |number: u32| {
            let program = program.with_given("input", number.to_string());
            async move { program.run(RunOptions::default()).await.usage.fuel }
        };
        assert_eq!(fuel(1).await, fuel(2).await);
        for number in 0..20 {
            let given = program.with_given("input", number.to_string());
            assert!(given.is_kept_compiled());
            assert_eq!(value(&given).await, Ok(json!(number)));
        }
        // Without an input it is another program.
        assert!(!program.is_kept_compiled());
        assert_eq!(value(&program).await, Ok(Value::Null));
    }
}

/// A handler whose modules are evaluated already has its call compiled too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_after_a_snapshot_start_from_one_compiled_script() {
    let table =
        "let table = []; for (let i = 0; i < 2_000; i++) table.push({ i }); export const at = (i) => table[i].i";
    let space = builder()
        .module("table", ModuleSource::JavaScript(table.into()))
        .module("call", ModuleSource::Json("null".into()))
        .build()
        .unwrap();
    let warm_up = space.prepare("warm.ts", "import { at } from 'table'; at(0)").unwrap();
    let space = std::sync::Arc::new(space);
    let after = tokio::task::spawn_blocking(move || space.after(&warm_up, Limits::default())).await.unwrap();
    let after = after.unwrap().expect("it is deterministic");
    let answers = after
        .with_script("call.js", "import { at } from 'table'; import call from 'call'; export default () => at(call)");
    run_often(|number| answers.with_given("call", number.to_string())).await;
    for number in 0..20 {
        let given = answers.with_given("call", number.to_string());
        assert!(given.is_kept_compiled());
        assert_eq!(value(&given).await, Ok(json!(number)));
    }
    assert_eq!(value(&answers.with_given("call", "3000".into())).await, Err("script.error".to_owned()));
}
