//! Module formats: ES modules, CommonJS and JSON, and imports between them.

use super::{Project, failure_in, value_in};
use serde_json::json;

#[tokio::test]
async fn commonjs_has_a_default_and_statically_detected_names() {
    let project = Project::new(&[
        ("node_modules/named/index.js", "exports.a = 1; exports['b'] = 2; module.exports.c = 3"),
        ("node_modules/object/index.js", "const a = 1; module.exports = { a, b: 2, 'c': 3, 'not-a-name': 4 }"),
        (
            "node_modules/call/index.js",
            "module.exports = function hello() { return 'hello' }; module.exports.extra = 1",
        ),
        ("node_modules/text/index.js", "module.exports = 'text'"),
        ("node_modules/nothing/index.js", "module.exports = null"),
        ("node_modules/through/index.js", "module.exports = require('./lib')"),
        (
            "node_modules/through/lib/index.js",
            "__exportStar(require('named'), exports); exports.own = 'own';
          function __exportStar(from, to) { for (const key in from) to[key] = from[key] }",
        ),
    ]);
    for (source, expected) in [
        ("import it, { a, b, c } from 'named'; [it, a, b, c]", json!([{ "a": 1, "b": 2, "c": 3 }, 1, 2, 3])),
        ("import * as it from 'object'; Object.keys(it)", json!(["a", "b", "c", "default"])),
        ("import it from 'object'; it['not-a-name']", json!(4)),
        ("import call, { extra } from 'call'; [call(), extra]", json!(["hello", 1])),
        ("import text from 'text'; text", json!("text")),
        ("import nothing, * as all from 'nothing'; [nothing, Object.keys(all)]", json!([null, ["default"]])),
        ("import { a, own } from 'through'; [a, own]", json!([1, "own"])),
        ("import * as it from 'through'; Object.keys(it)", json!(["a", "b", "c", "default", "own"])),
        ("export default async () => (await import('named')).b", json!(2)),
        ("export { a as default } from 'named'", json!(1)),
    ] {
        assert_eq!(project.value(source).await, expected, "{source}");
    }
}

#[tokio::test]
async fn a_dynamic_commonjs_export_can_be_imported() {
    let project = Project::new(&[(
        "node_modules/p/index.js",
        "module.exports = make(); function make() { return { hidden: 'found' } }",
    )]);
    assert_eq!(project.value("import { hidden } from 'p'; hidden").await, json!("found"));
    let error = failure_in(&project.space(), "import { wrong } from 'p'; wrong").await;
    assert_eq!(error.message, "/node_modules/p/index.js has no export 'wrong'");
}

