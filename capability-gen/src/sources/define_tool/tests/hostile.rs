//! Hostile input: excessive time, memory or stack.

use super::super::{MAX_FILE_BYTES, depth};
use super::{alone, among, definition, file, refusal, returns};
use serde_json::json;

/// A parser that overflows its stack ends the test process. Threads of tests have 2 MiB.
#[test]
fn deep_nesting_is_refused_or_parsed() {
    let deep = |open: &str, middle: &str, close: &str, count: usize| {
        format!("{}{middle}{}", open.repeat(count), close.repeat(count))
    };
    let forms = [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{a:", "1", "}"),
        ("!", "1", ""),
        ("1+", "1", ""),
        ("a=>", "1", ""),
        ("a?", "1", ":1"),
        ("`${", "1", "}`"),
        ("f(", "1", ")"),
        ("-", "1", ""),
        ("new ", "a", ""),
        ("a,", "1", ""),
        ("typeof ", "a", ""),
        ("async()=>", "1", ""),
        ("", "a", ".a"),
        ("", "a", "[0]"),
        ("", "a", "!"),
        ("", "a", " as 1"),
        ("function(){return ", "1", "}"),
        ("class{a=", "1", "}"),
        ("'\\'('+(", "1", ")"),
        ("1/(", "1", ")"),
        ("/[/]/.a(", "1", ")"),
        ("[a,", "1", "]"),
        ("{a:1,b:", "1", "}"),
    ];
    for count in [150, 1_500, 9_000] {
        for (open, middle, close) in forms {
            let text = format!("export const a = {}", deep(open, middle, close, count));
            assert!(alone(&text).is_err());
        }
        let types = [
            ("[", "1", "]"),
            ("A<", "1", ">"),
            ("A<B,", "1", ">"),
            ("", "A", "[]"),
            ("", "A", "|B"),
            ("", "A", "&B"),
            ("keyof ", "A", ""),
            ("{a:", "A", "}"),
            ("()=>", "A", ""),
            ("A extends B?", "A", ":C"),
            ("`${", "A", "}`"),
            ("(", "A", ")"),
        ];
        for (open, middle, close) in types {
            let text = file("", &format!("returns: {{}} as {}", deep(open, middle, close, count)));
            // Some of them are types that become any value; what counts is that this is reached.
            assert!(alone(&text).is_err() || count < 9_000, "{open}");
        }
        let statements = [
            "if(a)",
            "while(1)",
            "a:",
            "for(;;)",
            "else if(a)",
            "if(a)x;else ",
            "do ",
            "if(a){}else ",
            "{",
            "try{",
            "a:b:c,function(){",
            "if(a)x,function(){",
            "b:c:d:x,function(){",
            "\u{a0}if(1)",
            "if(a)1.\nelse ",
        ];
        for statement in statements {
            assert!(alone(&format!("{};", statement.repeat(count))).is_err());
        }
    }
}

/// Files that others import from are parsed on the stack that there is, wherever their import is met.
#[test]
fn deep_files_beside_a_shallow_one() {
    let forms =
        [("[", "]", 190), ("{a:", "}", 190), ("!", "", 7_900), ("1+", "", 3_900), ("a=>", "", 500), ("(", ")", 190)];
    for (open, close, count) in forms {
        let deep = format!("export interface A {{ a: 1 }}\nconst x = {}1{};", open.repeat(count), close.repeat(count));
        let text = file("import type { A } from './a';", "returns: {} as A");
        let tools = among(&[("a.ts", &deep)], &text).unwrap_or_else(|error| panic!("{open}: {error}"));
        assert_eq!(tools[0].definition.functions[0].returns.as_ref().unwrap()["$ref"], "#/$defs/A");
    }
    let types = [("[", "]", 190), ("", "[]", 2_500), ("", "|B", 3_000), ("{a:", "}", 190)];
    for (open, close, count) in types {
        let deep = format!("type B = 1; export type A = {}B{};", open.repeat(count), close.repeat(count));
        // Read, or refused for the depth of its types; not an overflow of the stack.
        let _ = among(&[("a.ts", &deep)], &file("import type { A } from './a';", "returns: {} as A"));
    }
}

