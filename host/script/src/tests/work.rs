//! Parse cost stays within the bound that is computed before parsing.

use super::super::parse_bounds::{MAX_DEPTH, MAX_NESTING};
use super::{refusal, script};
use agent_spaces_script_bounds::{Limits, bound, work_limit};
use oxc_allocator::Allocator;
use oxc_parser::{ParseOptions, Parser, config::TokensParserConfig};
use oxc_span::SourceType;
use std::thread;

/// Years of parsing in a few hundred bytes, and gigabytes of memory in some thousands.
#[test]
fn sources_with_too_much_backtracking_are_refused() {
    for (part, times) in
        [("a?(b):c=>", 6_000), ("a<{[", 100), ("x = a<infer B extends (", 60), ("x as ({[", 60), ("({[(a:", 60)]
    {
        let error = refusal(&part.repeat(times));
        assert!(error.message.contains("too ambiguous"), "{part}: {}", error.message);
        assert!(error.position.is_some() && error.hint.is_some());
    }
}

#[test]
fn little_of_the_same_syntax_is_parsed() {
    script("const f = a ? (b) : c => d ? (e): f => g : h");
    script("const x = a < { [b < 1 ? 'c' : 'd']: 1 }[e], y = z as ({ [k]: v }: W) => void");
    script("type A<T> = T extends Promise<infer U extends (string | Promise<infer V extends (number)>)> ? U : never");
}

/// Syntax that a parser may read in more than one way, and what closes it.
#[rustfmt::skip]
const PARTS: &[(&str, &str)] = &[
    ("(", ")"), ("[", "]"), ("({a:", "})"), ("a?(b):c=>", ""), ("a?", ":b"), ("a?b:", ""), ("(b):c=>", ""), ("(b)=>", ""), ("b=>", ""),
    ("a<", ">"), ("a<b,", ">"), ("a<{[", "]:b}>"), ("a<(", ")>"), ("<T>(", ")"), ("<T>(b=", ")=>c"), ("(a=", ")"), ("(a=", ")=>b"), ("({a=", "})"), ("([a=", "])"),
    ("async(", ")"), ("async(a=", ")=>b"), ("async<", ">(a)"), ("x as ", ""), ("f<(a:", ")=>b>(c)"), ("new a<", ">"), ("`${", "}`"), ("a`${", "}`"),
    ("class extends a<", ">{}"), ("class{a=", "}"), ("class{[", "]=1}"), ("function(a=", "){}"), ("async a=>", ""), ("{", "}"), ("a<typeof b<", ">>"),
    ("a<infer B extends (", ")?c:d>"), ("a<B extends (", ")?c:d>"), ("({[", "]:a})"), ("a?(", "):b=>c"), ("a?(b=", "):c=>d"), ("a?({b=", "}):c=>d"),
    ("a?<T>(b=", "):c=>d"), ("a?(b):(", ")=>c"), ("a?(b):{c:", "}=>d"), ("(a:", ")=>b"), ("a<new(b:", ")=>c>"), ("a<`${", "}`>"), ("a<[", "]>"),
    ("a<import('b').c<", ">>"), ("a?.<", ">()"), ("x as ({[", "]:a})"), ("x as (readonly {[", "]:a})"), ("x as ([a=", "])"), ("\n<<<<<<<\n", ""),
    ("interface A extends B<", ">{}"), ("(a?:", ")=>b"), ("function(a:", "){}"), ("({a(b:", "){}})"), ("class{a(b:", "){}}"), ("a as {[", "]:b}"), ("a as (b:", ")=>c"),
    ("a?(b):", ""), ("a?(b):<T>(", ")=>c"), ("(a):a is ", "=>b"), ("@a(", ")class{}"), ("if(a<", ");"), ("}/a/<", ""), ("([...", "])"), ("a[", "]"), ("a(", ")"),
    ("a<{b(", ")}>"), ("a<{[b in ", "]:c}>"), ("a<{readonly [", "]:c}>"), ("enum A{b=", "}"), ("{}/[(]/<", ""), ("a,", ""), (";", ""), ("\n", ""),
];

/// Bytes of the parser's memory for a token that it reads, at most.
const BYTES_PER_TOKEN: u64 = 200;

/// Random combinations: the parser uses no more memory on an accepted source than the bound says.
#[test]
fn parsing_stays_within_the_bound() {
    // The parser recurses.
    let check = thread::Builder::new().stack_size(64 << 20).spawn(|| {
        let mut seed: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut choose = |count: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed % count as u64) as usize
        };
        let mut parsed = 0;
        for _ in 0..6_000 {
            let parts: Vec<_> = (0..=choose(4)).map(|_| PARTS[choose(PARTS.len())]).collect();
            let open: String = parts.iter().map(|(open, _)| *open).collect();
            let close: String = parts.iter().rev().map(|(_, close)| *close).collect();
            let before = ["x=", "type X=", "", "x=a<", "x=a?"][choose(5)];
            let middle = ["1", "a", "", "{}", "a>(b)"][choose(5)];
            let times = [3, 6, 12, 20, 40, 100][choose(6)];
            let closed = [0, times, choose(times)][choose(3)];
            let source = format!("{before}{}{middle}{}", open.repeat(times), close.repeat(closed));
            let limits = Limits { brackets: MAX_NESTING, depth: MAX_DEPTH, work: work_limit(source.len()) };
            let Ok(bound) = bound(&source, limits) else { continue };
            parsed += 1;
            let allocator = Allocator::default();
            let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
            let parser = Parser::new(&allocator, &source, SourceType::ts().with_module(true)).with_options(options);
            drop(parser.with_config(TokensParserConfig).parse());
            let used = allocator.used_bytes() as u64;
            assert!(used <= (bound.work + 500) * BYTES_PER_TOKEN, "{used} bytes for {bound:?}: {source}");
        }
        assert!(parsed > 1_000, "{parsed}");
    });
    check.unwrap().join().unwrap();
}
