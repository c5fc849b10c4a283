//! Type check of agents' programs before they run, with and without a TypeScript compiler.
//!
//! `AGENT_SPACES_TSC` is the path of `lib/tsc.js` of an installed npm package `typescript`, version 5.8 or newer, or of a
//! `tsgo`. Without it the tests that need it are skipped with a message; with `AGENT_SPACES_CI=1` they fail.

mod programs;

use crate::spec_examples::{Built, EXAMPLES, FOLDERS};
use agent_spaces::config::TypeCheck;
use agent_spaces::project::{Project, Surroundings};
use agent_spaces::serve::check::{Checked, Findings, ModuleDeclaration, TypeChecker, Unavailable, imported_modules};
use agent_spaces::{Handlers, Interfaces, Package, PackageOutline, Space};
use agent_spaces_tests::{engine, skip};
use capability_gen::compile::{ModuleSource, compile};
use capability_gen::sources::{Format, Source, parse, parse_value};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

const NOWHERE: &str = "/nowhere/tsc";

/// A space with a server that has resources, and a module of single functions.
fn space() -> Space {
    let listing = json!({
        "tools": [
            { "name": "list_channels", "inputSchema": {} },
            { "name": "post_message", "inputSchema": { "properties": { "text": { "type": "string" } } } },
        ],
        "capabilities": { "resources": {} },
    });
    let slack = parse_value("mcp", &listing, Some("slack"), Some(Format::Mcp)).unwrap();
    let text = r#"{ "name": "get_weather", "description": "Weather", "parameters": { "type": "object" } }"#;
    let weather = parse(&Source { file: "weather.json", text, name: None, format: None }).unwrap();
    let (mut interfaces, mut handlers) = (Interfaces::new().unwrap(), Handlers::new());
    for (definitions, stem) in [(slack, None), (weather, Some("weather".to_owned()))] {
        let module = compile(ModuleSource { specifier: None, stem, definitions }).unwrap();
        for interface in PackageOutline::of(&module).interfaces {
            handlers.add_interface(interface.name, |_| async { Ok(Value::Null) });
        }
        interfaces.add_package(Package::new(module)).unwrap();
    }
    Space::builder(&engine()).interfaces(interfaces, handlers).build().unwrap()
}

async fn checked(space: &Space, checker: &TypeChecker, code: &str) -> Checked {
    let program = space.prepare("program.ts", code).unwrap_or_else(|error| panic!("{code}: {error:?}"));
    checker.check(&program, code, Vec::new(), BTreeSet::new()).await
}

/// Returns the findings in a program without a compiler.
async fn found(space: &Space, code: &str) -> Vec<String> {
    let checker = TypeChecker::new(TypeCheck::Error, Some(PathBuf::from(NOWHERE)));
    let checked = checked(space, &checker, code).await;
    assert_eq!(checked.unavailable, Some(Unavailable::NotAProgram(NOWHERE.into())));
    assert!(checked.findings.warnings.is_empty(), "{checked:?}");
    checked
        .findings
        .misuse
        .list
        .into_iter()
        .map(|it| format!("{}:{} {} {}", it.line, it.column, it.code, it.message))
        .collect()
}

#[tokio::test]
async fn without_a_compiler_unknown_functions_are_found() {
    let space = space();
    let slack = "import { slack } from '@capabilities/mcp-slack'; ";
    let all = "import * as all from '@capabilities/mcp-slack'; ";
    for (import, code, expected) in [
        (
            slack,
            "slack.listChanels();",
            "1:56 member.unknown `slack` has no function `listChanels`; did you mean `listChannels`?",
        ),
        (
            slack,
            "slack.zzz();",
            "1:56 member.unknown `slack` has no function `zzz`; it has `listChannels`, `postMessage`",
        ),
        (slack, "slack?.listChanels();", "did you mean `listChannels`?"),
        (
            slack,
            "slack['listChanels']();",
            "1:56 member.unknown `slack` has no function `listChanels`; did you mean `listChannels`?",
        ),
        (slack, "(slack as any).listChanels();", "did you mean `listChannels`?"),
        (slack, "slack.listChanels.call(null);", "did you mean `listChannels`?"),
        (
            slack,
            "slack();",
            "1:50 member.unknown `slack` is not a function; its functions are `listChannels`, `postMessage`",
        ),
        (slack, "slack.$resources.raed('a');", "`slack.$resources` has no function `raed`; did you mean `read`?"),
        (slack, "slack.$resources();", "`slack.$resources` is not a function"),
        (all, "all.slak.listChannels();", "'@capabilities/mcp-slack' has no export `slak`; did you mean `slack`?"),
        (
            all,
            "all.slack.listChanels();",
            "1:59 member.unknown `slack` has no function `listChanels`; did you mean `listChannels`?",
        ),
        ("import { slack as s } from '@capabilities/mcp-slack'; ", "s.listChanels();", "did you mean `listChannels`?"),
    ] {
        let found = found(&space, &format!("{import}{code}")).await;
        assert!(found.len() == 1 && found[0].contains(expected), "{code}: {found:?}");
    }
}

