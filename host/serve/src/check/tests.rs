//! Tests of the type checker. `AGENT_SPACES_TSC` is the path of a `tsc.js`, `tsgo` or `tsc`; without it, tests that
//! need a real compiler print that they were skipped.

use super::*;
use std::path::Path;

const SLACK: &str = "declare module '@capabilities/mcp-slack' {
  export interface Channel { id: string; name: string; topic?: string }
  export const slack: {
    listChannels(params?: { limit?: number }): CapabilityPromise<Channel[]>;
    whoAmI(): Promise<unknown>;
    postMessage(params: { channel: string; text: string }): Promise<unknown>;
  };
}";

fn modules() -> Vec<ModuleDeclaration> {
    vec![ModuleDeclaration { specifier: "@capabilities/mcp-slack".to_owned(), dts: SLACK.to_owned() }]
}

fn real() -> Option<TypeChecker> {
    let path = std::env::var_os("AGENT_SPACES_TSC").map(PathBuf::from);
    if path.is_none() {
        println!("skipped: AGENT_SPACES_TSC does not name a tsc");
    }
    path.map(|path| TypeChecker::new(TypeCheck::Error, Some(path)))
}

fn codes_of(found: Diagnostics) -> Vec<String> {
    found.list.into_iter().map(|it| format!("{}:{} {}", it.line, it.column, it.code)).collect()
}

async fn warnings(checker: &TypeChecker, code: &str) -> Vec<String> {
    let found = checker.check_types(code, modules()).await.unwrap();
    assert!(found.misuse.is_empty(), "{code}: {found:?}");
    codes_of(found.warnings)
}

/// Creates a fake compiler from a shell script.
#[cfg(unix)]
fn fake(folder: &Path, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let file = folder.join("tsc");
    std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file
}

#[tokio::test]
async fn mistakes_are_reported_with_position_and_nearest_name() {
    let Some(checker) = real() else { return };
    let code = "import { slack } from '@capabilities/mcp-slack';\n\
                const mark = '😀ü'; await slack.listChanels();\n\
                await slack.postMessage({ chanel: 'C1', text: 1 });\n";
    let found = checker.check_types(code, modules()).await.unwrap();
    let [first, second, ..] = found.misuse.list.as_slice() else { panic!("{found:?}") };
    assert_eq!((first.line, first.column, first.code.as_str()), (2, 32, "TS2551"));
    assert!(first.message.contains("Did you mean 'listChannels'?"), "{}", first.message);
    assert!(found.misuse.text("program.ts", code).contains("> 2 | const mark = '😀ü'; await slack.listChanels();"));
    assert_eq!(second.line, 3, "{second:?}");
}

#[tokio::test]
async fn programs_that_run_are_accepted() {
    let Some(checker) = real() else { return };
    let programs = [
        "import { slack as s } from '@capabilities/mcp-slack';\nconst { listChannels } = s; export default await listChannels({ limit: 2 });",
        "import * as all from '@capabilities/mcp-slack';\nreturn all.slack?.listChannels()[Symbol.toStringTag];",
        "import { slack } from '@capabilities/mcp-slack';\nconst channel = (await slack.listChannels()).find(c => c.name === 'general');\nif (!channel) return;\nreturn channel.id;",
        "import { slack } from '@capabilities/mcp-slack';\n(await slack.listChannels()).find(c => c.name === 'general').id;",
        "import { slack } from '@capabilities/mcp-slack';\nconst sent = await slack.postMessage({ channel: 'a', text: 'b' }); const { ts } = sent; for (const m of sent.all) m.x; ts.y;",
        "import { slack } from '@capabilities/mcp-slack';\nfunction inner(slack) { return slack.anything(1); } inner({ anything: (n) => n });",
        "import { slack } from '@capabilities/mcp-slack';\nconst name = 'list' + 'Channels'; await slack[name]();",
        "import { slack } from '@capabilities/mcp-slack';\nawait slack.whoAmI({}); await slack.whoAmI();",
        "import { helper, type Kind } from './lib/helper';\nimport data from './data.json';\nconst kind: Kind = helper<string>(data.x); kind.y;",
        "import type { Row } from './types.ts';\nexport default (rows: Row[]) => rows.map(row => row.id);",
        "import { fs } from '@agent-spaces/std';\nconst text = await fs.readFile('a.txt'); console.log(text.length); await fetch('https://example.com');",
        "const counts = {}; counts.a = 1; let last = null; last = { id: 1 }; last.id; const list = []; list.push(1);",
        "try { await Promise.reject(new Error('x')); } catch (error) { console.log(error.message); }",
        "[{ at: '2026-01-02' }].sort((a, b) => new Date(a.at) - new Date(b.at)); const late = new Date() - new Date(0); late;",
        "function add(a, b) { return a + b; }\nadd(1, 2);",
        "Object.groupBy([1, 2], n => n % 2 ? 'odd' : 'even'); new Set([1]).union(new Set([2])); structuredClone(new URL('https://x'));",
        "setTimeout(() => {}, 1); crypto.randomUUID(); new TextEncoder().encode('a'); performance.now();",
        "#!/usr/bin/env node\nenum Color { Red }\nnamespace N { export const x = 1 }\nColor.Red + N.x;",
        "// @ts-ignore: it is there\nconst n: number = 'x';",
        "",
    ];
    let found = checker.check_all_types(&programs, modules()).await.unwrap();
    for (code, found) in programs.iter().zip(found) {
        assert_eq!(found, Findings::default(), "{code}");
    }
}

