//! Imports and exports.

use super::super::{ImportedName, Language, SourceKind, prepare};
use super::{module, refusal, script};
use agent_spaces_types::code::Code;
use agent_spaces_types::script_error::ScriptError;

/// The imports that remain, as `specifier: names`.
fn sites(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let result = prepare(source, "test.ts", Language::TypeScript, SourceKind::Module, &mut |site| {
        let names: Vec<&str> = site
            .names
            .iter()
            .map(|name| match name {
                ImportedName::Namespace => "*",
                ImportedName::Default => "default",
                ImportedName::Named(name) => name,
            })
            .collect();
        found.push(format!("{}: {}", site.specifier, names.join(" ")));
        Ok(site.specifier.to_owned())
    });
    assert!(result.is_ok(), "{source}");
    found
}

#[test]
fn names_used_only_as_types_are_dropped() {
    assert_eq!(
        module("import { trains, Trip } from '@capabilities/x'\nlet a: Trip = trains.get()"),
        "import { trains,      } from \"@capabilities/x\"\nlet a       = trains.get()"
    );
    assert_eq!(module("import A, { b } from 'c'; b; let x: A"), "import    { b } from \"c\"; b; let x   ");
    assert_eq!(module("import A, * as B from 'c'; A; let x: B.C"), "import A         from \"c\"; A; let x     ");
    assert_eq!(module("import { type A, b } from 'c'; b"), "import {         b } from \"c\"; b");
}

#[test]
fn an_import_of_types_only_is_never_resolved() {
    assert_eq!(sites("import { A } from 'a'; let x: A"), [""; 0]);
    assert_eq!(sites("import type { A } from 'a'; import { type B } from 'b'; import {} from 'c'"), [""; 0]);
    assert_eq!(sites("export type { A } from 'a'; export { type B } from 'b'; export type * from 'c'"), [""; 0]);
    assert_eq!(sites("import { A } from 'a'; type B = typeof A; class C implements A { }"), [""; 0]);
    assert_eq!(sites("import './a'"), ["./a: "]);
}

#[test]
fn shadowed_names_are_not_uses() {
    let source = |rest: &str| format!("import {{ A }} from 'a'; {rest}");
    for rest in [
        "function f(A) { return A }",
        "f(A => A)",
        "{ let A; A }",
        "function f() { g(A); { var A } }",
        "try { } catch (A) { A }",
        "for (const A of b) A",
        "x = class A { y = A }",
        "x = function A() { A }",
        "A: for (;;) break A",
        "b.A; c = { A: 1 }; d = { A() { } }",
        "({ A: x } = y)",
    ] {
        assert_eq!(sites(&source(rest)), [""; 0], "{rest}");
    }
    for rest in [
        "function f() { return A }",
        "{ let A } A",
        "export { A }",
        "x = { A }",
        "({ A } = y)",
        "class B extends A<C> { }",
        "class B { [A]: C }",
        "(b = A) => b",
        "enum E { B = A }",
        "namespace N { f(A) }",
        "typeof A",
        "export default A",
        "A`x`",
    ] {
        assert_eq!(sites(&source(rest)), ["a: A"], "{rest}");
    }
}

#[test]
fn every_form_of_import_is_resolved_with_its_names() {
    assert_eq!(
        sites("import a, { b, default as c, 'd e' as f } from '1'; import * as g from '2'; [a, b, c, f, g]"),
        ["1: default b default d e", "2: *"]
    );
    assert_eq!(
        sites(
            "export { a, default as b } from '1'; export * from '2'; export * as c from '3'; import('4'); import(`5`)"
        ),
        ["1: a default", "2: *", "3: *", "4: *", "5: *"]
    );
}

#[test]
fn the_resolved_name_replaces_the_specifier_as_one_literal() {
    let source = "import a from 'x' with { type: 'json' }; a; import('y', { with: { type: 'json' } })";
    let code = prepare(source, "f", Language::TypeScript, SourceKind::Module, &mut |_| Ok("a\"b\n".to_owned()))
        .map(|it| it.code);
    assert_eq!(
        code.as_deref(),
        Ok("import a from \"a\\\"b\\n\"                      ; a; import(\"a\\\"b\\n\"                            )")
    );
}

#[test]
fn an_error_of_resolve_is_returned() {
    let refused = prepare("import 'a'", "f.ts", Language::TypeScript, SourceKind::Script, &mut |site| {
        Err(ScriptError::new(Code::ImportUnknown, "f.ts", "no such module").at(site.position).hint("try `b`"))
    });
    let error = refused.map(|it| it.code).unwrap_err();
    assert_eq!((error.code.as_str(), error.to_string().as_str()), ("import.unknown", "no such module"));
    assert_eq!(error.position.map(|at| (at.line, at.column)), Some((1, 8)));
}

#[test]
fn a_computed_import_is_denied_before_anything_runs() {
    let error = refusal("const name = 'a'\nawait import(name)");
    assert_eq!(error.code, "import.denied");
    assert_eq!(error.position.map(|at| (at.line, at.column)), Some((2, 14)));
    assert!(error.hint.is_some_and(|hint| hint.contains("import('./data.ts')")));
    assert_eq!(refusal("import(`a${b}`)").code, "import.denied");
    assert_eq!(refusal("import('a' + 'b')").code, "import.denied");
}

#[test]
fn exported_types_vanish_and_values_stay() {
    assert_eq!(
        module("interface A { }\nclass B { }\nexport { A, B, type C }"),
        ";              \nclass B { }\nexport {    B,        }"
    );
    assert_eq!(module("type A = 1; export { A }"), ";           ;           ");
    assert_eq!(module("interface A { }\nexport default A"), ";              \n;               ");
    assert_eq!(module("export {}"), "export {}");
    assert_eq!(module("enum A { } export { A }").matches("export { A }").count(), 1);
}

#[test]
fn unused_imports_are_capped() {
    let names: String = (0..1_000).map(|number| format!("name{number}, ")).collect();
    let prepared = script(&format!("import {{ {names} }} from 'x'; import {{ later }} from 'y'; 1"));
    assert_eq!(prepared.unused.iter().map(|import| import.names.len()).collect::<Vec<_>>(), [100]);
    assert!(!prepared.unused[0].is_whole);
    let imports: String = (0..1_000).map(|number| format!("import a{number} from 'm{number}';")).collect();
    let prepared = script(&imports);
    assert_eq!((prepared.unused.len(), prepared.elided.len()), (20, 100));
}
