//! Corpus of programs that agents write: valid ones are not refused, and misuse of capabilities is.
//!
//! `honest/` and `misuse/` have several programs per file, each after a line `// --- TITLE`. Honest ones also run, except
//! those marked `(check only)`. The text after `=>` must be in the message of a misuse.

use agent_spaces::config::TypeCheck;
use agent_spaces::serve::check::{Checked, Findings, ModuleDeclaration, TypeChecker, Unavailable};
use agent_spaces::{
    CapabilityError, Handlers, Interfaces, Package, PackageOutline, RunOptions, Space, SpaceBuilder, StandardLibrary,
};
use agent_spaces_policy::{Policy, Settings};
use agent_spaces_tests::{engine, skip};
use capability_gen::compile::{ModuleSource, compile};
use capability_gen::emit::dts::dts;
use capability_gen::model::Module;
use capability_gen::sources::{Source, parse};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/type_check");

/// Programs per run of the compiler.
const BATCH: usize = 60;

struct Case {
    name: String,
    expected: String,
    code: String,
    is_run: bool,
}

fn cases(folder: &str) -> Vec<Case> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(Path::new(FOLDER).join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases: Vec<Case> = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            if let Some(title) = line.strip_prefix("// --- ") {
                let (title, expected) = title.split_once(" => ").unwrap_or((title, ""));
                let is_run = !title.ends_with("(check only)");
                let name = format!("{}: {title}", file.file_name().unwrap().display());
                cases.push(Case { name, expected: expected.to_owned(), code: String::new(), is_run });
            } else if let Some(case) = cases.last_mut() {
                case.code.push_str(line);
                case.code.push('\n');
            }
        }
    }
    assert!(!cases.is_empty(), "no programs in {folder}/");
    cases
}

/// Programs that lack an `await`.
fn missing_awaits() -> Vec<Case> {
    let cases: Vec<Case> = cases("misuse").into_iter().filter(|case| case.name.starts_with("awaits")).collect();
    assert!(cases.len() >= 20, "{}", cases.len());
    cases
}

fn office() -> Module {
    let text = std::fs::read_to_string(Path::new(FOLDER).join("office.json")).unwrap();
    let definitions = parse(&Source { file: "office.json", text: &text, name: None, format: None }).unwrap();
    compile(ModuleSource { specifier: None, stem: Some("office".to_owned()), definitions }).unwrap()
}

fn declarations() -> Vec<ModuleDeclaration> {
    vec![ModuleDeclaration { specifier: "@capabilities/office".to_owned(), dts: dts(&office()) }]
}

fn customer(id: &str) -> Value {
    let address = json!({ "city": "Oslo", "zip": "0150" });
    json!({ "id": id, "name": format!("Name {id}"), "email": format!("{id}@x.test"), "plan": "pro", "revenue": 12.5, "address": address })
}

fn issue(number: u64) -> Value {
    json!({
        "number": number, "title": format!("Issue {number}"), "state": "open", "labels": ["bug"],
        "createdAt": "2026-01-05T10:00:00Z",
    })
}

fn answer(capability: &str, function: &str, params: &Value) -> Result<Value, CapabilityError> {
    let weather = json!({ "temperature": 7.5, "unit": "celsius", "description": "fog", "wind": { "speed": 3, "direction": "N" } });
    Ok(match (capability, function) {
        ("weather", "get") => weather,
        ("weather", "list") => {
            json!([{ "city": "Oslo", "temperature": 7, "tags": ["north"] }, { "city": "Rome", "temperature": 20, "tags": [] }])
        }
        ("weather", "has") => json!(true),
        ("crm", "get") if params["id"] == "missing" => {
            return Err(CapabilityError::new("call.failed", "nobody has this id"));
        }
        ("crm", "get" | "update") => customer("c1"),
        ("crm", "search") => json!([customer("c1"), customer("c2")]),
        ("crm", _) => json!({ "customers": { "total": 2 } }),
        ("tracker", "list") => json!([issue(1), issue(2)]),
        ("tracker", "close") => json!({ "ok": true, "issue": issue(1) }),
        ("tracker", "comment") => json!({ "id": "n1" }),
        ("tracker", _) => issue(3),
        ("mail", "send") => json!({ "id": "m1", "queued": true }),
        _ => {
            json!({ "messages": [{ "id": "1", "from": "a", "subject": "s", "text": "t", "date": "2026-01-01" }], "total": 1 })
        }
    })
}