#[test]
fn an_interface_in_thousands_of_parts_is_not_copied_at_each_use() {
    let parts = "interface A { }\n".repeat(20_000);
    let members: String = (0..40_000).map(|n| format!("m{n}:A;")).collect();
    let schema = returns(&format!("{parts}interface W {{ {members} }}"), "W");
    assert_eq!(schema["$defs"].as_object().unwrap().len(), 2);
}

/// Chains of statements that a comma does not end, in brackets that are not too deep.
#[test]
fn statements_around_commas_are_counted() {
    let statements =
        ["a:", "if(a)", "while(1)", "for(;;)", "do ", "if(a){}else ", "if(a)x;else ", "with(a)", "a:if(a)b:"];
    for statement in statements {
        let text = format!("{}x,function(){{", statement.repeat(300)).repeat(150);
        let (_, message, _) = refusal(&format!("{text}{}", "}".repeat(150)));
        let expected = "the code nests deeper than 8000 levels, or is one chain of so many parts";
        assert_eq!(message, expected, "{statement}");
    }
}

#[test]
fn the_depth_is_bounded_by_brackets_and_by_chains() {
    let (place, message, _) = refusal(&format!("x = {}", "[".repeat(300)));
    assert_eq!((place.as_str(), message.as_str()), ("1:205", "brackets nest deeper than 200 levels"));
    let (_, message, fix) = refusal(&format!("x = {}1", "1 + ".repeat(9_000)));
    assert_eq!(message, "the code nests deeper than 8000 levels, or is one chain of so many parts");
    assert_eq!(fix, "split it into several statements");
    let (_, message, _) = refusal(&format!("x = {}", "a<{[".repeat(60)));
    assert!(message.starts_with("the code is too ambiguous to parse"), "{message}");
}

/// The scan skips brackets in text and comments exactly as the parser does.
#[test]
fn brackets_in_text_are_not_counted() {
    let quiet = [
        "const a = '((((' + \"[[[[\" + `{{{{`;",
        "// ((((\n/* [[[[ */ x;",
        "x = /[(\\/\"]((((/;",
        "f(/\"/, '(');",
        "a = b / c; d = '('; e / f;",
        "return /`/;",
        "x = `${`${a}`}((((`;",
        "const a = 'it''s';",
    ];
    for text in quiet {
        let bound = depth::bound(text).unwrap();
        assert!(bound < 20, "{text}: {bound}");
    }
    // A division or a regular expression: only the parser knows, so everything after it counts.
    let lost = format!("{{}}/[\"]/; {}", "b;".repeat(100));
    assert!(depth::bound(&lost).unwrap() > 90);
}

#[test]
fn a_long_file_of_plain_definitions_is_not_deep() {
    let function = "run$: { description: 'It\\'s', parameters: { a: { type: 'string', optional: true } }, returns: {} as Trip<Array<string>, 1>[],\n\
                    handler: async (params: { a?: string }) => { if (params.a) return [1, 2]; else return `${params.a}/x`; } },\n";
    let functions: String = (0..2_000).map(|number| function.replace('$', &number.to_string())).collect();
    let text = format!(
        "import {{ defineTool }} from '@agent-spaces/capabilities';\ninterface Trip<T, U> {{ a: T, b: U }}\n\
         export const tool = defineTool({{ functions: {{\n{functions}}} }});\n"
    );
    assert!(depth::bound(&text).unwrap() < 250);
    let definition = definition(&text);
    assert_eq!(definition.functions.len(), 2_000);
    assert_eq!(definition.functions[1_999].place.path, "4002:1");
}

#[test]
fn a_file_that_is_too_long() {
    let (place, message, _) = refusal(&" ".repeat(MAX_FILE_BYTES + 1));
    assert_eq!((place.as_str(), message.as_str()), ("1:1", "the file is longer than 1048576 bytes"));
}

