//! What failed is found from the place that the engine tells. What it tells is in `tests/error_reports.rs`.

use super::super::{Failing, Told};

/// Where something failed that the engine tells at `|`, as the code from there on.
#[track_caller]
fn meant(marked: &str, failing: Failing<'_>) -> String {
    let told = marked.find('|').unwrap_or_default() as u32;
    let code = marked.replace('|', "");
    let found = Told::new(&code, &[told]).and_then(|it| it.meant(told, failing));
    found.map_or_else(|| "nothing".to_owned(), |meant| code[meant.offset as usize..].to_owned())
}

#[test]
fn a_call_is_told_at_the_last_note_in_it() {
    for (code, expected) in [
        ("a.b.|work()", "work()"),
        ("a.b.work(|c)", "work(c)"),
        ("a.b.work( |1)", "work( 1)"),
        ("work(c, |d)", "work(c, d)"),
        ("work(1, c + |d.e)", "work(1, c + d.e)"),
        ("work |`a`", "work `a`"),
        ("new |Thing()", "new Thing()"),
        ("new Thing(|a)", "new Thing(a)"),
        ("x.y?.|work()", "work()"),
        ("x.|list.map", "nothing"),
    ] {
        assert_eq!(meant(code, Failing::NotAFunction), expected, "{code}");
    }
}

#[test]
fn the_function_that_was_called_tells_one_call_from_another() {
    assert_eq!(meant("outer(inner(|x))", Failing::Inside("outer")), "outer(inner(x))");
    assert_eq!(meant("outer(inner(|x))", Failing::Inside("inner")), "inner(x))");
    assert_eq!(meant("outer(inner(|x))", Failing::Inside("<anonymous>")), "inner(x))");
    assert_eq!(meant("a.b(new Error(|x))", Failing::Made("Error")), "new Error(x))");
    assert_eq!(meant("a.b(|x)", Failing::Made("Error")), "nothing");
    assert_eq!(meant("|a.b.c", Failing::Inside("get c")), "c");
}

#[test]
fn a_property_is_found_by_its_name() {
    assert_eq!(meant("f(); |a.b.c.d", Failing::Read("c")), "c.d");
    assert_eq!(meant("0;const x = { y: |a.b\n.c }", Failing::Read("c")), "c }");
    assert_eq!(meant("|a.b[0].c", Failing::Read("0")), "0].c");
    assert_eq!(meant("a.b.c = |d", Failing::Write("c")), "c = d");
    assert_eq!(meant("|0;const { a: { b } } = c", Failing::Read("b")), "b } } = c");
    assert_eq!(meant("a.map(() => |b.c); d.c", Failing::Read("c")), "c); d.c");
    assert_eq!(meant("for (const x of |list) x.y", Failing::NotIterable), "list) x.y");
    assert_eq!(meant("|a.b", Failing::Read("z")), "nothing");
}

#[test]
fn what_cannot_be_read_again_is_left_alone() {
    assert_eq!(meant("|a.b(", Failing::Read("b")), "nothing");
    assert_eq!(meant(&format!("|a.b{}", " ".repeat(600 << 10)), Failing::Read("b")), "nothing");
    assert_eq!(meant(&format!("|a.b{}", "(".repeat(100_000)), Failing::Read("b")), "nothing");
    assert_eq!(Failing::of("ReferenceError", "x is not defined"), None);
    assert_eq!(Failing::of("TypeError", "cannot read property 'a' of 'b' of null"), Some(Failing::Read("a' of 'b")));
}