fn space() -> Space {
    builder().build().unwrap()
}

fn builder() -> SpaceBuilder {
    let module = office();
    let (mut interfaces, mut handlers) = (Interfaces::new().unwrap(), Handlers::new());
    let standard = StandardLibrary::new(&Policy::new(Settings::default()), None, None).unwrap();
    for interface in PackageOutline::of(&module).interfaces {
        handlers.add_interface(
            interface.name,
            |call| async move { answer(&call.capability, &call.function, &call.params) },
        );
    }
    interfaces.add_package(Package::new(module)).unwrap();
    Space::builder(&engine()).interfaces(interfaces, handlers).capability(standard)
}

/// Suggestions name only callable functions.
#[tokio::test]
async fn an_unknown_function_called_by_name_gets_a_suggestion() {
    let code =
        "import { crm } from '@capabilities/office'; crm; await __agentSpaces.callCapability('crm', 'serach', {});";
    let hint = async |space: Space, code: &str| {
        let program = space.prepare("program.ts", code).unwrap();
        program.run(RunOptions::default()).await.outcome.unwrap_err().hint
    };
    let meant = hint(space(), code).await.unwrap();
    assert_eq!(meant, "crm has no function `serach`; did you mean `search`?");
    let unlike_any = hint(space(), &code.replace("serach", "archive")).await.unwrap();
    assert!(
        unlike_any.starts_with("crm has no function `archive`; it has ") && unlike_any.contains("search"),
        "{unlike_any}"
    );
    let policy = json!({ "functions": { "crm.search": "deny" } });
    let config = agent_spaces::config::from_value("test", json!({ "policy": policy })).unwrap();
    let denied = builder().policy(Policy::new(config.policy)).build().unwrap();
    let of_denied = hint(denied, code).await.unwrap();
    assert!(of_denied.starts_with("crm has no function `serach`; it has "), "{of_denied}");
    assert!(!of_denied.contains("search"), "{of_denied}");
}

fn checker() -> Option<TypeChecker> {
    let Some(path) = std::env::var_os("AGENT_SPACES_TSC").map(PathBuf::from) else {
        skip("AGENT_SPACES_TSC does not name a tsc");
        return None;
    };
    Some(TypeChecker::new(TypeCheck::Error, Some(path)))
}

async fn found(checker: &TypeChecker, cases: &[Case]) -> Vec<Findings> {
    let mut findings = Vec::new();
    for batch in cases.chunks(BATCH) {
        let programs: Vec<&str> = batch.iter().map(|case| case.code.as_str()).collect();
        findings.extend(checker.check_all_types(&programs, declarations()).await.unwrap());
    }
    assert_eq!(findings.len(), cases.len(), "one list of findings per program");
    findings
}

