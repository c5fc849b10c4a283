//! Uses of imports and of the global `fetch`.

use super::super::{Language, MAX_CALL_SITES, SourceKind};
use super::{run, script};
use agent_spaces_types::call_site::CallKind;

const IMPORTS: &str =
    "import { fs, other as o, getWeather } from 'm'; import * as all from 'n'; import whole from 'd'\n";

/// The uses in a source below [`IMPORTS`], as `column path`; `~` marks mentions.
#[track_caller]
fn uses(source: &str) -> Vec<String> {
    let prepared = script(&format!("{IMPORTS}{source}"));
    let show = |kind, path: &str| format!("{}{path}", if kind == CallKind::Mention { "~" } else { "" });
    prepared.calls.iter().map(|call| format!("{} {}", call.position.column, show(call.kind, &call.path))).collect()
}

#[test]
fn every_form_of_call_is_reported_at_its_callee() {
    for (source, expected) in [
        ("fs.remove(1)", "1 fs.remove"),
        ("  await fs.remove(1)", "9 fs.remove"),
        ("getWeather()", "1 getWeather"),
        ("o.remove()", "1 other.remove"),
        ("all.fs.remove()", "1 fs.remove"),
        ("all.getWeather()", "1 getWeather"),
        ("whole.remove()", "1 default.remove"),
        ("fs.$resources.read()", "1 fs.$resources.read"),
        ("fs?.remove()", "1 fs.remove"),
        ("fs.remove?.()", "1 fs.remove"),
        ("fs?.a?.b.c?.()", "1 fs.a.b.c"),
        ("(fs?.remove)()", "1 fs.remove"),
        ("fs['remove']()", "1 fs.remove"),
        ("fs?.[`remove`]()", "1 fs.remove"),
        ("fs[('remove' as any)]()", "1 fs.remove"),
        ("fs!.remove!()", "1 fs.remove"),
        ("fs?.a!.b()", "1 fs.a.b"),
        ("((fs)).remove()", "1 fs.remove"),
        ("x = (fs as any).remove()", "5 fs.remove"),
        ("x = (<any>fs).remove()", "5 fs.remove"),
        ("(fs.remove as any satisfies F)()", "1 fs.remove"),
        ("fs.remove<T>()", "1 fs.remove"),
        ("(fs.remove<T>)()", "1 fs.remove"),
        ("fs.remove`a`", "1 fs.remove"),
        ("fs\n  .remove()", "1 fs.remove"),
        ("fs.remove().then(x)", "1 fs.remove"),
        ("fs.remove.call(null, 1)", "1 fs.remove.call"),
        ("'日本😀'; fs.remove()", "8 fs.remove"),
        ("return fs.remove()", "8 fs.remove"),
    ] {
        assert_eq!(uses(source), [expected], "{source}");
    }
}

#[test]
fn the_module_and_the_place_are_those_of_the_author() {
    let source = "// é\nenum E { A }; new X(E.A); fs.remove(); import { fs } from './m.ts'";
    let told: Vec<_> =
        script(source).calls.into_iter().map(|it| (it.module, it.position.line, it.position.column)).collect();
    assert_eq!(told, [("./m.ts".to_owned(), 2, 27)]);
    let javascript = run("import { fs } from 'm'; fs.remove()", Language::JavaScript, SourceKind::Module).unwrap();
    assert_eq!(javascript.calls.len(), 1);
}

#[test]
fn reads_are_mentions() {
    for (source, expected) in [
        ("const remove = fs.remove; remove()", ["16 ~fs.remove"].as_slice()),
        ("list.map(fs.remove)", &["10 ~fs.remove"]),
        ("list.map(getWeather)", &["10 ~getWeather"]),
        ("use(fs, all)", &["5 ~fs", "9 ~"]),
        ("x = { fs }", &["7 ~fs"]),
        ("fs[name]()", &["1 ~fs"]),
        ("fs.a[name].b()", &["1 ~fs.a"]),
        ("fs['a.b']()", &["1 ~fs"]),
        ("fs['\\x1b[31m']()", &["1 ~fs"]),
        ("(0, fs.remove)()", &["5 ~fs.remove"]),
        ("(a || fs).remove()", &["7 ~fs"]),
        ("(await fs).remove()", &["8 ~fs"]),
        ("new fs.Thing()", &["5 ~fs.Thing"]),
        ("typeof fs.remove", &["8 ~fs.remove"]),
        ("class A extends all.Base<T> { }", &["17 ~Base"]),
        ("import remove = fs.remove; remove()", &["17 ~fs"]),
    ] {
        assert_eq!(uses(source), expected, "{source}");
    }
    assert_eq!(script("import('m').then(x => x.fs.remove())").calls.len(), 1);
    let exports = "import { fs } from 'm'; export { fs }; export { a as b, type T } from 'm'; export * from 'm'";
    let exports = run(exports, Language::TypeScript, SourceKind::Module).unwrap();
    let paths: Vec<&str> = exports.calls.iter().map(|call| call.path.as_str()).collect();
    assert_eq!(paths, ["fs", "a", ""]);
}

