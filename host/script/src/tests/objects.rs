//! Generated code of enums, namespaces and parameter properties stays on their lines.

use super::{module, refusal};

#[test]
fn enums_fill_an_object() {
    assert_eq!(
        module("enum E { A, B = 5, C, D = 'd', 'e-f' = 1 }"),
        "var  E ;(function ($o1) {  $o1[$o1[\"A\"] = 0] = \"A\"; $o1[$o1[\"B\"] = 5] = \"B\"; $o1[$o1[\"C\"] = 6] = \"C\"; \
         $o1[\"D\"] = 'd'; $o1[$o1[\"e-f\"] = 1] = \"e-f\" })(E || (E = {}));"
    );
}

#[test]
fn enum_members_refer_to_each_other_and_respect_shadows() {
    let code = module("enum E { A = 1, B = A | E.A, C = ((A) => A)(2), D = f({ A }) }");
    assert!(code.contains("= $o1.A | E.A]"), "{code}");
    assert!(code.contains("((A) => A)(2)"), "{code}");
    assert!(code.contains("f({ A: $o1.A })"), "{code}");
}

#[test]
fn strings_have_no_reverse_mapping_however_they_are_written() {
    let code = module("enum E { A = 'a', B = `b`, C = A + 'c', D = ('d') as any, F = E.A }");
    assert!(!code.contains("] = \""), "{code}");
}

#[test]
fn a_member_after_a_computed_one_counts_on() {
    assert!(
        module("enum E { A = f(), B, C }")
            .contains("$o1[\"B\"] = $o1[\"A\"] + 1] = \"B\"; $o1[$o1[\"C\"] = $o1[\"B\"] + 1]")
    );
    assert!(module("enum E { A = -2, B }").contains("$o1[\"B\"] = -1]"));
}

#[test]
fn a_name_is_declared_once_however_often_it_is_reopened() {
    for (source, declarations) in [
        ("enum E { A } enum E { B = 1 }", 1),
        ("class C { } namespace C { export const x = 1 }", 0),
        ("function f() { } enum f { A }", 0),
        ("namespace N { export const x = 1 } namespace N { export const y = 1 }", 1),
        ("export enum E { A } export enum E { B = 1 }", 1),
    ] {
        let code = module(source);
        let count = code.matches("var  E ").count() + code.matches("var       N ").count();
        assert_eq!(count, declarations, "{code}");
        assert!(code.matches("export").count() <= 1, "{code}");
    }
    assert!(module("{ enum E { A } }").contains("let  E "), "blocks must not share their enums");
}

#[test]
fn namespaces_export_declarations() {
    assert_eq!(
        module("namespace A.B { export const x = 1 }"),
        "var       A   ;(function ($o1) { var B;(function ($o2) {         const x = 1;$o2.x = x; })(B = $o1.B || ($o1.B = \
         {})); })(A || (A = {}));"
    );
    let code = module("namespace A { export let x = 1 }");
    assert!(code.contains("Object.defineProperty($o1, \"x\", { get: () => x, set: $o1v => { x = $o1v; }"), "{code}");
}

#[test]
fn a_reopened_namespace_sees_what_it_exported() {
    let code = module("namespace A { export const x = 1 }\nnamespace A { f(x, { x }); (x) => x }");
    assert!(code.contains("f($o2.x, { x: $o2.x }); (x) => x"), "{code}");
}

#[test]
fn generated_names_do_not_collide() {
    assert!(module("const $o1 = 1; enum E { A }").contains("(function ($o_1)"));
}

#[test]
fn entity_aliases_run_when_used() {
    assert_eq!(module("import a = N.b; a; namespace N { }"), "var    a = N.b; a; ;              ");
    assert_eq!(module("import a = N.b; let x: a"), ";               let x   ");
}

#[test]
fn parameter_properties_are_fields() {
    assert_eq!(
        module("class A { constructor(private x: T, y, readonly z = 1) { f() } }"),
        "class A { x; z; constructor(        x   , y,          z = 1) { this.x = x; this.z = z; f() } }"
    );
    let code = module("class A extends B { constructor(private x) { g(); super(); f() } }");
    assert!(code.contains("g(); super();; this.x = x; f()"), "{code}");
    let error = refusal("class A extends B { constructor(private x) { } }");
    assert!(error.message.contains("super()"), "{}", error.message);
}

#[test]
fn lines_stay_where_they_are() {
    let source = "enum E {\n  A, // one\n  /* two */ B = `\n`.length,\n}\nnamespace N\n{\n  export enum F {\n    C\n  }\n}\nlast";
    let code = module(source);
    assert_eq!(code.lines().count(), source.lines().count());
    assert_eq!(code.lines().last(), Some("last"));
    assert!(code.lines().nth(1).is_some_and(|line| line.ends_with("; // one")), "{code}");
}
