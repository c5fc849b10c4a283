//! Nothing a source holds may panic, hang or overflow a stack.

use super::super::{Language, MAX_DEPTH, MAX_NESTING, MAX_SOURCE_BYTES, SourceKind};
use super::{refusal, run, script};
use agent_spaces_script_bounds::{Limits, bound, work_limit};

fn survives(source: &str) {
    for language in [Language::TypeScript, Language::JavaScript] {
        for kind in [SourceKind::Script, SourceKind::Module] {
            let _ = run(source, language, kind);
        }
    }
}

/// Prefix, repeated part, middle, and the closing part of each repetition.
#[rustfmt::skip]
const NESTING: &[(&str, &str, &str, &str)] = &[
    ("", "(", "1", ")"), ("", "[", "1", "]"), ("x=", "{a:", "1", "}"), ("", "{", "", "}"), ("", "`${", "1", "}`"),
    ("", "a?1:", "1", ""), ("a", ".b", "", ""), ("a", "()", "", ""), ("a", "+1", "", ""), ("x", "!", "", ""), ("", "!", "x", ""),
    ("", "if(a){}else ", "b", ""), ("", "if(a)b;else ", "b", ""), ("", "a=>", "1", ""), ("", "()=>{", "", "}"),
    ("x", " as any", "", ""), ("", "<any>", "x", ""), ("type A=", "B<", "C", ">"), ("type A=", "[", "C", "]"),
    ("type A=", "A extends B?C:", "C", ""), ("type A=C", "[]", "", ""), ("", "a<b<", "c", ">"), ("", "(a=(", "1", "))"),
    ("", "({a(){", "", "}})"), ("", "class A{a(){", "", "}}"), ("", "namespace A{", "export const x=1", "}"),
    ("enum A{B=", "(", "1", ")}"), ("namespace a", ".a", "{export const x=1}", ""), ("", "a`${", "1", "}`"),
    ("x=", "class extends ", "A", "{}"), ("", "for(;;)", "a", ""), ("", "l:", "a", ""), ("", "new ", "x", ""),
    ("", "await ", "1", ""), ("", "a,(", "1", ")"), ("", "f<A>(", "x", ")"), ("", "a?(b)=>(", "c", "):d"),
];

#[test]
fn deep_nesting_is_refused_with_a_hint() {
    for (before, open, middle, close) in NESTING {
        let source = format!("{before}{}{middle}{}", open.repeat(100_000), close.repeat(100_000));
        let error = refusal(&source);
        assert_eq!(error.code, "script.syntax");
        let is_told = error.message.contains("deeper than") || error.message.contains("too ambiguous");
        assert!(is_told, "{open}: {}", error.message);
        assert!(error.position.is_some() && error.hint.is_some());
    }
}

/// The deepest of each that is not refused must fit the stack made for it.
#[test]
fn accepted_sources_fit_the_stack() {
    for (before, open, middle, close) in NESTING {
        let nest = |count| format!("{before}{}{middle}{}", open.repeat(count), close.repeat(count));
        let (mut low, mut high) = (1, MAX_DEPTH as usize);
        while low < high {
            let count = (low + high).div_ceil(2);
            let source = nest(count);
            let limits = Limits { brackets: MAX_NESTING, depth: MAX_DEPTH, work: work_limit(source.len()) };
            if bound(&source, limits).is_ok() { low = count } else { high = count - 1 }
        }
        let _ = run(&nest(low), Language::TypeScript, SourceKind::Script);
        // `({` may begin a pattern, which doubles the work with each.
        let least = if open.contains("({") { 10 } else { 200 };
        assert!(low > least, "{open} is refused at {low} already");
    }
}

#[test]
fn ordinary_size_is_not_nesting() {
    for line in
        ["foo.bar(baz, { a: [1, 2] })\n", "const x = a + b\n", "if (a) b(); else c()\n", "type A = B<C, D>\n", "'a'\n"]
    {
        let source = line.repeat(100_000);
        assert!(run(&source, Language::TypeScript, SourceKind::Module).is_ok(), "{line}");
    }
    let source = format!("x = {}0", "a + ".repeat(5_000));
    assert!(run(&source, Language::TypeScript, SourceKind::Script).is_ok());
}

#[test]
fn megabytes_are_read_and_more_than_the_limit_is_not() {
    let source = "const x: number = f<T>(y as any)!\n".repeat(MAX_SOURCE_BYTES / 34);
    assert!(run(&source, Language::TypeScript, SourceKind::Module).is_ok());
    let error = refusal(&" ".repeat(MAX_SOURCE_BYTES + 1));
    assert!(error.message.contains("longer than"), "{}", error.message);
}

#[test]
fn malformed_sources_do_not_panic() {
    #[rustfmt::skip]
    let odd = [
        "\0", "'\0'", "\u{feff}", "\u{feff}#!x\nx", "#!x", "#", "\\", "\\u{110000}", "'\\ud800'", "`\\ud800`", "\u{2028}", "a\u{2029}b",
        "<!-- a", "a\n--> b", "\r", "\r\n", "/*\r", "/* \u{2028}", "//\u{2028}x", "'", "`", "`${", "/", "/[", "(", "}", ")", "@",
        "enum E {", "enum E { A = }", "namespace", "namespace A.", "class A { constructor(private", "import", "import {",
        "import a from '\\ud800'", "import('\\ud800')", "export", "export {", "return return", "x as", "x!!!!", "<T>", "<T,>(", "type",
        "let x: ", "async <", "é", "𝒳 = 1", "enum 色 { 赤 = `\n` }", "declare", "abstract", "a?.b!.c!", "<", "</", "a<b>c",
        "class A { get: x; set: y; static: z }", "export default", "export { a as default, b as default }", "using x = y", "await using x = y",
    ];
    for source in odd {
        survives(source);
        survives(&source.repeat(50));
        survives(&format!("{source}\n{source}"));
    }
}

/// Every prefix of a source with all of the syntax: each ends in the middle of something.
#[test]
fn no_prefix_of_a_source_panics() {
    let source = "import a, { type b, c as d } from 'e' with { f: 'g' }\nenum H { i, j = `k${1}`, l = i }\nnamespace m.n { export let o: p = <q>r!; \
                  export enum s { t } }\nabstract class u<v> extends w<x> implements y { private readonly z?: A = /[/]/ as B; constructor(public C: D) \
                  { super(); } abstract E(): F; get: G\n[H]() {} }\nconst I = async <J,>(K: L): Promise<\nM> => await import('N');\nexport { O, type P }\nQ";
    for end in 0..source.len() {
        survives(&source[..end]);
    }
    assert!(script(source).has_default_export);
}