/// A few lines that double themselves.
#[test]
fn values_and_types_that_grow_without_bound() {
    let doubling = |count: usize, start: &str, step: &dyn Fn(usize) -> String| {
        let steps: String = (1..count).map(step).collect();
        format!("{start}\n{steps}")
    };
    let too_much = "the values and types of this file expand to more than 500000";
    let arrays = doubling(40, "const a0 = [1];", &|n| format!("const a{n} = [a{0}, a{0}];\n", n - 1));
    let (_, message, _) = refusal(&file(&arrays, "parameters: { a: { enum: a39 } }"));
    assert_eq!(message, too_much);
    let spreads = doubling(40, "const a0 = {};", &|n| format!("const a{n} = {{ ...a{0}, ...a{0} }};\n", n - 1));
    let (_, message, _) = refusal(&file(&spreads, "parameters: a39"));
    assert_eq!(message, too_much);
    let types = doubling(40, "type A0<T> = T;", &|n| format!("type A{n}<T> = A{}<[T, T]>;\n", n - 1));
    let endless = definition(&file(&types, "returns: {} as A39<string>"));
    assert!(endless.functions[0].returns.is_some());
    let picks = doubling(16, "interface A0 { a: 1 }", &|n| {
        format!("type A{n} = Partial<A{0}> & {{ x{n}: Partial<A{0}>, y{n}: Partial<A{0}> }};\n", n - 1)
    });
    let (_, message, _) = refusal(&file(&picks, "returns: {} as A15"));
    assert_eq!(message, too_much);
}

/// Text is repeated as easily as values are.
#[test]
fn text_that_grows_without_bound() {
    let long = "x".repeat(100_000);
    let uses = |one: &str| format!("{one},").repeat(1_000);
    let members =
        |one: &str| (0..1_000).map(|n| format!("m{n}: {};", one.replace('#', &n.to_string()))).collect::<String>();
    let generic = |body: &str| format!("interface P<T> {{ {body} }} interface W {{ {} }}", members("P<#>"));
    for (declarations, what) in [
        (format!("const a = '{long}'; const b = [{}];", uses("a")), "parameters: { a: { enum: b } }"),
        (format!("const a = `{long}`; const b = [{}];", uses("a")), "parameters: { a: { enum: b } }"),
        (format!("const a = {{ {long}: 1 }}; const b = [{}];", uses("a")), "parameters: { a: { enum: b } }"),
        (format!("const a = {{ b: '{long}' }}; const b = [{}];", uses("a.b")), "parameters: { a: { enum: b } }"),
        (format!("enum E {{ A = '{long}' }} const b = [{}];", uses("E.A")), "parameters: { a: { enum: b } }"),
        (format!("type P<T> = {{ {} }};", members("T")), &format!("returns: {{}} as P<'{long}'>")),
        (generic(&format!("x: T; y: '{long}'")), "returns: {} as W"),
        (generic(&format!("x: T; {long}: 1")), "returns: {} as W"),
        (generic(&format!("x: T; {long}(): 1")), "returns: {} as W"),
        (generic(&format!("/** {long} */ x: T")), "returns: {} as W"),
        (generic(&format!("x: T; y: `{long}${{string}}`")), "returns: {} as W"),
    ] {
        let (_, message, _) = refusal(&file(&declarations, what));
        let shown: String = declarations.chars().take(60).collect();
        assert_eq!(message, "the values and types of this file expand to more than 500000", "{shown}");
    }
}

/// Types are compared and copied at every step that needs them whole.
#[test]
fn wide_types_are_not_copied_without_bound() {
    let too_much = "the values and types of this file expand to more than 500000";
    let members: String = (0..20_000).map(|n| format!("m{n}: string;")).collect();
    let text = file("", &format!("returns: {{}} as Exclude<keyof {{ {members} }}, {{ {members} }}>"));
    assert_eq!(refusal(&text).1, too_much);
    let mapped = "{ [K in 'a']: 1 },".repeat(10_000);
    let text = file(&format!("type G<T> = [{mapped}];"), &format!("returns: {{}} as G<{{ {members} }}>"));
    assert_eq!(refusal(&text).1, too_much);
    // What is only compared, member by member, takes no time that grows with the square.
    let schema = returns(&format!("interface A {{ {members} }} interface B extends A {{ {members} }}"), "B");
    assert_eq!(schema["$defs"]["B"]["required"].as_array().unwrap().len(), 20_000);
    let members: String = (0..10_000).map(|n| format!("m{n}: string;")).collect();
    let wide = format!("interface A {{ {members} }} interface B {{ last: 1; {members} }} interface K {{ k: keyof A }}");
    let schema = returns(&format!("{wide} interface L {{ k: keyof B }}"), "Extract<K | A, L>");
    assert_eq!(schema["$ref"], "#/$defs/K");
    assert_eq!(returns(&wide, "Extract<B | string, A>")["$ref"], "#/$defs/B");
}