#[test]
fn a_destructuring_mentions_the_members_that_it_reads() {
    for (source, expected) in [
        ("const { remove } = fs; remove()", ["9 ~fs.remove"].as_slice()),
        ("const { remove: r = x, 'list': l } = fs!", &["9 ~fs.remove", "24 ~fs.list"]),
        ("let { fs: { remove } = {}, ['list']: l } = all", &["13 ~fs.remove", "29 ~list"]),
        ("var { $resources: { read } } = fs, x = fs.list()", &["21 ~fs.$resources.read", "40 fs.list"]),
        ("const { a, ...rest } = fs", &["9 ~fs.a", "24 ~fs"]),
        ("const { [name]: a } = fs", &["23 ~fs"]),
        ("const { } = fs", &["13 ~fs"]),
        ("const [a] = fs", &["13 ~fs"]),
        ("const { a } = fs.list()", &["15 fs.list"]),
        ("const { a } = b || fs", &["20 ~fs"]),
        ("const { a } = await import('m')", &["21 ~"]),
    ] {
        assert_eq!(uses(source), expected, "{source}");
    }
}

#[test]
fn a_shadowed_name_is_no_use() {
    for source in [
        "function f(fs) { fs.remove() }",
        "f(fs => fs.remove())",
        "f(({ fs }) => fs.remove())",
        "f((a, b = () => a.fs.remove()) => b)",
        "{ let fs; fs.remove(); const { a } = fs }",
        "function f() { fs.remove(); { var fs } }",
        "function f() { fs.remove(); function fs() { } }",
        "try { } catch (fs) { fs.remove() }",
        "for (const fs of x) fs.remove()",
        "x = class fs { y = fs.remove() }",
        "x = function fs() { fs.remove() }",
        "namespace N { export const fs = x; } namespace N { fs.remove() }",
        "enum E { fs = 1, b = fs }",
        "x.fs.remove(); x = { fs: 1 }; this.fs.remove()",
        "type A = typeof fs.remove; let a: typeof fs; interface B { fs: A }",
        "declare const b: typeof fs; x as typeof fs.remove",
    ] {
        assert_eq!(uses(source), [""; 0], "{source}");
    }
    for source in [
        "{ let fs } fs.remove()",
        "function f() { fs.remove() }",
        "f((a = fs.remove()) => { let fs })",
        "function f(a = fs.remove()) { var fs }",
        "switch (fs.remove()) { case 1: let fs }",
        "x = { [fs.remove()](fs) { } }",
        "namespace N { fs.remove() }",
    ] {
        assert_eq!(uses(source).len(), 1, "{source}");
    }
    assert!(script("import type { fs } from 'm'; import { type o } from 'm'; fs.a(); o.a()").calls.is_empty());
}

/// A default of a parameter is outside of the body, so its import is needed.
#[test]
fn a_parameter_does_not_see_what_the_body_declares() {
    let code = script("import { a } from 'm'; export const f = (b = a()) => { let a = 1; return a }").code;
    assert!(code.starts_with("import { a } from \"m\";"), "{code}");
}

#[test]
fn nested_calls_are_in_the_order_of_the_source() {
    assert_eq!(uses("fs.a(o.b, fs.c(fs.d))"), ["1 fs.a", "6 ~other.b", "11 fs.c", "16 ~fs.d"]);
    assert_eq!(uses("fs.a(fs.b().c)[fs.d].e(fs.f)"), ["1 fs.a", "6 fs.b", "16 ~fs.d", "24 ~fs.f"]);
}

#[test]
fn reported_uses_are_bounded() {
    let many = format!("{{ let fs; {} }}\n{}", "fs.a();".repeat(100), "fs.remove();".repeat(MAX_CALL_SITES + 1));
    let told = uses(&many);
    assert_eq!(told.len(), MAX_CALL_SITES);
    assert!(told.iter().all(|told| told.ends_with(" fs.remove")));
    let has_more = |count| script(&format!("{IMPORTS}{}", "fs.remove();".repeat(count))).has_more_calls;
    assert!(has_more(MAX_CALL_SITES + 1) && !has_more(MAX_CALL_SITES));
    let long = "x".repeat(2_000);
    assert_eq!(uses(&format!("fs.a.{long}.b()")), ["1 ~fs.a"]);
    assert_eq!(uses(&format!("const {{ a: {{ {long}: b }} }} = fs")), ["9 ~fs.a"]);
    let longest = uses(&format!("fs{}()", ".abc".repeat(5_000)));
    assert!(longest.iter().all(|told| told.len() < 1_100) && longest.len() == 1);
    let names = format!("import {{ {long} as a, 'b c' as b }} from 'm'; import {{ c }} from './{long}'; a(); b(); c()");
    assert!(script(&names).calls.is_empty());
}

#[test]
fn fetch_is_used_where_nothing_but_the_global_has_its_name() {
    for source in [
        "fetch('a')",
        "await (fetch as any)('a')",
        "const get = fetch",
        "typeof fetch",
        "x = { fetch }",
        "{ let fetch } fetch()",
        "declare const fetch: F; fetch()",
        "import type { fetch } from 'm'; fetch()",
    ] {
        assert!(script(source).uses_fetch, "{source}");
    }
    for source in [
        "x.fetch(); x = { fetch: 1 }; x['fetch']",
        "let a: typeof fetch; type B = typeof fetch",
        "function fetch() { } fetch()",
        "f(fetch => fetch())",
        "import { fetch } from 'm'; fetch()",
        "import { get as fetch } from 'm'; fetch()",
        "import * as fetch from 'm'; fetch.a()",
        "fetch: for (;;) break fetch",
        "'fetch()' // fetch()",
    ] {
        assert!(!script(source).uses_fetch, "{source}");
    }
}