#[tokio::test]
async fn the_check_cannot_be_switched_off_for_a_whole_program() {
    let Some(checker) = real() else { return };
    assert_eq!(warnings(&checker, "// @ts-nocheck\nconst n: number = 'x';").await, ["2:7 TS2322"]);
    assert_eq!(
        warnings(&checker, "/// <reference no-default-lib=\"true\" />\n[1].mapp(String);").await,
        ["2:5 TS2551"]
    );
    assert_eq!(warnings(&checker, "if (1) return 'x'.trimm(); return;").await, ["1:19 TS2551"]);
    assert_eq!(warnings(&checker, "document.title; process.env;").await, ["1:1 TS2584", "1:17 TS2591"]);
}

/// The hint is the same with and without a compiler.
#[tokio::test]
async fn names_that_the_sandbox_lacks_have_the_hint_of_the_runtime_error() {
    let Some(checker) = real() else { return };
    for name in ["Buffer", "process", "require", "fs", "document", "Deno", "global"] {
        let found = checker.check_types(&format!("{name}.x;"), modules()).await.unwrap();
        let hint = agent_spaces_script::absent::global(name, agent_spaces_script::absent::Position::Script).unwrap();
        assert_eq!(found.warnings.list[0].message, format!("Cannot find name '{name}'. {hint}"));
    }
    let found = checker.check_types("crypto.subtle.sign('HMAC');", modules()).await.unwrap();
    assert!(found.warnings.list[0].message.contains("crypto.hmac"), "{found:?}");
    let used = "const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode('a')); hash.byteLength;
        new Intl.NumberFormat('de', { notation: 'compact' }).formatToParts(1)[0].type;";
    assert_eq!(warnings(&checker, used).await, Vec::<String>::new());
}

