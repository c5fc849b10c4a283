//! Resolution of imports, and its errors.

use super::{Project, value_in};
use agent_spaces::{ModuleSource, Workspace};
use agent_spaces_tests::{builder, refusal};
use serde_json::json;

/// A package's `package.json` and one file that says its own name.
fn named(text: &str) -> String {
    format!("export default '{text}'")
}

#[tokio::test]
async fn entry_points_resolve_as_in_bundlers() {
    for (package, files, specifier, expected) in [
        ("{}", ["index.js"].as_slice(), "p", "index.js"),
        (r#"{ "main": "lib/a.js" }"#, &["lib/a.js"], "p", "lib/a.js"),
        (r#"{ "main": "lib" }"#, &["lib/index.js"], "p", "lib/index.js"),
        (r#"{ "main": "a.js", "module": "b.js" }"#, &["a.js", "b.js"], "p", "b.js"),
        (r#"{ "main": "a.js", "browser": "b.js" }"#, &["a.js", "b.js"], "p", "b.js"),
        (r#"{ "browser": { "./a.js": "./b.js" }, "main": "./a.js" }"#, &["a.js", "b.js"], "p", "b.js"),
        (r#"{ "exports": "./a.js", "main": "b.js" }"#, &["a.js", "b.js"], "p", "a.js"),
        (r#"{ "exports": { "import": "./a.js", "require": "./b.js" } }"#, &["a.js", "b.js"], "p", "a.js"),
        (r#"{ "exports": { "node": "./a.js", "browser": "./b.js", "default": "./c.js" } }"#, &["b.js"], "p", "b.js"),
        (r#"{ "exports": { "node": "./a.js", "default": "./c.js" } }"#, &["a.js", "c.js"], "p", "c.js"),
        (r#"{ "exports": { "types": "./a.d.ts", "module": "./m.js", "default": "./c.js" } }"#, &["m.js"], "p", "m.js"),
        (r#"{ "exports": { "./x": "./a.js" } }"#, &["a.js"], "p/x", "a.js"),
        (r#"{ "exports": { "./*": "./lib/*.js" } }"#, &["lib/q.js"], "p/q", "lib/q.js"),
        (r#"{ "exports": ["./absent-but-valid.js", "./a.js"] }"#, &["absent-but-valid.js"], "p", "absent-but-valid.js"),
        ("{}", &["x.mjs"], "p/x", "x.mjs"),
        ("{}", &["x.ts"], "p/x.js", "x.ts"),
        (r#"{ "type": "module" }"#, &["index.js"], "p", "index.js"),
    ] {
        let project = Project::new(&[("node_modules/p/package.json", package)]);
        for file in files {
            project.write(&format!("node_modules/p/{file}"), &named(file));
        }
        let value = project.value(&format!("import it from '{specifier}'; it")).await;
        assert_eq!(value, json!(expected), "{package}");
    }
}

#[tokio::test]
async fn the_nearest_package_wins_within_the_project() {
    let project = Project::new(&[
        ("node_modules/p/index.js", "export default 'top'"),
        ("node_modules/only/index.js", "import p from 'p'; export default 'only ' + p"),
        ("capabilities/node_modules/p/index.js", "export default 'near'"),
        ("capabilities/own.ts", "import p from 'p'; export const own: string = 'own ' + p"),
        ("node_modules/outer/index.js", "export { default } from 'p'"),
        ("node_modules/outer/node_modules/p/index.js", "export default 'inner'"),
    ]);
    std::fs::create_dir_all(project.outside.path().join("node_modules/above")).unwrap();
    std::fs::write(project.outside.path().join("node_modules/above/index.js"), "export default 1").unwrap();
    let near = project.space_in("capabilities");
    let source = "import p from 'p'; import only from 'only'; import outer from 'outer'; import { own } from './own';
                  [p, only, outer, own]";
    assert_eq!(value_in(&near, source).await, json!(["near", "only top", "inner", "own near"]));
    assert_eq!(project.value("import p from 'p'; p").await, json!("top"));
    let error = project.refusal("import 'above'");
    assert_eq!(error.message, "Cannot find package 'above' (above)");
    let hint = error.hint.unwrap();
    assert!(hint.contains("/project/.., above the project's folder") && hint.contains("`npm install above`"), "{hint}");
}

#[tokio::test]
async fn a_package_maps_its_own_imports() {
    let project = Project::new(&[
        (
            "node_modules/p/package.json",
            r##"{ "imports": { "#in": "./inner.js", "#dep": "q", "#lib/*": "./lib/*.js" },
                 "browser": { "fs": false, "./node.js": "./browser.js", "path": "./path.js", "q/gone": false } }"##,
        ),
        (
            "node_modules/p/index.js",
            "import a from '#in'; import b from '#dep'; import c from '#lib/c'; import fs, { readFile } from 'fs';
             import d from './node.js'; import path from 'path'; import { gone } from 'q/gone';
             export default [a, b, c, d, path, typeof fs, readFile === undefined, gone === undefined]",
        ),
        ("node_modules/p/inner.js", "export default 'inner'"),
        ("node_modules/p/lib/c.js", "export default 'c'"),
        ("node_modules/p/node.js", "import 'fs'; export default 'node'"),
        ("node_modules/p/browser.js", "export default 'browser'"),
        ("node_modules/p/path.js", "export default 'own path'"),
        ("node_modules/q/index.js", "export default 'q'"),
    ]);
    assert_eq!(
        project.value("import it from 'p'; it").await,
        json!(["inner", "q", "c", "browser", "own path", "object", true, true])
    );
}

#[tokio::test]
async fn an_installed_package_replaces_a_node_module() {
    let project = Project::new(&[("node_modules/events/index.js", "module.exports = class EventEmitter {}")]);
    assert_eq!(project.value("import Events from 'events'; Events.name").await, json!("EventEmitter"));
}

#[test]
fn a_node_module_is_refused_with_its_import_chain() {
    let project = Project::new(&[
        ("tools.ts", "import { p } from 'p'\nexport const tool = p"),
        ("node_modules/p/index.js", "export const a = 1;\nexport { default as p } from './lib/inner.js'"),
        ("node_modules/p/lib/inner.js", "\n  import { readFile } from 'node:fs/promises'\nexport default readFile"),
    ]);
    let error = project.refusal("import * as file from './tools.ts'");
    assert_eq!(
        error.message,
        "'node:fs/promises' is a Node.js module, which is not available here \
         (tools.ts → node_modules/p/index.js → node_modules/p/lib/inner.js → node:fs/promises)"
    );
    assert!(error.hint.unwrap().contains(".json"));
    assert_eq!(error.file, "/node_modules/p/lib/inner.js");
    assert_eq!(error.position.map(|at| (at.line, at.column)), Some((2, 28)));
}

#[test]
fn an_unresolved_import_says_what_to_do() {
    let project = Project::new(&[
        ("node_modules/p/package.json", r#"{ "exports": { ".": "./index.js" } }"#),
        ("node_modules/p/index.js", "export {}"),
        ("node_modules/p/hidden.js", "export {}"),
        ("node_modules/q/index.js", "import './absent.js'"),
        ("node_modules/broken/package.json", "{ \"main\": "),
        ("node_modules/odd/index.css", ""),
    ]);
    for (source, message, hint) in [
        ("import '@scope/none'", "Cannot find package '@scope/none' (@scope/none)", "npm install @scope/none"),
        ("import 'crypto'", "'crypto' is a Node.js module, which is not available here (crypto)", "global `crypto`"),
        ("import 'p/hidden.js'", "Cannot find 'p/hidden.js' (p/hidden.js)", "is not exported"),
        ("import 'q/none'", "Cannot find 'q/none' (q/none)", "has no such file"),
        ("import 'q'", "Cannot find './absent.js' (node_modules/q/index.js → ./absent.js)", "has no such file"),
        ("import 'broken'", "Cannot find 'broken' (broken)", "package.json"),
        (
            "import 'odd/index.css'",
            "'/node_modules/odd/index.css' has an unsupported file type (odd/index.css)",
            ".mjs",
        ),
        ("import '#x'", "Cannot find '#x' (#x)", "imports"),
        (
            "import 'https://example.com/x.js'",
            "Cannot find 'https://example.com/x.js' (https://example.com/x.js)",
            "name",
        ),
    ] {
        let error = project.refusal(source);
        assert_eq!(error.message, message);
        assert!(error.hint.as_ref().unwrap().contains(hint), "{source}: {:?}", error.hint);
        assert_eq!(error.code, "import.unknown");
    }
}

#[test]
fn an_agents_script_cannot_import_packages() {
    let project = Project::new(&[("node_modules/p/index.js", "export default 1")]);
    let space = builder().workspace(Workspace::open(&project.folder()).unwrap()).build().unwrap();
    let error = refusal(&space, "main.ts", "import p from 'p'; p");
    assert_eq!((error.code.as_str(), error.message.as_str()), ("import.unknown", "Cannot find module 'p'"));
}

#[cfg(unix)]
#[tokio::test]
async fn symlinks_inside_the_project_are_followed() {
    let project = Project::new(&[
        ("node_modules/.pnpm/p@1/node_modules/p/index.js", "import q from 'q'; export default 'p ' + q"),
        ("node_modules/.pnpm/q@1/node_modules/q/index.js", "export default 'q'"),
        ("packages/mine/index.ts", "import { text } from './src/text.js'; export default text"),
        ("packages/mine/src/text.ts", "export const text: string = 'mine'"),
    ]);
    project.link(".pnpm/p@1/node_modules/p", "node_modules/p");
    project.link("../../q@1/node_modules/q", "node_modules/.pnpm/p@1/node_modules/q");
    project.link("../packages/mine", "node_modules/mine");
    assert_eq!(project.value("import p from 'p'; import mine from 'mine'; [p, mine]").await, json!(["p q", "mine"]));
}

#[cfg(unix)]
#[tokio::test]
async fn handlers_of_a_package_can_import_its_other_files() {
    let project = Project::new(&[
        ("packages/sdk/src/tools.ts", "import { text } from '../lib/text.js'; export const tool = text"),
        ("packages/sdk/lib/text.ts", "export const text: string = 'text'"),
        ("packages/other.js", "export const secret = 1"),
    ]);
    project.link("../../packages/sdk", "node_modules/@company/sdk");
    let space = project.space_in("node_modules/@company/sdk/src");
    assert_eq!(value_in(&space, "import { tool } from './tools.ts'; tool").await, json!("text"));
    let error = refusal(&space, "main.ts", "import '../../other.js'");
    assert_eq!(error.message, "'../../other.js' resolves outside its package (../../other.js)");
}

#[test]
fn a_typo_in_a_module_name_gets_a_suggestion() {
    let module = ModuleSource::Json("1".into());
    let space = Project::new(&[]).builder_in("").module("@company/module", module).build().unwrap();
    let error = refusal(&space, "main.ts", "import it from '@company/modul'; it");
    assert_eq!(error.hint.as_deref(), Some("did you mean '@company/module'?"));
}
