//! Values of scripts.

use super::super::{Language, SourceKind};
use super::{refusal, run, script};

#[test]
fn the_last_expression_statement_is_the_value() {
    for (source, expression) in [
        ("1; main()", "main()"),
        ("main();", "main();"),
        ("x // after", "x // after"),
        ("({ a: 1 })", "({ a: 1 })"),
        ("await x", "await x"),
        ("`a\nb`", "`a\nb`"),
        ("x\nfunction x() { }\nif (y) { z }", "x\nfunction x() { }\n0;if (y) { z }"),
        ("'use strict'\nx", "x"),
        ("a, b;", "( a, b);"),
    ] {
        let prepared = script(source);
        let (before, after) =
            prepared.code.split_once("export { $o1 as default }; let $o1; $o1 = ").unwrap_or_default();
        assert_eq!(after, expression, "{source}");
        assert!(source.starts_with(before), "{before}");
        assert!(prepared.has_default_export && !prepared.call_default);
    }
}

#[test]
fn a_default_export_is_left_and_called() {
    for source in [
        "export default function main() { }\nmain()",
        "const a = 1; export { a as default }; a",
        "export { default } from 'a'\n1",
        "export default class { }",
    ] {
        let prepared = script(source);
        assert!(prepared.call_default && prepared.has_default_export, "{source}");
        assert_eq!(prepared.code.replace('"', "'"), source);
    }
    let prepared = script("interface A { }\nexport default A\n3");
    assert!(!prepared.call_default && prepared.has_default_export);
}

#[test]
fn a_top_level_return_makes_the_script_a_function() {
    assert_eq!(script("return 1 // one").code, "export default (async () => { return 1})(); // one");
    assert_eq!(
        script(
            "import a, { b as c, T } from 'x'\nlet d: T = a\nimport 'y'\nfor (;;) { try { return [c, d] } finally { } }"
        )
        .code,
        ";                               \nimport a, { b as c } from \"x\"; import \"y\"; export default (async () => { 0;let d    = \
         a\n;         \n0;for (;;) { try { 0;return [c, d] } finally { } }})();"
    );
    assert!(script("export type A = 1\nreturn 1").has_default_export);
    assert_eq!(
        script("#!/bin/x\n'use strict'\nreturn").code,
        "///bin/x\n'use strict'\nexport default (async () => { return})();"
    );
}

#[test]
fn a_return_inside_a_function_is_not_the_scripts() {
    for source in [
        "function f() { return 1 }",
        "const f = () => { return 1 }",
        "class A { m() { return 1 } get x() { return 1 } }",
    ] {
        assert!(!script(source).has_default_export, "{source}");
    }
}

#[test]
fn no_expression_no_value() {
    for source in ["", "const x = 1", "'use strict'", "// x", "if (a) { b }", "type A = 1"] {
        assert!(!script(source).has_default_export, "{source}");
    }
}

#[test]
fn returns_that_cannot_be_the_value_are_refused() {
    let error = refusal("export const a = 1\n  return a");
    assert!(error.message.contains("exports cannot also return"), "{}", error.message);
    assert_eq!(error.position.map(|at| (at.line, at.column)), Some((2, 3)));
    assert!(refusal("export default 1; return 2").message.contains("cannot also return"));
    assert!(refusal("namespace N { return 1 }").code == "script.syntax");
    let module = run("return 1", Language::TypeScript, SourceKind::Module).map(|it| it.code);
    assert_eq!(module.map_err(|error| error.message), Err("a module cannot return".to_owned()));
}

#[test]
fn a_module_keeps_its_exports_and_gets_none() {
    let prepared = run("export const a = 1\na", Language::TypeScript, SourceKind::Module);
    let kept = prepared.map(|it| (it.code, it.has_default_export, it.call_default));
    assert_eq!(kept, Ok(("export const a = 1\na".to_owned(), false, false)));
}