/// Whatever a program references, the compiler reads only its own files and ours.
#[tokio::test]
async fn no_other_file_is_read() {
    let Some(checker) = real() else { return };
    let outside = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = outside.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("secret.txt", "marker_in_text {{{");
    write("secret.json", r#"{ "marker_in_json": 1 }"#);
    write("secret.ts", "export const marker_in_module = 1; const marker_in_error: number = '';");
    write("secret.d.ts", "declare const marker_in_global: 1;");
    write("node_modules/pack/index.d.ts", "export const marker_in_package: 1;");
    write("node_modules/pack/package.json", r#"{ "name": "pack", "types": "index.d.ts" }"#);
    write("node_modules/@types/evil/index.d.ts", "declare const marker_in_global: 1;");
    let path = outside.path().display().to_string();
    let code = r#"/// <reference path="OUT/secret.txt" />
/// <reference path="OUT/secret.d.ts" />
/// <reference types="OUT/node_modules/@types/evil" />
/// <reference types="evil" />
/// <reference lib="../../../../../..OUT/secret" />
/// <amd-dependency path="OUT/secret.txt" />
import json from 'OUT/secret.json';
import { marker_in_module as m } from 'OUT/secret';
import { other } from "OUT/secret.ts";
import pack = require('OUT/node_modules/pack');
import * as text from 'OUT/secret.txt' with { type: 'text' };
import type { marker_in_package } from 'OUT/node_modules/pack';
export * from 'file://OUT/secret.ts';
type A = typeof import('OUT/secret.json');
type B = import("OUT/secret").marker_in_module;
const dynamic = await import(`OUT/secret.json`);
declare module 'OUT/secret' { export const added: number }
/** @import { X } from 'OUT/secret.json' */
/** @type {import('OUT/secret.json').X} */
const a: A = 1; const n: number = json; const p: string = dynamic;
json.marker_nothing; m.nothing; other; pack.nothing; text; marker_in_global;
"#
    .replace("OUT", &path);
    let with = checker.check_types(&code, modules()).await.unwrap();
    // All references have type `any`, except the global, which does not exist.
    let numbers: Vec<&str> = with.warnings.list.iter().map(|it| it.code.as_str()).collect();
    assert!(numbers.contains(&"TS2304") || numbers.contains(&"TS2552"), "{with:?}");
    let said = format!("{with:?}");
    assert!(!said.contains("marker_in_json") && !said.contains(&path) && !said.contains("marker_in_text"), "{said}");
    // The result is the same whether the files exist or not.
    drop(outside);
    assert_eq!(checker.check_types(&code, modules()).await.unwrap(), with);
}

/// Types that take unlimited time or memory end in an error within the time limit.
#[tokio::test]
async fn types_that_never_end_hit_a_limit() {
    let Some(checker) = real() else { return };
    let doubled = format!(
        "type S<T extends string> = `${{T}}${{T}}`; const s: {}'{}'{} = 1;",
        "S<".repeat(40),
        "a".repeat(64),
        ">".repeat(40)
    );
    match checker.check_types(&doubled, modules()).await {
        Ok(found) => assert!(found.warnings.list.iter().all(|it| it.message.chars().count() < 2_000)),
        Err(unavailable) => {
            assert!(matches!(unavailable, Unavailable::NoAnswer(_) | Unavailable::TooSlow { .. }), "{unavailable}");
        }
    }
    assert_eq!(warnings(&checker, "const n: number = '';").await.len(), 1, "the next program is checked");
}

#[cfg(unix)]
#[tokio::test]
async fn a_compiler_that_hangs_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let script = format!("(sleep 1; echo alive > '{}') & sleep 60", mark.display());
    let checker = TypeChecker::within(TypeCheck::Error, Some(fake(folder.path(), &script)), Duration::from_millis(300));
    let result = checker.check_types("1;", Vec::new()).await;
    assert_eq!(result, Err(Unavailable::TooSlow { after: Duration::from_millis(300) }));
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert!(!mark.exists());
}

#[cfg(unix)]
#[tokio::test]
async fn a_compiler_gets_its_folder_and_a_minimal_environment() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let script = format!("{{ pwd; ls; stat -c %a . 2>/dev/null; env; }} > '{}'; exit 0", seen.display());
    let checker = TypeChecker::new(TypeCheck::Error, Some(fake(folder.path(), &script)));
    assert_eq!(checker.check_types("1;", modules()).await, Ok(Findings::default()));
    let seen = std::fs::read_to_string(seen).unwrap();
    let own = seen.lines().next().unwrap();
    assert!(own.contains("agent-spaces-check-") && !Path::new(own).exists(), "{own} is gone");
    assert!(
        seen.contains(
            "anything.d.ts\nbare.ts\nglobals.d.ts\nmodules.d.ts\nopen.ts\npackage.json\nprogram.ts\ntsconfig.json\n"
        ),
        "{seen}"
    );
    let known = ["PATH", "HOME", "NODE_OPTIONS", "GOMEMLIMIT", "PWD", "OLDPWD", "SHLVL", "_"];
    let variables: Vec<&str> = seen.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    assert!(variables.contains(&"PATH") && variables.iter().all(|name| known.contains(name)), "{variables:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_compiler_that_is_too_old_is_started_once() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let script = format!(
        "echo x >> '{}'; echo \"error TS5023: Unknown compiler option 'libReplacement'.\"; exit 1",
        count.display()
    );
    let checker = TypeChecker::new(TypeCheck::Error, Some(fake(folder.path(), &script)));
    for _ in 0..3 {
        let Err(Unavailable::Unfit(why)) = checker.check_types("1;", Vec::new()).await else { panic!("it is unfit") };
        assert_eq!(why, "Unknown compiler option 'libReplacement'.");
    }
    assert_eq!(std::fs::read_to_string(count).unwrap(), "x\n");
}

#[cfg(unix)]
#[tokio::test]
async fn endless_output_is_truncated() {
    let folder = tempfile::tempdir().unwrap();
    let line = "bare.ts(2,1): error TS2304: x\nprogram.ts(2,1): error TS2304: Cannot find name.";
    let script = format!("yes '{line}' | head -c 20000000; exit 2");
    let checker = TypeChecker::new(TypeCheck::Error, Some(fake(folder.path(), &script)));
    let found = checker.check_types("1;", Vec::new()).await.unwrap();
    let Findings { misuse, warnings } = found;
    assert!(misuse.is_empty() && warnings.list.len() == 10 && warnings.more < 30_000, "{warnings:?}");
}

#[test]
fn declarations_are_bounded() {
    let large = ModuleDeclaration { specifier: "large".to_owned(), dts: " ".repeat(17 * 1024 * 1024) };
    let program = [checkable("1;", "").unwrap()];
    assert!(matches!(Folder::make(&program, &[large]), Err(Unavailable::TooLarge { .. })));
}

#[test]
fn imported_modules_include_type_and_dynamic_imports() {
    let code = "import type { A } from 'a'; import { b } from 'b'; await import('c'); type D = import('d').D;";
    assert_eq!(imported_modules(code).into_iter().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    assert!(imported_modules("const = ").is_empty());
}

#[test]
fn the_standard_library_is_declared_once() {
    let dts = "declare module '@agent-spaces/std' {\n  export const time: {};\n}\n".to_owned();
    let modules = [ModuleDeclaration { specifier: "@agent-spaces/std".to_owned(), dts }];
    let folder = Folder::make(&[checkable("1;", "").unwrap()], &modules).unwrap();
    let declared = std::fs::read_to_string(folder.path().join("modules.d.ts")).unwrap();
    assert_eq!(declared.matches("declare module '@agent-spaces/std'").count(), 1, "{declared}");
}
