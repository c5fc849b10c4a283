//! Operations found from the positions that the engine reports. What it reports is in `tests/error_reports.rs`.

use super::super::{EngineError, ErrorSites};

/// The operation that failed where the engine reports `|`, as the code from there on.
#[track_caller]
fn failed_at(marked: &str, error: EngineError<'_>) -> String {
    let reported = marked.find('|').unwrap_or_default() as u32;
    let code = marked.replace('|', "");
    let found = ErrorSites::new(&code, &[reported]).and_then(|it| it.failed_operation(reported, error));
    found.map_or_else(|| "nothing".to_owned(), |failed| code[failed.offset as usize..].to_owned())
}

#[test]
fn a_call_is_found_from_the_last_position_in_it() {
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
        assert_eq!(failed_at(code, EngineError::NotAFunction), expected, "{code}");
    }
}

#[test]
fn nested_calls_are_distinguished_by_the_called_function() {
    assert_eq!(failed_at("outer(inner(|x))", EngineError::InCallee("outer")), "outer(inner(x))");
    assert_eq!(failed_at("outer(inner(|x))", EngineError::InCallee("inner")), "inner(x))");
    assert_eq!(failed_at("outer(inner(|x))", EngineError::InCallee("<anonymous>")), "inner(x))");
    assert_eq!(failed_at("a.b(new Error(|x))", EngineError::Thrown("Error")), "new Error(x))");
    assert_eq!(failed_at("a.b(|x)", EngineError::Thrown("Error")), "nothing");
    assert_eq!(failed_at("|a.b.c", EngineError::InCallee("get c")), "c");
}

#[test]
fn a_property_is_found_by_its_name() {
    assert_eq!(failed_at("f(); |a.b.c.d", EngineError::Read("c")), "c.d");
    assert_eq!(failed_at("0;const x = { y: |a.b\n.c }", EngineError::Read("c")), "c }");
    assert_eq!(failed_at("|a.b[0].c", EngineError::Read("0")), "0].c");
    assert_eq!(failed_at("a.b.c = |d", EngineError::Write("c")), "c = d");
    assert_eq!(failed_at("|0;const { a: { b } } = c", EngineError::Read("b")), "b } } = c");
    assert_eq!(failed_at("a.map(() => |b.c); d.c", EngineError::Read("c")), "c); d.c");
    assert_eq!(failed_at("for (const x of |list) x.y", EngineError::NotIterable), "list) x.y");
    assert_eq!(failed_at("|a.b", EngineError::Read("z")), "nothing");
}

#[test]
fn code_that_cannot_be_parsed_again_has_no_sites() {
    assert_eq!(failed_at("|a.b(", EngineError::Read("b")), "nothing");
    assert_eq!(failed_at(&format!("|a.b{}", " ".repeat(600 << 10)), EngineError::Read("b")), "nothing");
    assert_eq!(failed_at(&format!("|a.b{}", "(".repeat(100_000)), EngineError::Read("b")), "nothing");
    assert_eq!(EngineError::parse("ReferenceError", "x is not defined"), None);
    assert_eq!(
        EngineError::parse("TypeError", "cannot read property 'a' of 'b' of null"),
        Some(EngineError::Read("a' of 'b"))
    );
}

/// Quadratic work would take hours on each of these.
#[test]
fn large_minified_code_takes_linear_time() {
    // One run of adjacent tokens without a word, each of them a statement.
    let statements = format!("{}|f()", "1;".repeat(250_000));
    assert_eq!(failed_at(&statements, EngineError::NotAFunction), "f()");
    // Derived classes on one line, with a stack of many positions.
    let code = "{class A extends B{}};".repeat(22_000);
    let offsets: Vec<u32> = (0..code.len() as u32).collect();
    let sites = ErrorSites::new(&code, &offsets).unwrap();
    assert_eq!(offsets.iter().filter(|offset| sites.is_own_constructor(**offset)).count(), 22_001);
}

#[test]
fn derived_classes_are_found_at_their_start_and_at_their_line() {
    let code = "0;\n 0; class A extends Error {} class B extends Error {}\nclass C extends Error { constructor() { super() } }";
    let second = code.find("class B").unwrap() as u32;
    let third = code.find("class C").unwrap() as u32;
    let sites = ErrorSites::new(code, &[3, second, third]).unwrap();
    assert!(sites.is_own_constructor(3) && sites.is_own_constructor(second));
    assert!(!sites.is_own_constructor(0) && !sites.is_own_constructor(4) && !sites.is_own_constructor(third));
}
