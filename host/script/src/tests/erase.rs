//! Types are erased, and the rest keeps its meaning.

use super::{module, refusal};

/// Source and code, line by line below each other so that the columns can be compared.
#[track_caller]
fn erases(cases: &[(&str, &str)]) {
    for (source, code) in cases {
        assert_eq!(module(source), *code);
        assert_eq!(source.len(), code.len(), "{source}");
    }
}

#[test]
#[rustfmt::skip]
fn annotations_become_spaces() {
    erases(&[
        ("let x: number = 1, y!: T;",
         "let x         = 1, y    ;"),
        ("function f<T>(this: X, a?: T, ...b: any[]): a is T { }",
         "function f   (         a    , ...b       )         { }"),
        ("f<T>(x!, y as T, z satisfies T); new A<B<C>>(); o?.f<T>()",
         "f   (x , y     , z            ); new A      (); o?.f   ()"),
        ("for (const x of y as T[]) { } try { } catch (e: unknown) { }",
         "for (const x of y       ) { } try { } catch (e         ) { }"),
        ("const é: 'u' = a as 'o'",
         "const é      = a       "),
    ]);
}

#[test]
#[rustfmt::skip]
fn classes_keep_what_runs() {
    erases(&[
        ("abstract class A<T> extends B<T> implements C, D<E> { }",
         "         class A    extends B                       { }"),
        ("class A { private readonly x: T = 1; static y?: T; declare z: T }",
         "class A { ;                x    = 1; static y;   ; ;            }"),
        ("class A { abstract f(): T; g(): T; g(x?: T) { } [k: string]: T }",
         "class A { ;                ;       g(x    ) { } ;              }"),
    ]);
}

#[test]
fn declarations_without_code_vanish() {
    erases(&[
        ("interface A { b: c }", ";                   "),
        ("export type A = B", ";                "),
        ("declare module 'x' { }", ";                     "),
        ("function f(a: b): c\nfunction f(a) { }", ";                  \nfunction f(a) { }"),
        ("export default interface A { }", ";                             "),
        ("namespace A { export type B = C }", ";                                "),
        ("import type A = require('a')", ";                           "),
    ]);
}

#[test]
fn statements_that_a_type_kept_apart_stay_apart() {
    erases(&[
        ("a\ntype T = b\n(c)", "a\n;         \n(c)"),
        ("x = a as b\n(c)", "x = a ;   \n(c)"),
        ("x = a satisfies b\n[c]", "x = a ;          \n[c]"),
        ("x = a as b\n`c`", "x = a ;   \n`c`"),
        // A binary operator continues the expression with or without the type.
        ("x = a as b\n+ c", "x = a     \n+ c"),
        ("x = (a as b)\n(c)", "x = (a     )\n(c)"),
    ]);
}

#[test]
fn class_members_that_a_type_kept_apart_stay_apart() {
    erases(&[
        ("class A { a = 1\npublic [b] = 2 }", "class A { a = 1\n;      [b] = 2 }"),
        ("class A { get: T\nx() { } }", "class A { get;  \nx() { } }"),
        ("class A { static: T\nx() { } }", "class A { static;  \nx() { } }"),
        ("class A { a = b as T\n['c'] = 1 }", "class A { a = b ;   \n['c'] = 1 }"),
    ]);
}

#[test]
fn newlines_of_erased_types_stay_valid() {
    erases(&[
        // None before `=>`.
        ("f = (a): {\nb: c\n} => d", "f = (a    \n    \n) => d"),
        // None after `async`.
        ("f = async <\nT\n>(a) => b", "f = async (\n \n  a) => b"),
        // None after `return`.
        ("function f() { return <\nT\n>(a: T) => a }", "function f() { return (\n \n  a   ) => a }"),
    ]);
}

#[test]
fn prefix_casts_become_parentheses() {
    assert_eq!(module("f = () => <T>{ a }"), "f = () => (  { a })");
    assert_eq!(module("function f() { return <\nT\n>x }"), "function f() { return (\n \n x) }");
    assert_eq!(module("<any>x.y = <A><B>z"), "(    x.y) = (  (  z))");
}

#[test]
fn javascript_is_left_alone() {
    use crate::{Language, SourceKind};
    let source = "import { unused } from 'a'\nlet type = 1\nclass A { static x }\na < b > (c)";
    let prepared = super::run(source, Language::JavaScript, SourceKind::Module);
    assert_eq!(prepared.map(|it| it.code).as_deref(), Ok(&*source.replace("'a'", "\"a\"")));
    assert!(super::run("let a: b", Language::JavaScript, SourceKind::Module).is_err());
}

#[test]
fn unsupported_syntax_is_refused_by_name() {
    let cases = [
        ("let x\n@a.b(c) class D { }", "decorators are not supported: `@a.b`", 2, 1),
        ("class A { @b c }", "decorators are not supported: `@b`", 1, 11),
        ("class A { f(@b c) { } }", "decorators are not supported: `@b`", 1, 13),
        ("class A { accessor b = 1 }", "`accessor` fields are not supported", 1, 11),
        ("import a = require('a')", "`import … = require(…)` is not supported", 1, 1),
        ("export = 1", "`export =` is not supported", 1, 1),
        ("import defer * as a from 'a'", "`import defer` and `import source` are not supported", 1, 1),
        ("let x = ;", "Unexpected token", 1, 9),
    ];
    for (source, message, line, column) in cases {
        let error = refusal(source);
        assert_eq!((error.code.as_str(), error.message.as_str()), ("script.syntax", message));
        assert_eq!(error.position.map(|at| (at.line, at.column)), Some((line, column)), "{source}");
    }
    assert!(refusal("@a class B { }").hint.is_some());
}
