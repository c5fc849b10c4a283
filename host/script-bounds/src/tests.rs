//! Tests of bounds.

use crate::{Bound, Exceeded, Limits, bound, work_limit};

const UNBOUNDED: Limits = Limits { brackets: u32::MAX, depth: u32::MAX, work: u64::MAX };

fn depth(source: &str) -> u32 {
    bound(source, UNBOUNDED).map_or(u32::MAX, |bound| bound.depth)
}

fn work(source: &str) -> u64 {
    bound(source, UNBOUNDED).map_or(u64::MAX, |bound| bound.work)
}

/// Nested backtracking: a line of it would take years.
#[test]
fn nested_backtracking_multiplies() {
    for part in ["a<{[", "a<infer B extends (", "x as ({[", "x as (readonly {[", "<T>(b=a<", "}/\"/+a<{[", "({[(a:"] {
        let (few, many) = (work(&part.repeat(4)), work(&part.repeat(24)));
        assert!(many / few > 1 << 18, "{part:?}: {few} at 4, {many} at 24");
        let source = part.repeat(100);
        let limits = Limits { work: work_limit(source.len()), ..UNBOUNDED };
        assert!(matches!(bound(&source, limits), Err(Exceeded::Work(_))), "{part:?}");
    }
}

/// Sequential backtracking.
#[test]
fn sequential_backtracking_adds_up() {
    for part in ["a?(b):c=>", "a<b,", "(a=", "a?(b):{["] {
        let (few, many) = (work(&part.repeat(100)), work(&part.repeat(1000)));
        assert!(many / few >= 90, "{part:?}: {few} at 100, {many} at 1000");
    }
}

#[test]
fn ordinary_code_is_little_work() {
    #[rustfmt::skip]
    let ordinary = [
        "const a: Map<string, Array<[b, { c: d<e> }]>> = new Map([[f, { g: h }]])\n", "for (let i = 0; i < n; i++) { a[i] = (b + c) * d(e, (f) => g) }\n",
        "app.get('/', async (request: Request<A>): Promise<B> => { const { a, b } = await c({ d: [e, f] }); return a < b ? (c) : (d) })\n",
        "type A<T> = T extends (infer U extends string)[] ? { [K in keyof U]: (a: K, b: A<U>) => void } : never;\n",
    ];
    for part in ordinary {
        let source = part.repeat(2000);
        assert!(work(&source) < work_limit(source.len()) / 2, "{part:?}: {} of {}", work(&source), source.len());
    }
}

/// Searching for the end of a possible regular expression is work too.
#[test]
fn a_line_of_slashes_is_not_quadratic() {
    for part in ["{}/[\\]", "+/[\\]"] {
        let source = part.repeat(100_000);
        let limits = Limits { work: work_limit(source.len()), ..UNBOUNDED };
        assert!(matches!(bound(&source, limits), Err(Exceeded::Work(_))), "{part:?}");
    }
}

/// Each repetition nests deeper, so the bound must grow.
#[test]
fn no_nesting_escapes() {
    #[rustfmt::skip]
    let nesting = [
        "(", "[", "{", "!", "~", "-", "- ", "+ ", "a.", "a?.b.", "a()", "a[0]", "a+", "a ? b : ", "a ? ", "a=>", "a=",
        "a**", "typeof ", "void ", "await ", "new ", "if(a)", "if(a)b;else ", "if(a)b,c;else ", "if(a){}else ",
        "if(a){}\nelse\n", "if(a)b\nelse ", "for(;;)", "for(;;)\n", "for await(a of b)\n", "while(a)\n", "do\n",
        "do a;while(b)", "l:", "l:\n", "with(a)\n", "`${", "`${`a${b}`+", "a`b`", "a<b<", "a<b,c<", "x as a as ",
        "x!", "x\n!", "class extends ", "function(){", "class{a(){", "()=>", "async()=>", "async a=>", "yield ",
        "{a:", "[a,", "f(a,", "a,(", "keyof ", "infer a extends ", "a extends b ? c : ", "a?b:c?d:", "`a`+", "\"a\"+",
        "/a/+", "a/b/", "a/b/(", "}/\"/+(", ")/[(]/+[", "a>/\"/+[", "of/`/+(", "//\u{2028}(", "'\\\r\n'+", "/*\n*/(",
        "++", "- -", "if(a)/b\"/;else ", "a.if/b+", "a\n(", "a\n[", "@a ", "namespace a{", "a!/b/(", "case/\"/+(", "a<1+1>\n", "a>\ntype>\n", "x as const as\n", "a>\nlet as b>\n",
    ];
    for part in nesting {
        let (few, many) = (depth(&part.repeat(100)), depth(&part.repeat(1100)));
        assert!(many >= few + 1000, "{part:?}: {few} at 100, {many} at 1100");
    }
}