/// None is refused, and at most one in six gets a warning.
#[tokio::test]
async fn valid_programs_are_not_refused_and_rarely_warned_about() {
    let Some(checker) = checker() else { return };
    let cases = cases("honest");
    assert!(cases.len() >= 300, "{}", cases.len());
    let (mut refused, mut warned) = (Vec::new(), Vec::new());
    for (case, found) in cases.iter().zip(found(&checker, &cases).await) {
        for (list, found) in [(&mut refused, found.misuse), (&mut warned, found.warnings)] {
            if !found.is_empty() {
                list.push(format!("{}\n{}", case.name, found.text("program.ts", &case.code)));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(warned.len() * 6 <= cases.len(), "{} of {}:\n{}", warned.len(), cases.len(), warned.join("\n"));
}

#[tokio::test]
async fn honest_programs_run() {
    let space = space();
    let mut failed = Vec::new();
    let mut count = 0;
    for case in cases("honest").into_iter().filter(|case| case.is_run) {
        count += 1;
        let program = match space.prepare("program.ts", &case.code) {
            Ok(program) => program,
            Err(error) => {
                failed.push(format!("{}: {error}", case.name));
                continue;
            }
        };
        if let Err(error) = program.run(RunOptions::default()).await.outcome {
            failed.push(format!("{}: {} {}", case.name, error.code, error.message));
        }
    }
    assert!(count >= 300 && failed.is_empty(), "of {count}:\n{}", failed.join("\n"));
}

#[tokio::test]
async fn misuse_of_capabilities_is_refused() {
    let Some(checker) = checker() else { return };
    let cases: Vec<Case> = cases("misuse").into_iter().filter(|case| case.name.starts_with("office")).collect();
    assert!(cases.len() >= 60, "{}", cases.len());
    let mut passed = Vec::new();
    for (case, found) in cases.iter().zip(found(&checker, &cases).await) {
        let text = found.misuse.text("program.ts", &case.code);
        if !text.contains(&case.expected) || found.misuse.is_empty() {
            passed.push(format!(
                "{}\nrefused: {text}\nwarned: {}",
                case.name,
                found.warnings.text("program.ts", &case.code)
            ));
        }
    }
    assert!(passed.is_empty(), "{}", passed.join("\n"));
}

/// A compiler's messages about promises are replaced by our own.
#[tokio::test]
async fn a_missing_await_is_reported_alike_with_and_without_a_compiler() {
    let Some(checker) = checker() else { return };
    let cases = missing_awaits();
    let mut reported = Vec::new();
    for (case, found) in cases.iter().zip(found(&checker, &cases).await) {
        for one in found.misuse.list {
            assert!(one.code == "await.missing" && one.message.contains(&case.expected), "{}: {one:?}", case.name);
            reported.push(case.name.as_str());
        }
    }
    // A compiler reports only some of them: members that a promise lacks, but not a promise in a condition.
    for title in ["a member of a promise", "a member of a call"] {
        assert!(reported.iter().any(|name| name.ends_with(title)), "{title} is not among {reported:?}");
    }
    let space = space();
    let combined: Vec<&Case> = cases
        .iter()
        .filter(|case| ["length", "spread", "argument"].iter().any(|part| case.name.contains(part)))
        .collect();
    assert_eq!(combined.len(), 4);
    for case in combined {
        let program = space.prepare("program.ts", &case.code).unwrap();
        let found = checker.check(&program, &case.code, declarations(), BTreeSet::new()).await.findings.misuse.list;
        let [one] = found.as_slice() else { panic!("{}: {found:?}", case.name) };
        assert!(one.code == "await.missing" && one.message.contains(&case.expected), "{}: {one:?}", case.name);
    }
}

/// A program that tests for a global handles its absence.
#[tokio::test]
async fn names_guarded_by_typeof_are_not_warned_about() {
    let Some(checker) = checker() else { return };
    let of = |code: &str| Case { name: String::new(), expected: String::new(), code: code.to_owned(), is_run: false };
    let cases = [
        of("export default typeof process !== 'undefined' ? process.env.HOME : typeof window;"),
        of("if (typeof Buffer === 'function') console.log(Buffer.from('a'));"),
        of("console.log(process.env.HOME);"),
    ];
    let counts: Vec<usize> = found(&checker, &cases).await.iter().map(|found| found.warnings.list.len()).collect();
    assert_eq!(counts, [0, 0, 1]);
}

/// A missing `await` is found without a compiler.
#[tokio::test]
async fn a_missing_await_is_refused() {
    let space = space();
    let checker = TypeChecker::new(TypeCheck::Error, Some(PathBuf::from("/nowhere/tsc")));
    let check = async |code: &str| {
        let program = space.prepare("program.ts", code).unwrap_or_else(|error| panic!("{code}: {error}"));
        let Checked { findings, unavailable } = checker.check(&program, code, Vec::new(), BTreeSet::new()).await;
        assert!(matches!(unavailable, Some(Unavailable::NotAProgram(_))));
        findings.misuse.list
    };
    for case in missing_awaits() {
        let found = check(&case.code).await;
        let [one] = found.as_slice() else { panic!("{}: {found:?}", case.name) };
        assert!(one.code == "await.missing" && one.message.contains(&case.expected), "{}: {one:?}", case.name);
    }
    let honest: Vec<Case> = cases("honest").into_iter().filter(|case| case.is_run).collect();
    assert!(honest.len() >= 300, "{}", honest.len());
    for case in honest {
        let found = check(&case.code).await;
        assert!(found.is_empty(), "{}: {found:?}", case.name);
    }
}