#[tokio::test]
async fn without_a_compiler_no_valid_program_is_refused() {
    let space = space();
    for code in [
        "await slack.listChannels(); await slack.postMessage({ text: 'a' }); await slack.$resources.list();",
        "const { listChannels, nothing } = slack; listChannels(); nothing?.();",
        "slack.archive?.(); slack['archive']?.();",
        "if (slack.archive) slack.archive(); typeof slack.remove === 'function' && slack.remove();",
        "const post = slack.sendMessage ?? slack.postMessage; post({ text: 'a' });",
        "function f(slack: any) { slack.anything(); } { const slack = { other() {} }; slack.other(); } f({});",
        "const name = 'x'; slack[name]; slack[`list${name}`]; slack.toString(); slack.hasOwnProperty('x');",
        "slack.listChannels.name.toUpperCase(); slack.listChannels.call(null);",
        "for (const slack of [{ each() {} }]) slack.each(); ((slack: any) => slack.inner())({ inner() {} });",
        "try { throw { go() {} }; } catch (slack) { slack.go(); }",
        "const { slack: inner } = await import('@capabilities/mcp-slack'); inner.listChannels(); slack;",
        "getWeather({}); getWeather.call(null, {}); all.slack.listChannels(); slack;",
    ] {
        let code = format!(
            "import {{ slack }} from '@capabilities/mcp-slack'; import * as all from '@capabilities/mcp-slack';\n\
             import {{ getWeather }} from '@capabilities/weather';\n{code}"
        );
        assert_eq!(found(&space, &code).await, Vec::<String>::new(), "{code}");
    }
}

#[tokio::test]
async fn the_check_can_be_disabled() {
    let checker = TypeChecker::new(TypeCheck::Off, Some(PathBuf::from(NOWHERE)));
    let code = "import { slack } from '@capabilities/mcp-slack'; slack.listChanels();";
    assert_eq!(checked(&space(), &checker, code).await, Checked::default());
}

/// The configuration names a program to start, so it must be trusted.
#[test]
fn an_untrusted_configuration_cannot_choose_the_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent-spaces.config.json");
    std::fs::write(&file, r#"{ "codeMode": { "typescript": "./evil" } }"#).unwrap();
    let open = |user_folder: Option<&Path>| {
        let surroundings = Surroundings { user_folder: user_folder.map(Path::to_owned), ..Surroundings::default() };
        Project::open_in(&file, &engine(), &surroundings).unwrap()
    };
    let stranger = open(None);
    assert_eq!(stranger.typescript(), None);
    let note = stranger.typescript_note().unwrap();
    assert!(note.contains("`codeMode.typescript` is ignored") && note.contains("agent-spaces trust"), "{note}");
    let own = open(Some(folder.path()));
    assert_eq!((own.typescript(), own.typescript_note()), (Some(folder.path().join("./evil")), None));
}

/// Every script of every example passes as printed, and a mistake in it is reported.
#[tokio::test]
async fn with_a_compiler_examples_pass_and_mistakes_are_reported() {
    let Some(path) = std::env::var_os("AGENT_SPACES_TSC").map(PathBuf::from) else {
        skip("AGENT_SPACES_TSC does not name a tsc");
        return;
    };
    let checker = TypeChecker::new(TypeCheck::Error, Some(path));
    for (example, _) in FOLDERS {
        let built = Built::of(example);
        let code = std::fs::read_to_string(Path::new(EXAMPLES).join(example).join("agent.ts")).unwrap();
        let declare = |specifier: String| {
            let module = specifier.strip_prefix("@capabilities/")?;
            Some(ModuleDeclaration { dts: built.read(module, "index.d.ts"), specifier })
        };
        let modules: Vec<ModuleDeclaration> = imported_modules(&code).into_iter().filter_map(declare).collect();
        assert!(!modules.is_empty(), "{example} imports something");
        let start = Instant::now();
        let found = checker.check_types(&code, modules.clone()).await.unwrap();
        println!("{example}: {:.2} s", start.elapsed().as_secs_f64());
        assert_eq!(found, Findings::default(), "{example}");
        let wrong = format!("{code}\nconst mistaken: number = 'text';\n");
        let found = checker.check_types(&wrong, modules).await.unwrap();
        assert_eq!((found.misuse.list.len(), found.warnings.list.len()), (0, 1), "{example}");
    }
}
