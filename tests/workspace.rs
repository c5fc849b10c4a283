//! Files that a script imports from its workspace, and those it cannot reach.

use agent_spaces::script::ScriptError;
use agent_spaces::{PrepareError, RunOptions, Space, Workspace};
use agent_spaces_tests::{builder, empty_space, refusal};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// A folder `outside/work` with these files, and a space that sees `work`.
fn workspace(files: &[(&str, &str)]) -> (TempDir, Space) {
    let outside = tempfile::tempdir().unwrap();
    let work = outside.path().join("work");
    fs::create_dir(&work).unwrap();
    for (path, text) in files {
        let path = work.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(outside.path().join("secret.ts"), "export const secret = 'TOP SECRET';").unwrap();
    fs::write(outside.path().join("secret.json"), "\"TOP SECRET\"").unwrap();
    let space = builder().workspace(Workspace::open(&work).unwrap()).build().unwrap();
    (outside, space)
}

async fn runs(space: &Space, name: &str, source: &str) -> Value {
    let program = space.prepare(name, source).unwrap_or_else(|error| panic!("{error}: {source}"));
    program.run(RunOptions::default()).await.outcome.unwrap_or_else(|error| panic!("{error:?}: {source}"))
}

/// Returns the error of a refused script, by itself or by the host, without host details.
fn refused(space: &Space, source: &str) -> String {
    let error = match space.prepare("main.ts", source) {
        Ok(_) => panic!("accepted: {source}"),
        Err(error) => error,
    };
    let told = format!("{error} {error:?}");
    assert!(!told.contains("SECRET"), "{told}");
    told
}

#[tokio::test]
async fn imports_resolve_as_in_typescript() {
    let (_outside, space) = workspace(&[
        ("a.ts", "export const a: string = 'a.ts'; export default 1"),
        ("b.js", "export const b = 'b.js'"),
        ("data.json", "{\"list\": [1, 2], \"__proto__\": {\"x\": 1}}"),
        ("lib/index.ts", "export * from './deep/er'; export const lib = 'lib'"),
        ("lib/deep/er.ts", "import { a } from '../../a.js'; export const deep = 'deep ' + a"),
        ("m.mjs", "export const m = import.meta ? 'm' : ''"),
        ("odd name.ts", "export const odd = 'odd'"),
    ]);
    for (source, expected) in [
        ("import { a } from './a.ts'; a", json!("a.ts")),
        ("import { a } from './a'; a", json!("a.ts")),
        ("import { a } from './a.js'; a", json!("a.ts")),
        ("import one, * as all from './a'; [one, Object.keys(all)]", json!([1, ["a", "default"]])),
        ("import { b } from './b.js'; b", json!("b.js")),
        ("import { lib, deep } from './lib'; [lib, deep]", json!(["lib", "deep a.ts"])),
        ("import { deep } from './lib/deep/er'; deep", json!("deep a.ts")),
        ("import data from './data.json'; [data.list, Object.keys(data)]", json!([[1, 2], ["list", "__proto__"]])),
        ("import data from './data.json' with { type: 'json' }; data.list[1]", json!(2)),
        ("const { a } = await import('./a.ts'); a", json!("a.ts")),
        ("import { m } from './m.mjs'; m", json!("m")),
        ("import { odd } from './odd name'; odd", json!("odd")),
        ("import { a } from './lib/../a'; import { a as same } from './a.ts'; a === same", json!(true)),
    ] {
        assert_eq!(runs(&space, "main.ts", source).await, expected, "{source}");
    }
    assert_eq!(
        runs(&space, "lib/main.ts", "import { a } from '../a'; a").await,
        json!("a.ts"),
        "paths are relative to the file"
    );
}

#[tokio::test]
async fn files_may_import_each_other() {
    let (_outside, space) = workspace(&[
        ("a.ts", "import { b } from './b'; export const a = () => 'a' + b(); export let loads = 0; loads++"),
        ("b.ts", "import { a, loads } from './a'; export const b = (): string => typeof a + loads"),
    ]);
    assert_eq!(runs(&space, "main.ts", "import { a } from './a'; import './b'; a()").await, json!("afunction1"));
}

#[test]
fn a_path_outside_the_workspace_is_refused() {
    let (_outside, space) =
        workspace(&[("lib/in.ts", "export const x = 1"), ("up.ts", "export * from '../secret.ts'")]);
    for source in [
        "import { secret } from '../secret.ts'; secret",
        "import { secret } from './../secret'; secret",
        "import { secret } from './lib/../../secret.ts'; secret",
        "import x from '../../../../../../etc/passwd'; x",
        "import x from './lib/../../../etc/hostname'; x",
        "const x = await import('../secret.json'); x",
        "import { secret } from './up'; secret",
    ] {
        let ScriptError { code, message, .. } = refusal(&space, "main.ts", source);
        assert_eq!(code, "import.unknown", "{source}");
        assert!(message.contains("outside the workspace"), "{source}: {message}");
    }
    for source in
        ["import x from '/etc/passwd'; x", "import x from 'file:///etc/passwd'; x", "import x from 'work/lib/in.ts'; x"]
    {
        assert_eq!(refusal(&space, "main.ts", source).code, "import.unknown", "{source}");
    }
}

/// A link out of the folder leads nowhere; one within it is a file like others.
#[cfg(unix)]
#[tokio::test]
async fn a_symlink_out_of_the_workspace_is_refused() {
    use std::os::unix::fs::symlink;
    let (outside, space) = workspace(&[("a.ts", "export const a = 1")]);
    let work = outside.path().join("work");
    symlink(outside.path().join("secret.ts"), work.join("absolute.ts")).unwrap();
    symlink("../secret.ts", work.join("relative.ts")).unwrap();
    symlink(outside.path(), work.join("folder")).unwrap();
    symlink("loop.ts", work.join("loop.ts")).unwrap();
    symlink("a.ts", work.join("within.ts")).unwrap();
    for name in ["absolute.ts", "relative.ts", "folder/secret.ts", "loop.ts"] {
        refused(&space, &format!("import * as x from './{name}'; x.secret"));
    }
    assert_eq!(runs(&space, "main.ts", "import { a } from './within.ts'; a").await, json!(1));
}

/// A link that leads nowhere is the script's mistake, not the operator's.
#[cfg(unix)]
#[test]
fn a_symlink_out_of_the_workspace_is_an_error_of_the_script() {
    let (outside, space) = workspace(&[]);
    std::os::unix::fs::symlink("../secret.ts", outside.path().join("work/relative.ts")).unwrap();
    let error = space.prepare("main.ts", "import { secret } from './relative.ts'; secret").map(|_| ()).unwrap_err();
    assert!(matches!(&error, PrepareError::Script(error) if error.position.is_some()), "{error:?}");
}

#[test]
fn a_missing_file_is_refused_with_its_location() {
    let (_outside, space) =
        workspace(&[("a.ts", "export const a = 1"), ("broken.ts", "\nimport './none'"), ("folder/x.ts", "")]);
    let error = refusal(&space, "main.ts", "1;\nimport { b } from './b.ts'; b");
    assert_eq!((error.code.as_str(), error.file.as_str()), ("import.unknown", "main.ts"));
    assert_eq!(error.position.map(|position| (position.line, position.column)), Some((2, 19)));
    let error = refusal(&space, "main.ts", "import './broken'");
    assert_eq!((error.file.as_str(), error.position.map(|position| position.line)), ("broken.ts", Some(2)));
    assert_eq!(refusal(&space, "main.ts", "import './folder'").code, "import.unknown", "a folder without an index");
    let error = refusal(&empty_space(), "main.ts", "import './a.ts'");
    assert!(error.message.contains("no workspace"), "{error:?}");
}

/// An export that a file does not have is found before any code runs.
#[tokio::test]
async fn a_missing_export_is_an_error() {
    let (_outside, space) = workspace(&[("a.ts", "console.log('ran'); export const total = 1")]);
    match space.prepare("main.ts", "import { totl } from './a'; totl") {
        Err(PrepareError::Script(error)) => assert!(error.message.contains("totl"), "{error:?}"),
        Err(error) => panic!("{error}"),
        Ok(program) => {
            let report = program.run(RunOptions::default()).await;
            let error = report.outcome.unwrap_err();
            assert_eq!(error.code, "script.syntax", "{error:?}");
            assert!(error.message.contains("totl"), "{error:?}");
            assert!(report.console.is_empty(), "nothing ran");
        }
    }
}

#[test]
fn errors_in_an_imported_file_name_that_file() {
    let (_outside, space) = workspace(&[
        ("bad.ts", "export const a = ;"),
        ("bad.json", "{\"a\": }"),
        ("returns.ts", "return 1"),
        ("page.tsx", "export const p = <a/>"),
        ("old.cjs", "module.exports = 1"),
        ("computed.ts", "const x = 'y';\nawait import(x)"),
    ]);
    for (file, code) in [
        ("bad.ts", "script.syntax"),
        ("bad.json", "script.syntax"),
        ("returns.ts", "script.syntax"),
        ("page.tsx", "script.syntax"),
        ("old.cjs", "script.syntax"),
        ("computed.ts", "import.denied"),
    ] {
        let error = refusal(&space, "main.ts", &format!("import * as x from './{file}'; x"));
        assert_eq!((error.code.as_str(), error.file.as_str()), (code, file), "{error:?}");
    }
}

/// Bytes that are no text are the file's fault, and it is named.
#[test]
fn a_file_that_is_not_text_is_refused() {
    let (outside, space) = workspace(&[]);
    fs::write(outside.path().join("work/blob.ts"), [0xff, 0xfe, 0x00]).unwrap();
    assert!(refused(&space, "import './blob.ts'").contains("blob.ts"));
}

/// A script of thousands of files is refused, not read.
#[test]
fn too_many_files_are_refused() {
    let files: Vec<(String, String)> =
        (0..1_100).map(|i| (format!("f{i}.ts"), format!("import './f{}.ts'", i + 1))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let (_outside, space) = workspace(&files);
    assert!(refused(&space, "import './f0.ts'").contains("more than 1000 files"));
}
