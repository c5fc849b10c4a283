//! Statements that can fail get a landmark, `0;`, and nothing else does.

use super::super::{Language, SourceKind};
use super::{module, module_with_landmarks, run, script};

/// Each source holds `|` where a landmark is expected, `‹` and `›` where it opens and closes a block.
#[track_caller]
fn marks(sources: &[&str]) {
    for marked in sources {
        let source = marked.replace(['|', '‹', '›'], "");
        let code = marked.replace('|', "0;").replace('‹', "{0;").replace('›', "}");
        assert_eq!(module_with_landmarks(&source), code);
    }
}

#[test]
fn declarations_that_read_something_are_marked() {
    marks(&[
        "|const a = b.c",
        "let a; |let b = c, d; |var e = 1, f = g.h",
        "|const { a } = {}; |const [b] = [1]",
        "|export const a = b.c",
        "|await using a = b.c; { |using d = e.f }",
        "|const a = `${b}`; |const c = { ...d }; |const e = { [f]: 1 }; |const g = [...h]; |const i = -j",
        "|class A extends B { }",
        "|export class A extends b.c { }",
        "|export default b.c",
        "|export default class extends B { }",
    ]);
}

#[test]
fn infallible_statements_are_not_marked() {
    marks(&[
        "let a; const b = 1, c = -1, d = 'e', f = `g`, h = /i/, j = 1n, k = null, l = !true",
        "const a = () => b.c, d = function () { }, e = [1, , { f: 2, g() { }, get h() { i() } }]",
        "function f() { return }",
        "function f() { return 1 }",
        "function f() { return () => a.b }",
        "function f() { }",
        "class A { b = c.d; [e] = 1; static f = g.h }",
        "a.b; throw c.d; ; { } debugger",
        "try { } catch { } finally { }",
        "do { } while (a.b)",
        "export default a",
        "export default () => a.b",
        "export default function () { }",
        "a = b => b.c",
    ]);
}

#[test]
fn statements_that_test_or_return_are_marked() {
    marks(&[
        "|if (a.b) { }",
        "|while (a.b) { }",
        "|for (;;) { }",
        "|for (const a of b.c) { }",
        "|for (const a in b.c) { }",
        "|switch (a.b) { }",
        "function f() { |return a.b }",
        "function f() { |return (\n  a.b\n) }",
    ]);
}

#[test]
fn every_list_of_statements_has_its_landmarks() {
    marks(&[
        "{ |const a = b.c }",
        "a = () => { |return b.c }",
        "a = { b() { |return c.d }, get e() { |return f.g }, h: async function* () { |const i = j.k } }",
        "class A { constructor() { |const b = c.d } static { |const e = f.g } #h() { |return i.j } }",
        "|switch (a) { case 1: |const b = c.d; default: |if (e) f }",
        "try { |const a = b.c } catch (d) { |const e = f.g } finally { |const h = i.j }",
        "|for (;;) { |const a = b.c }",
    ]);
}

#[test]
fn a_statement_alone_on_its_line_or_after_else_gets_a_block() {
    marks(&[
        "|if (a) var b = c.d",
        "|if (a)\n  ‹var b = c.d›\n  else\n  ‹if (e) f()›",
        "|if (a) { } else ‹if (b) { } else ‹if (c) { }››",
        "|for (;;)\n  ‹if (a) b(); else c()›",
        "|while (a)\n  ‹for (;;)\n  ‹switch (b) { }››",
        "do\n  ‹if (a) b()›\n  while (c)",
        "|if (a)\n  b()",
        "|if (a)\n  { }",
    ]);
}

#[test]
fn labels_stay_with_their_loops() {
    marks(&[
        "|a: for (;;) continue a",
        "|a:\nb:\nfor (;;) continue a",
        "|if (a)\n  ‹b: for (;;) continue b›",
        "a: { |const b = c.d }",
    ]);
}

#[test]
fn directives_stay_first() {
    marks(&[
        "'use strict'\n|const a = b.c",
        "'use strict'; 'x'\n|if (a) { }",
        "function f() { 'use strict'\n|return a.b }",
    ]);
}

#[test]
fn statements_without_semicolons_stay_apart() {
    marks(&[
        "a\n|const b = c.d",
        "a = b\n|if (c) d\n|for (;;) { }",
        "a++\n|if (b) { }",
        "function f() { return\n|if (a) { } }",
        "|for (;;) { break\n|if (a) { } }",
        "function* f() { yield\n|if (a) { } }",
        "do a()\nwhile (b) |const c = d.e",
        "do { } while (b) |if (c) { }",
        "function f() { } |const a = b.c",
        "a /* b\n*/ |const c = d.e",
        "a // b\n|const c = d.e",
    ]);
}

#[test]
fn a_landmark_starts_a_run_of_characters() {
    assert_eq!(module_with_landmarks("a;const b = c.d"), "a; 0;const b = c.d");
    assert_eq!(module_with_landmarks("{if (a) b}"), "{ 0;if (a) b}");
    assert_eq!(module_with_landmarks("a;/**/if (a) b"), "a;/**/ 0;if (a) b");
    assert_eq!(module_with_landmarks("a;\u{a0}if (a) b"), "a;\u{a0} 0;if (a) b");
}

#[test]
fn erased_statements_have_no_landmark() {
    for source in [
        "declare const a: b; export declare let c: d",
        "declare class A extends B { }",
        "type A = B; interface C { }",
        "import a from 'b'; import type c from 'd'; export * from 'e'; export { a }",
        "import a = N.b",
        "function f(): void; function f() { }",
        "enum A { B = c.d }",
    ] {
        assert_eq!(module(source), module_with_landmarks(source));
    }
}

/// Other code may be inserted at the same offset; the landmark comes after it.
#[test]
fn a_landmark_is_the_last_thing_before_its_statement() {
    assert_eq!(script("return a.b").code, "export default (async () => { 0;return a.b})();");
    assert_eq!(
        script("import a from 'a'\nif (a)\n  return <any>a.b").code,
        ";                \nimport a from \"a\"; export default (async () => { 0;if (a)\n  {0;return (    a.b)}})();"
    );
    assert_eq!(
        module_with_landmarks("class A { constructor(private b) {const c = d.e} }"),
        "class A { b; constructor(        b) { this.b = b; 0;const c = d.e} }"
    );
    assert_eq!(
        module_with_landmarks("class A { constructor(private b) { 'use strict';return c.d } }"),
        "class A { b; constructor(        b) { 'use strict';; this.b = b; 0;return c.d } }"
    );
    assert_eq!(
        module_with_landmarks("namespace A { export const b = c.d;const e = f.g }"),
        "var       A ;(function ($o1) {  0;       const b = c.d;;$o1.b = b; 0;const e = f.g })(A || (A = {}));"
    );
    assert_eq!(module_with_landmarks("import a = N.b; a"), "0;var    a = N.b; a");
    assert_eq!(module_with_landmarks("abstract class A extends B { }"), "0;         class A extends B { }");
}

#[test]
fn javascript_has_landmarks_too() {
    let prepared = run("const a = b.c", Language::JavaScript, SourceKind::Module);
    assert_eq!(prepared.map(|it| it.code), Ok("0;const a = b.c".to_owned()));
}