#[tokio::test]
async fn es_module_interop_follows_bundlers_and_node() {
    let compiled = "Object.defineProperty(exports, '__esModule', { value: true });
                    exports.default = 'the default'; exports.name = 'name'";
    let project = Project::new(&[
        ("node_modules/p/index.js", compiled),
        ("node_modules/loose/index.js", "import p, { name } from 'p'; export default [p, name]"),
        ("node_modules/strict/package.json", r#"{ "type": "module" }"#),
        ("node_modules/strict/index.js", "import p, { name } from 'p'; export default [p.default, name]"),
        ("node_modules/old/index.js", "const p = require('p'); module.exports = [p.default, p.__esModule]"),
    ]);
    for (source, expected) in [
        ("import p from 'p'; p", json!("the default")),
        ("import it from 'loose'; it", json!(["the default", "name"])),
        ("import it from 'strict'; it", json!(["the default", "name"])),
        ("import it from 'old'; it", json!(["the default", true])),
    ] {
        assert_eq!(project.value(source).await, expected, "{source}");
    }
}

#[tokio::test]
async fn the_format_follows_node_unless_the_source_is_clear() {
    for (package, file, text, expected) in [
        ("{}", "index.js", "module.exports = 'cjs'", "cjs"),
        ("{}", "index.js", "export default 'esm'", "esm"),
        (r#"{ "type": "commonjs" }"#, "index.js", "export default 'esm'", "esm"),
        (r#"{ "type": "module" }"#, "index.js", "export default typeof module", "undefined"),
        (r#"{ "type": "module", "main": "a.cjs" }"#, "a.cjs", "module.exports = 'cjs'", "cjs"),
        (r#"{ "main": "a.mjs" }"#, "a.mjs", "export default 'esm'", "esm"),
        (r#"{ "main": "a.json" }"#, "a.json", "\"json\"", "json"),
        (r#"{ "main": "a.ts" }"#, "a.ts", "const text: string = 'ts'; export default text", "ts"),
        ("{}", "index.js", "// nothing but this: export default 1\n", "object"),
    ] {
        let project = Project::new(&[("node_modules/p/package.json", package)]);
        project.write(&format!("node_modules/p/{file}"), text);
        let value = project.value("import it from 'p'; typeof it === 'string' ? it : typeof it").await;
        assert_eq!(value, json!(expected), "{package} {text}");
    }
}

#[tokio::test]
async fn dual_packages_give_each_format_its_own_entry() {
    let project = Project::new(&[
        ("node_modules/p/package.json", r#"{ "exports": { "import": "./a.mjs", "require": "./b.cjs" } }"#),
        ("node_modules/p/a.mjs", "export default 'esm'"),
        ("node_modules/p/b.cjs", "module.exports = 'cjs'"),
        ("node_modules/old/index.js", "module.exports = require('p')"),
    ]);
    assert_eq!(project.value("import p from 'p'; import old from 'old'; [p, old]").await, json!(["esm", "cjs"]));
}

#[tokio::test]
async fn commonjs_files_run_once_at_the_first_require() {
    let project = Project::new(&[
        (
            "node_modules/p/index.js",
            "log('start'); const b = require('./b'); log('middle'); exports.a = require('./a');
          exports.same = require('./a') === exports.a && require('./a.js') === exports.a; log('end');
          function log(text) { (globalThis.seen ??= []).push(text) }",
        ),
        ("node_modules/p/a.js", "globalThis.seen.push('a'); module.exports = {}"),
        ("node_modules/p/b.js", "globalThis.seen.push('b')"),
        ("node_modules/p/never.js", "globalThis.seen.push('never')"),
        ("node_modules/q/index.js", "if (globalThis.absent) require('p/never'); exports.q = 1"),
    ]);
    let source = "import { same } from 'p'; import 'q'; [same, globalThis.seen]";
    assert_eq!(project.value(source).await, json!([true, ["start", "b", "middle", "a", "end"]]));
}

#[tokio::test]
async fn cycles_see_partial_exports() {
    let project = Project::new(&[
        ("node_modules/p/index.js", "exports.first = 1; const b = require('./b'); exports.second = b.seen;"),
        ("node_modules/p/b.js", "const p = require('./index'); exports.seen = Object.keys(p).join()"),
        (
            "node_modules/esm/index.mjs",
            "import { later } from './b.mjs'; export const a = () => 'a'; export const b = later",
        ),
        ("node_modules/esm/b.mjs", "import { a } from './index.mjs'; export const later = () => a()"),
        ("node_modules/esm/package.json", r#"{ "main": "index.mjs" }"#),
    ]);
    assert_eq!(project.value("import p from 'p'; p").await, json!({ "first": 1, "second": "first" }));
    assert_eq!(project.value("import { b } from 'esm'; b()").await, json!("a"));
}

/// Node refuses this; bundlers allow it if the ES module is imported first.
#[tokio::test]
async fn es_modules_and_commonjs_can_import_each_other() {
    let project = Project::new(&[
        (
            "node_modules/p/index.mjs",
            "export { early, later } from './old.cjs'; export * from './star.cjs';
             export const name = 'name'; export function hoisted() { return 'hoisted' }",
        ),
        (
            "node_modules/p/old.cjs",
            "const p = require('./index.mjs'); exports.early = p.hoisted(); exports.later = () => p.name",
        ),
        ("node_modules/p/star.cjs", "const p = require('./index.mjs'); exports.star = () => p.early + typeof p.star"),
        ("node_modules/p/package.json", r#"{ "main": "index.mjs" }"#),
    ]);
    let source = "import { early, later, star } from 'p'; [early, later(), star()]";
    assert_eq!(project.value(source).await, json!(["hoisted", "name", "hoistedfunction"]));
}

#[tokio::test]
async fn a_module_disabled_for_browsers_is_an_object_with_the_imported_names() {
    let project = Project::new(&[
        ("node_modules/p/package.json", r#"{ "browser": { "fs": false }, "type": "module" }"#),
        (
            "node_modules/p/index.js",
            "import fs, { open } from 'fs'; import { close } from 'fs'; import * as all from 'fs';
             export default [fs === all.default, open === undefined, Object.keys(all)]",
        ),
    ]);
    assert_eq!(
        project.value("import it from 'p'; it").await,
        json!([true, true, ["close", "default", "load", "open"]])
    );
}

#[tokio::test]
async fn commonjs_can_require_es_modules_and_json() {
    let project = Project::new(&[
        ("node_modules/p/index.js", "const esm = require('./esm.mjs'), data = require('./data.json'), again = require('./data');
          module.exports = [esm.default, esm.name, esm.__esModule, Object.keys(esm), data, data === again, require('p2')]"),
        ("node_modules/p/esm.mjs", "export default 'default'; export const name = 'name'"),
        ("node_modules/p/data.json", r#"{ "list": [1, 2] }"#),
        ("node_modules/p2/index.mjs", "const f = 'whole'; export { f as 'module.exports' }; export default 1"),
        ("node_modules/p2/package.json", r#"{ "main": "index.mjs" }"#),
    ]);
    assert_eq!(
        project.value("import it from 'p'; it").await,
        json!(["default", "name", true, ["default", "name"], { "list": [1, 2] }, true, "whole"])
    );
}

#[tokio::test]
async fn an_unresolved_require_fails_only_when_reached() {
    let project = Project::new(&[
        ("node_modules/p/index.js", "let fs; try { fs = require('fs') } catch (error) { exports.caught = error.code + ': ' + error.message }
          exports.open = () => require('node:fs'); exports.pick = (name) => require(name); exports.load = (name) => import(name);
          exports.lazy = () => import('none'); exports.where = require.resolve"),
        ("node_modules/old/index.js", "\nconst fs = require('fs')"),
        ("node_modules/mode/index.js", "module.exports = process.env.NODE_ENV === 'production' ? require('./a') : require('./b');
          var process"),
        ("node_modules/mode/a.js", "module.exports = 'production'"),
        ("node_modules/mode/b.js", "module.exports = 'development'"),
    ]);
    let caught = project.value("import { caught } from 'p'; caught").await;
    assert_eq!(
        caught,
        json!(
            "MODULE_NOT_FOUND: Cannot find module 'fs': 'fs' is a Node.js module, which is not available here; \
               handlers have no files: import data as a .json file, or take it as a parameter (node_modules/p/index.js → fs)"
        )
    );
    let message = |call: &str| {
        let source = format!(
            "import * as p from 'p'; let told; try {{ await {call} }} catch (error) {{ told = error.message }}\ntold"
        );
        let space = project.space();
        async move { value_in(&space, &source).await.as_str().unwrap().to_owned() }
    };
    assert!(message("p.open()").await.contains("'node:fs' is a Node.js module"));
    assert!(message("p.pick('ms')").await.contains("only what a file names in the text of require('…') is here"));
    assert!(message("p.where('ms')").await.contains("has no files to look at"));
    assert!(message("p.lazy()").await.contains("Cannot find package 'none'"));
    assert!(message("p.load('../secret.js')").await.contains("secret"), "it is not found, under the name that it has");
    let error = project.refusal("import 'old'");
    assert_eq!(error.message, "'fs' is a Node.js module, which is not available here (node_modules/old/index.js → fs)");
    assert_eq!(error.position.map(|at| (at.line, at.column)), Some((2, 20)));
}

#[tokio::test]
async fn an_error_is_located_in_the_packages_source() {
    let project = Project::new(&[
        (
            "node_modules/p/index.js",
            "'use strict'\n\nexports.fail = function () {\n  const nothing = undefined\n  return nothing.member\n}",
        ),
        ("node_modules/q/index.js", "module.exports = function () {\n  throw new TypeError('as written')\n}"),
    ]);
    let error = failure_in(&project.space(), "import { fail } from 'p'; fail()").await;
    let first = error.location.unwrap();
    assert_eq!((first.file.as_str(), first.line), ("/node_modules/p/index.js", 5), "{:?}", error.message);
    let error = failure_in(&project.space(), "import fail from 'q'; fail()").await;
    let first = error.location.unwrap();
    assert_eq!(
        (first.file.as_str(), first.line, error.message.as_str()),
        ("/node_modules/q/index.js", 2, "as written")
    );
}
