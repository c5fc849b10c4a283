//! Projects of random files: read or refused, in bounded time, and never by a panic.

use super::{among, file};
use crate::compile::{ModuleSource, compile};
use proptest::prelude::*;

/// Types that need nothing else, known and unknown, right and wrong.
const LEAVES: [&str; 34] = [
    "string",
    "number",
    "null",
    "undefined",
    "never",
    "unknown",
    "bigint",
    "symbol",
    "object",
    "'a'",
    "1",
    "-1.5",
    "true",
    "A",
    "B",
    "C",
    "D",
    "G",
    "all.A",
    "all.b.C",
    "A.x",
    "E",
    "E.One",
    "typeof L",
    "typeof all.L",
    "(typeof L)[number]",
    "keyof typeof L",
    "import('./a').B",
    "import('./b')",
    "import('pkg').X",
    "Date",
    "this",
    "() => void",
    "`${A}-${number}`",
];

/// Forms with a type in them.
const FORMS: [&str; 30] = [
    "$[]",
    "readonly $[]",
    "[$, ...$[]]",
    "[a: $, b?: $]",
    "$ | $",
    "$ & $",
    "{ a: $; b?: $ }",
    "{ [key: string]: $ }",
    "{ run($: string): $ }",
    "{ [K in $]: K }",
    "{ [K in keyof $]?: $[K] }",
    "{ [K in 'a' as `${K}x`]: $ }",
    "keyof $",
    "$['a']",
    "$[number]",
    "Partial<$>",
    "Required<$>",
    "Pick<$, 'a'>",
    "Omit<$, $>",
    "Record<$, $>",
    "Exclude<$, $>",
    "Extract<$, $>",
    "NonNullable<$>",
    "Array<$>",
    "Map<$, $>",
    "Promise<$>",
    "G<$>",
    "$ extends $ ? $ : $",
    "`${$}`",
    "all.G<$, $>",
];

fn ty() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(LEAVES.as_slice()).prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let parts = prop::collection::vec(inner, 4);
        (prop::sample::select(FORMS.as_slice()), parts).prop_map(|(form, parts)| {
            let mut parts = parts.iter().cycle();
            form.chars()
                .map(|it| if it == '$' { parts.next().cloned().unwrap_or_default() } else { it.into() })
                .collect()
        })
    })
}

/// A file that declares some of the names, and imports and exports the others.
fn other_file() -> impl Strategy<Value = String> {
    let links = [
        "import { A, B } from './a';",
        "import { C, D as G, L } from './b.js';",
        "import * as all from './b';",
        "import * as all from './a';",
        "import type { A } from './tool';",
        "export * from './a';",
        "export * from './b';",
        "export * as b from './b';",
        "export { A as B, C as default } from './a';",
        "export { A, B as D };",
        "export default L;",
        "import { L } from './nowhere';",
    ];
    let declaration = (0..9_usize, ty(), ty()).prop_map(|(kind, one, two)| match kind {
        0 => format!("export interface A {{ a: {one}; x?: {two} }}"),
        1 => format!("export interface B extends A {{ b: {one} }}"),
        2 => format!("export type C = {one};"),
        3 => format!("type D = {one} | {two};"),
        4 => format!("export type G<T, U extends {two} = {one}> = {{ t: T; u: U; next?: G<U> }};"),
        5 => "export enum E { One = 'one', Two = 2, Three }".to_owned(),
        6 => "export const L = ['a', 'b'] as const;".to_owned(),
        7 => "const L = { a: 1, b: { c: [L] } };".to_owned(),
        _ => "export class A {}".to_owned(),
    });
    let links = prop::sample::subsequence(links.to_vec(), 0..4);
    (links, prop::collection::vec(declaration, 0..6))
        .prop_map(|(links, declarations)| format!("{}\n{}", links.join("\n"), declarations.join("\n")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_random_project_is_read_or_refused(own in other_file(), a in other_file(), b in other_file(), one in ty(), two in ty()) {
        let text = file(&own, &format!("parameters: {{ x: {{ type: 'string', enum: L }} }}, returns: {{}} as {{ one: {one}; two: {two} }}"));
        let plain = file(&own, &format!("parameters: {{}} as {{ one: {one} }}, returns: {{}} as {two}"));
        for text in [text, plain] {
            match among(&[("a.ts", a.as_str()), ("b.ts", b.as_str())], &text) {
                Ok(tools) => {
                    let definitions: Vec<_> = tools.into_iter().map(|tool| tool.definition).collect();
                    prop_assert!(definitions.iter().all(|definition| definition.notes.len() <= 51));
                    // What is read can be compiled, or is refused in words.
                    let _ = compile(ModuleSource { specifier: None, stem: Some("tool".into()), definitions });
                }
                Err(error) => {
                    prop_assert_ne!(error.message.as_str(), "the parser failed on this file");
                    prop_assert!(!error.fix.is_empty() && error.place.path.contains(':'), "{:?}", error);
                    prop_assert!(error.place.file.starts_with("project/"), "{:?}", error);
                }
            }
        }
    }
}