#[test]
fn a_pattern_is_bounded_with_the_text_at_its_end() {
    let of = |count: usize| returns("", &format!("`${{string}}{}`", "x".repeat(count)));
    let short = of(991);
    let pattern = short["pattern"].as_str().unwrap();
    assert_eq!((pattern.len(), pattern.get(..8)), (1_000, Some("^[\\s\\S]*")));
    assert_eq!(of(992), json!({ "type": "string" }));
}

#[test]
fn constants_that_contain_themselves() {
    for constants in
        ["const a = { a };", "const a = { b }; const b = [a];", "const a = { ...a };", "const a = b; const b = a;"]
    {
        let (_, message, _) = refusal(&file(constants, "parameters: a"));
        assert!(message.contains("contains itself"), "{constants}: {message}");
    }
}

#[test]
fn ten_thousand_types_in_a_row_take_no_stack() {
    let types: String = (0..10_000).map(|n| format!("interface A{n} {{ next: A{} }}\n", n + 1)).collect();
    let schema = returns(&format!("{types}interface A10000 {{}}"), "A0");
    assert_eq!(schema["$defs"].as_object().unwrap().len(), 10_001);
    let chain: String = (0..10_000).map(|n| format!("interface A{n} extends A{} {{}}\n", n + 1)).collect();
    let (_, message, _) = refusal(&file(&format!("{chain}interface A10000 {{}}"), "returns: {} as A0"));
    assert_eq!(message, "a type is nested more than 64 levels deep");
}

#[test]
fn wide_types_are_read_or_refused() {
    let union: Vec<String> = (0..3_000).map(|n| format!("'{n}'")).collect();
    assert_eq!(returns("", &union.join(" | "))["enum"].as_array().unwrap().len(), 3_000);
    let members: String = (0..20_000).map(|n| format!("m{n}: P<{{ a: {n} }}>;")).collect();
    let schema = returns(&format!("interface P<T> {{ x: T }} interface W {{ {members} }}"), "W");
    assert_eq!(schema["$defs"].as_object().unwrap().len(), 20_001);
}

#[test]
fn the_prototype_is_no_member() {
    let (place, message, fix) = refusal(&file("", "parameters: { __proto__: { type: 'string' } }"));
    assert_eq!(place, "3:68");
    assert_eq!(message, "`__proto__: …` sets the prototype of an object and is not a member of it");
    assert_eq!(fix, "remove it, or write `['__proto__']: …` for a member of that name");
    let schema = |members: &str| definition(&file("", members)).functions.remove(0);
    let computed = schema("parameters: { ['__proto__']: { type: 'string' }, constructor: { type: 'string' } }");
    assert_eq!(computed.parameters["required"], json!(["__proto__", "constructor"]));
    let typed = schema("returns: {} as { __proto__: string }").returns.unwrap();
    assert_eq!(typed["required"], json!(["__proto__"]));
}

#[test]
fn text_that_json_cannot_hold() {
    for value in ["'\\ud800'", "`\\ud800`"] {
        let (_, message, _) = refusal(&file("", &format!("description: {value}")));
        assert_eq!(message, "lone surrogate in a string, which JSON cannot represent");
    }
    let (_, message, _) = refusal(&file("", "parameters: { a: { default: 1e999 } }"));
    assert_eq!(message, "a number is too large for JSON");
}

#[test]
fn names_outside_of_ascii_stay_as_titles() {
    let schema = returns("interface Été { a: 1 }", "Été");
    assert_eq!(schema["$ref"], "#/$defs/_uc9t_ue9");
    assert_eq!(schema["$defs"]["_uc9t_ue9"]["title"], "Été");
}

/// Incomplete files, as in an editor.
#[test]
fn broken_files_are_refused_and_break_nothing() {
    let text = file(
        "/** Ein Zug. */ interface Trip<T = Date> { 'süß'?: T[]; [k: string]: unknown } enum E { A, B = 'b' }",
        "parameters: { a: { type: 'string', default: `x` } }, returns: {} as [Partial<Trip>, E.A, ...Trip<1>[]]",
    );
    let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    for pair in boundaries.windows(2) {
        let prefix = &text[..pair[0]];
        let without = format!("{prefix}{}", &text[pair[1]..]);
        for broken in [prefix, &without] {
            if let Err(error) = alone(broken) {
                assert_ne!(error.message, "the parser failed on this file", "{broken}");
            }
        }
    }
}
