//! Types and constants of other files in the definition's folder.

use super::super::{MAX_FILE_BYTES, MAX_FILES, parse};
use super::{among, file};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const TYPES: &str = "\
/** A customer. */
export interface Customer { id: string; ticket?: Ticket; level: Level }
interface Ticket { subject: string }
export type Level = (typeof LEVELS)[number];
export const LEVELS = ['low', 'high'] as const;
export enum Color { Red = 'red', Blue = 'blue' }
export type Page<T> = { items: T[] };
export default interface Main { main: true }
export const PARAMETERS = { query: { type: 'string', enum: LEVELS, default: DEFAULT } };
const DEFAULT = 'low';
export function ask() { return 'Sure?'; }
export { Ticket as Case };
";

/// The result schema of a function in a project of these files.
fn returns(files: &[(&str, &str)], declarations: &str, ty: &str) -> Value {
    let text = file(declarations, &format!("returns: {{}} as {ty}"));
    let mut tools = among(files, &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(tools[0].definition.notes.is_empty(), "{ty}: {:#?}", tools[0].definition.notes);
    tools.remove(0).definition.functions.remove(0).returns.expect("a schema")
}

fn refusal(files: &[(&str, &str)], declarations: &str, members: &str) -> (String, String, String) {
    match among(files, &file(declarations, members)) {
        Ok(tools) => panic!("accepted as {tools:#?}"),
        Err(error) => (error.place.to_string(), error.message, error.fix),
    }
}

/// The same type, however it is imported.
#[test]
fn every_way_to_import_a_type() {
    let files = [
        ("types.ts", TYPES),
        ("all.ts", "export * from './types'; export * as inner from './types';"),
        (
            "named.ts",
            "export { Customer as Client, Customer as default } from './types.js'; export type { Case } from './all';",
        ),
        ("again.ts", "import type { Customer } from './types.ts'; export { Customer as Buyer };"),
        ("folder/index.ts", "import { Customer } from '../types'; export default Customer; export type { Customer };"),
    ];
    let ways = [
        ("import type { Customer } from './types';", "Customer"),
        ("import { type Customer } from './types.ts';", "Customer"),
        ("import { Customer as C } from './types.js';", "C"),
        ("import * as t from './types';", "t.Customer"),
        ("import { Customer } from './all';", "Customer"),
        ("import { inner } from './all';", "inner.Customer"),
        ("import * as all from './all';", "all.inner.Customer"),
        ("import { Client } from './named';", "Client"),
        ("import Client from './named';", "Client"),
        ("import { Buyer } from './again';", "Buyer"),
        ("import Customer from './folder';", "Customer"),
        ("import { Customer } from './folder/index.js';", "Customer"),
        ("", "import('./types').Customer"),
        ("", "import('./all').inner.Customer"),
    ];
    let expected = returns(&files, ways[0].0, ways[0].1);
    assert_eq!(expected["$defs"]["Customer"]["description"], "A customer.");
    assert_eq!(expected["$defs"]["Customer"]["properties"]["ticket"], json!({ "$ref": "#/$defs/Ticket" }));
    assert_eq!(expected["$defs"]["Level"], json!({ "title": "Level", "type": "string", "enum": ["low", "high"] }));
    for (declarations, ty) in ways {
        assert_eq!(returns(&files, declarations, ty), expected, "{declarations} {ty}");
    }
}

#[test]
fn everything_that_a_file_may_export() {
    let files = [("types.ts", TYPES)];
    let imports = "import Main, { LEVELS, Color, Case, type Page } from './types'; import * as t from './types';";
    let cases = [
        ("(typeof LEVELS)[number]", json!({ "type": "string", "enum": ["low", "high"] })),
        ("(typeof t.LEVELS)[number]", json!({ "type": "string", "enum": ["low", "high"] })),
        ("typeof import('./types').Color.Red", json!({ "type": "string", "const": "red" })),
        ("Color.Red", json!({ "type": "string", "const": "red" })),
        ("t.Color.Blue", json!({ "type": "string", "const": "blue" })),
    ];
    for (ty, expected) in cases {
        assert_eq!(returns(&files, imports, ty), expected, "{ty}");
    }
    assert_eq!(returns(&files, imports, "Main")["$defs"]["Main"]["required"], json!(["main"]));
    assert_eq!(returns(&files, imports, "Case")["$ref"], "#/$defs/Ticket");
    assert_eq!(returns(&files, imports, "Color")["$defs"]["Color"]["enum"], json!(["red", "blue"]));
    let page = returns(&files, imports, "t.Page<Case>");
    assert_eq!(page["$defs"]["PageTicket"]["properties"]["items"]["items"], json!({ "$ref": "#/$defs/Ticket" }));
}

#[test]
fn constants_and_functions_of_other_files() {
    let files = [
        ("types.ts", TYPES),
        ("texts.ts", "export default 'A description'; export const t = { run: { approval: true } };"),
    ];
    let declarations = "import { PARAMETERS, LEVELS, ask } from './types'; import text, * as texts from './texts';";
    let members = "description: text, requiresApproval: texts.t.run.approval, approvalMessage: ask,\n\
                   parameters: { ...PARAMETERS, level: { type: 'string', enum: [...LEVELS, 'other'], optional: true } }";
    let mut tools = among(&files, &file(declarations, members)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(tools[0].computed_approval_messages, ["run"]);
    let function = tools[0].definition.functions.remove(0);
    assert_eq!((function.description.as_str(), function.config.requires_approval), ("A description", Some(true)));
    assert_eq!(
        function.parameters,
        json!({ "type": "object", "properties": {
            "query": { "type": "string", "enum": ["low", "high"], "default": "low" },
            "level": { "type": "string", "enum": ["low", "high", "other"] },
        } })
    );
}

/// Names belong to their file: two files may have types of one name.
#[test]
fn types_of_one_name_in_two_files() {
    let files =
        [("a.ts", "export interface Item { a: 1 } export type A = Item;"), ("b.ts", "export interface Item { b: 1 }")];
    let schema = returns(
        &files,
        "import { A, Item as First } from './a'; import { Item as Second } from './b'; interface Item { own: Second }",
        "[First, Second, Item, A]",
    );
    let definitions = schema["$defs"].as_object().unwrap();
    assert_eq!(definitions["Item"]["required"], json!(["own"]), "{schema:#}");
    let keys: Vec<&str> = definitions.keys().map(String::as_str).collect();
    assert_eq!(keys, ["Item2", "Item3", "Item", "A"]);
    assert_eq!((&definitions["Item2"]["required"], &definitions["Item2"]["title"]), (&json!(["a"]), &json!("Item")));
    assert_eq!(definitions["Item3"]["required"], json!(["b"]));
    assert_eq!(definitions["Item"]["properties"]["own"], json!({ "$ref": "#/$defs/Item3" }));
    assert_eq!(definitions["A"], json!({ "title": "A", "$ref": "#/$defs/Item2" }));
}

#[test]
fn files_that_import_from_one_another_in_a_circle() {
    let files = [
        (
            "a.ts",
            "import type { B } from './b'; export interface A { b?: B; tool?: Own } export * from './b'; import { Own } from './tool';",
        ),
        ("b.ts", "import type { A } from './a'; export interface B { a?: A } export * from './a';"),
        ("tool.ts", "never asked for: the definition's own file is known"),
    ];
    let schema = returns(&files, "import { A, B } from './b'; export interface Own { a: A; b: B }", "Own");
    assert_eq!(schema["$defs"].as_object().unwrap().len(), 3);
    let (place, message, _) = refusal(&files, "import { C } from './a';", "returns: {} as C");
    assert_eq!((place.as_str(), message.as_str()), ("project/tool.ts: 3:69", "'./a' exports no type `C`"));
    let circle = [("c.ts", "export { X } from './d';"), ("d.ts", "export { X } from './c';")];
    let (_, message, _) = refusal(&circle, "import { X } from './c';", "returns: {} as X");
    assert_eq!(message, "'./c' exports no type `X`");
    let aliases = [
        ("c.ts", "import { D } from './d'; export type C = D;"),
        ("d.ts", "import { C } from './c'; export type D = C;"),
    ];
    let (place, message, _) = refusal(&aliases, "import { C } from './c';", "returns: {} as C");
    assert!(message.ends_with("is defined as itself"), "{place}: {message}");
}

#[test]
fn mistakes_are_refused_where_they_are() {
    let files = [
        ("types.ts", TYPES),
        ("broken.ts", "export interface A {\n  a: = 1;\n}"),
        ("wrong.ts", "export interface A {\n  a: Missing;\n}"),
        ("deep.ts", &"[".repeat(300)),
        ("twice.ts", "export type A = 1;\ntype A = 2;"),
        ("linked.ts", "\nexport { A } from './nowhere';"),
    ];
    let cases = [
        (
            "import { Custmer } from './types';",
            "Custmer",
            "project/tool.ts: 3:69",
            "'./types' exports no type `Custmer`",
        ),
        ("import * as t from './types';", "t.Levl", "project/tool.ts: 3:69", "'./types' exports no type `Levl`"),
        ("import { Ticket } from './types';", "Ticket", "project/tool.ts: 3:69", "'./types' exports no type `Ticket`"),
        ("import { A } from './broken';", "A", "project/broken.ts: 2:6", "Unexpected token"),
        (
            "import { A } from './wrong';",
            "A",
            "project/wrong.ts: 2:6",
            "the type `Missing` is not declared in this file",
        ),
        ("import { A } from './deep';", "A", "project/deep.ts: 1:201", "brackets nest deeper than 200 levels"),
        ("import { A } from './twice';", "A", "project/twice.ts: 2:1", "the type `A` is declared twice"),
        (
            "import { A } from './nowhere';",
            "A",
            "project/tool.ts: 2:19",
            "there is no file './nowhere' in the definition's folder",
        ),
        (
            "import { A } from './linked';",
            "A",
            "project/linked.ts: 2:19",
            "there is no file './nowhere' in the definition's folder",
        ),
    ];
    for (declarations, ty, place, message) in cases {
        let (at, found, fix) = refusal(&files, declarations, &format!("returns: {{}} as {ty}"));
        assert_eq!((at.as_str(), found.as_str()), (place, message), "{declarations}");
        assert!(!fix.is_empty());
    }
    let (_, _, fix) = refusal(&files, cases[0].0, "returns: {} as Custmer");
    assert!(fix.starts_with("did you mean `Customer`?"), "{fix}");
}

/// Handlers import what they like: a file is read when a type or constant of it is needed.
#[test]
fn what_only_handlers_use_is_not_read() {
    let asked = Mutex::new(Vec::new());
    let load = |path: &str| {
        asked.lock().unwrap().push(path.to_owned());
        Ok((path == "types.ts").then(|| Arc::from(TYPES)))
    };
    let declarations =
        "import { call } from './api'; import { missing } from 'api'; import type { Level } from './types';";
    let text = file(declarations, "returns: {} as Level, annotations: { readOnlyHint: true }");
    parse("tool.ts", &text, &load).unwrap();
    assert_eq!(*asked.lock().unwrap(), ["types", "types.ts"]);
}

#[test]
fn the_order_in_which_files_are_looked_for() {
    let asked = Mutex::new(Vec::new());
    let load = |path: &str| {
        asked.lock().unwrap().push(path.to_owned());
        Ok(None)
    };
    for (specifier, expected) in [
        (
            "./a/../b",
            &["b", "b.ts", "b.mts", "b.d.ts", "b.js", "b.mjs", "b.json", "b/index.ts", "b/index.d.ts", "b/index.js"][..],
        ),
        ("./b.js", &["b.js", "b.ts", "b.d.ts", "b.js.ts"]),
        (".", &["index.ts", "index.d.ts", "index.js"]),
    ] {
        let text = file(&format!("import {{ B }} from '{specifier}';"), "returns: {} as B");
        assert!(parse("tool.ts", &text, &load).is_err());
        let asked = std::mem::take(&mut *asked.lock().unwrap());
        assert_eq!(&asked[..expected.len()], expected, "{specifier}");
    }
}

/// Only paths inside the folder are loaded.
#[test]
fn no_path_leaves_the_folder() {
    let load = |path: &str| {
        assert!(!path.split('/').any(|part| matches!(part, ".." | "." | "")), "{path}");
        assert!(!path.starts_with('/'), "{path}");
        Ok(None)
    };
    for specifier in
        ["../a", "./../a", "./a/../../b", "..", "./..", "/etc/passwd", "file:///etc/passwd", "./a//b", "./.././tool"]
    {
        let text = file(&format!("import {{ B }} from '{specifier}';"), "returns: {} as B");
        let result = parse("tool.ts", &text, &load);
        let is_inside = matches!(specifier, "./a//b");
        assert_eq!(result.is_err(), is_inside, "{specifier}");
    }
}

#[test]
fn files_are_bounded_in_size_and_number() {
    let note = |files: &(dyn Fn(&str) -> Option<String> + Sync), ty: &str| {
        let text = file("import { A } from './a0'; import { T0 } from './t0';", &format!("returns: {{}} as {ty}"));
        let tools = parse("tool.ts", &text, &|path| Ok(files(path).map(Arc::from))).unwrap();
        tools[0].definition.notes.iter().map(|note| note.message.clone()).collect::<Vec<_>>()
    };
    let long = note(&|path| (path == "a0.ts").then(|| " ".repeat(MAX_FILE_BYTES + 1)), "A");
    assert!(long[0].contains("'a0.ts' is longer than 1048576 bytes"), "{long:?}");
    // Each file has a mebibyte of text and the next type.
    let number = |path: &str| path.strip_prefix('t')?.strip_suffix(".ts")?.parse::<usize>().ok();
    let chain = |path: &str, filler: usize| {
        let n = number(path)?;
        let next = n + 1;
        Some(format!(
            "import {{ T{next} }} from './t{next}'; export interface T{n} {{ next: T{next} }} /*{}*/",
            " ".repeat(filler)
        ))
    };
    let total = note(&|path| chain(path, MAX_FILE_BYTES - 200), "T0");
    assert!(total[0].contains("'t4.ts' and the files before it have more than 4194304 bytes"), "{total:?}");
    let loaded = AtomicUsize::new(0);
    let many = note(
        &|path| {
            loaded.fetch_add(1, Ordering::Relaxed);
            chain(path, 0)
        },
        "T0",
    );
    assert!(many[0].contains("'t100.ts' comes after 100 other files"), "{many:?}");
    assert!(loaded.into_inner() <= 2 * (MAX_FILES + 1));
}

#[test]
fn a_file_that_cannot_be_read_is_unsupported() {
    let text = file("import { A } from './a';", "returns: {} as A");
    let tools = parse("tool.ts", &text, &|_| Err("it is not for scripts".to_owned())).unwrap();
    let note = &tools[0].definition.notes[0].message;
    assert!(note.contains("'./a' cannot be read: it is not for scripts"), "{note}");
    let text = file("import { A } from './a';", "description: A");
    let error = parse("tool.ts", &text, &|_| Err("it is not for scripts".to_owned())).unwrap_err();
    assert_eq!(error.message, "`A` is imported, and './a' cannot be read: it is not for scripts");
}