/// Enclosing statements still count after a comma.
#[test]
fn a_comma_does_not_end_enclosing_statements() {
    for statements in ["a:", "if(a)", "a:\n", "while(a)", "b:if(a)"] {
        let part = format!("{}x,function(){{", statements.repeat(100));
        let depth = depth(&part.repeat(10));
        assert!(depth >= 1000, "{statements:?}: {depth}");
    }
}

/// Repetitions are siblings, so the bound must stay small.
#[test]
fn siblings_do_not_add_depth() {
    #[rustfmt::skip]
    let flat = [
        "a.b(c);", "a.b(c)\n", "a = b + c\n", "if (a) { b } else { c }\n", "if (a) b\n", "const a = { b: 1, c: [1, 2] }\n",
        "function f(a: B<C, D>): E { return `${a} ${b}` }\n", "class A<T> extends B { x = 1; y() {} }\n", "type A = B\n",
        "interface A { b: c; d(): e }\n", "// (((\n", "/* ((( */", "'((('\n", "`(((`;\n", "x = /[(]/.test(y)\n", "a++\n",
        "switch (a) { case 1: b; break; default: c }\n", "for (const a of b) c\n", "export const a = (b) => c / d\n",
        "import { a } from 'b'\n", "x! / y\n", "try { a } catch (b) { c } finally { d }\n", "'use strict'\n",
        "private x = 1\n", "#x = 1\n", "foo<T>(bar)\n", "type A = B<C, D>\n", "const a: B = c<D>\n", "export type A = B<C>\n",
    ];
    for part in flat {
        let many = depth(&part.repeat(2000));
        assert!(many <= 20, "{part:?}: {many}");
    }
    let list = [("[", "{ a: b < c, d: e.f(g) },", "]"), ("({", "a: 1 + 2,\n", "})"), ("switch(a){", "case 1:\n", "}")];
    for (open, part, close) in list {
        let many = depth(&format!("{open}{}{close}", part.repeat(2000)));
        assert!(many <= 20, "{part:?}: {many}");
    }
    let template = format!("`{}`", "${a.b(c)} ".repeat(2000));
    assert!(depth(&template) <= 20);
}

#[test]
fn an_exceeded_limit_has_its_offset() {
    let limits = Limits { brackets: 3, depth: 6, work: u64::MAX };
    let is_so_deep = |source, depth| matches!(bound(source, limits), Ok(Bound { depth: seen, .. }) if seen == depth);
    assert!(is_so_deep("x = (((1)))", 4));
    assert_eq!(bound("x = ((((1))))", limits), Err(Exceeded::Brackets(7)));
    assert_eq!(bound("x = a<b<c<d<e", limits), Err(Exceeded::Brackets(11)));
    assert_eq!(bound("a.b.c.d.e.f.g.h", limits), Err(Exceeded::Depth(13)));
    assert!(is_so_deep("a.b.c.d;a.b.c.d;[a.b.c.d, a.b.c.d]", 4));
}
