//! Unsupported types: any value at their position, with a note.

use super::{among, definition, file};
use serde_json::{Value, json};

const DECLARATIONS: &str = "import type { Thing } from 'things'; import * as things from 'things'; import { Up } from '../up';\n\
    class Shape { area = 1 } namespace Space { export type Name = string } declare const given: string; let changing = 1;\n\
    function ask() {} const made = make(); enum Flags { A = 1 << 0 } interface Page<T> { items: T[] } enum Own { A = 1, B = A }";

/// The result of a function and the notes of its tool.
fn noted(ty: &str) -> (Value, Vec<(String, String)>) {
    let definition = definition(&file(DECLARATIONS, &format!("returns: {{}} as {ty}")));
    let notes = definition.notes.iter().map(|note| (note.place.path.clone(), note.message.clone())).collect();
    (definition.functions[0].returns.clone().expect("a schema"), notes)
}

/// Each form by itself: any value, and one note at its first character.
#[test]
fn each_form_becomes_any_value_with_one_note_at_its_place() {
    let forms = [
        ("bigint", "JSON has no bigint"),
        ("symbol", "JSON has no symbol"),
        ("() => void", "JSON has no functions"),
        ("new () => Date", "JSON has no functions"),
        ("{ (): void }", "JSON has no functions"),
        ("1n", "this literal has no JSON representation"),
        ("string extends 'a' ? 1 : 2", "conditional types are not supported"),
        ("Thing", "the type `Thing` is imported, and 'things' is not a file of the definition's folder"),
        ("Thing<string>[]", "the type `Thing` is imported"),
        ("things.Part", "the type `things.Part` is imported"),
        ("Up", "the type `Up` is imported, and '../up' is outside of the definition's folder"),
        ("import('things').Part", "the type `Part` is imported"),
        ("typeof import('things')", "`import(…)` is imported"),
        ("Map<string, string>", "`Map` has no JSON representation"),
        ("Set<string>", "`Set` has no JSON representation"),
        ("Uint8Array", "`Uint8Array` has no JSON representation"),
        ("ReturnType<typeof ask>", "`ReturnType` is not supported"),
        ("Shape", "`Shape` is a class, which is not supported"),
        ("Space.Name", "`Space.Name` is a namespace, which is not supported"),
        ("typeof given", "`given` is a variable, whose type is not supported"),
        ("typeof changing", "`changing` is a variable, whose type is not supported"),
        ("typeof ask", "`ask` is a function, whose type is not supported"),
        ("typeof made", "`made` is a computed value, whose type is not supported"),
        ("Partial<string>", "`Partial` is used on something other than one object type"),
        ("Omit<{ a: 1 }, string>", "the names in `Omit` are not literals"),
        ("string['length']", "the member `length` of this type is not supported"),
        ("string[number]", "this type has no members by number or name"),
        ("Page", "the generic type `Page` is used without its `T`"),
        ("Flags", "expected a literal value, found an operation"),
        ("Own", "`A` is not a `const` of this file that is a literal"),
    ];
    for (form, expected) in forms {
        let (schema, notes) = noted(&format!("{{ before: string; it: {form}; after: number }}"));
        let members = &schema["properties"];
        assert_eq!(
            (&members["before"]["type"], &members["after"]["type"]),
            (&json!("string"), &json!("number")),
            "{form}"
        );
        let found: Vec<&(String, String)> = notes.iter().filter(|(_, message)| message.starts_with(expected)).collect();
        let [(place, message)] = found.as_slice() else { panic!("{form}: {notes:#?}") };
        assert!(message.contains("so this is any value; "), "{form}: {message}");
        let line = place.split(':').next().unwrap();
        assert!(line == "5" || (matches!(form, "Flags" | "Own") && line == "4"), "{form}: {place}");
    }
}

#[test]
fn the_smallest_position_is_any_value() {
    let (schema, notes) =
        noted("{ list: bigint[]; pair: [string, bigint]; map: Record<string, bigint>; either?: string | bigint }");
    let members = &schema["properties"];
    assert_eq!(members["list"], json!({ "type": "array", "items": {} }));
    assert_eq!(members["pair"]["prefixItems"], json!([{ "type": "string" }, {}]));
    assert_eq!(members["map"], json!({ "type": "object", "additionalProperties": {} }));
    assert_eq!(members["either"], json!({}));
    assert_eq!(schema["required"], json!(["list", "pair", "map"]));
    assert_eq!(notes.len(), 4);
}

/// JSON omits functions from objects.
#[test]
fn members_that_are_functions_may_be_absent() {
    let (schema, notes) = noted("{ id: string; run(): void; done: () => void; [Symbol.iterator]: string }");
    assert_eq!(schema["required"], json!(["id"]));
    assert_eq!(schema["properties"], json!({ "id": { "type": "string" }, "run": {}, "done": {} }));
    assert_eq!(notes.len(), 3, "{notes:#?}");
    assert!(
        notes.iter().any(|(_, note)| note == "the name of a member is computed, so it is left out; write it as a name")
    );
}

#[test]
fn members_of_an_unsupported_base_are_left_out() {
    let types = "import { Base } from 'things';\ninterface Own extends Base { id: string }";
    let definition = definition(&file(types, "returns: {} as Own"));
    let own = definition.functions[0].returns.as_ref().unwrap()["$defs"]["Own"].clone();
    assert_eq!((&own["type"], &own["required"]), (&json!("object"), &json!(["id"])));
    let [note] = definition.notes.as_slice() else { panic!("{:#?}", definition.notes) };
    assert_eq!(note.place.path, "3:23");
    assert!(note.message.ends_with("so the members that `Own` inherits are left out; write them out"), "{note:?}");
}

#[test]
fn renamed_keys_of_a_mapped_type_are_any_object() {
    let (schema, notes) = noted("{ [K in 'a' | 'b' as `get-${K}`]: string }");
    assert_eq!(schema, json!({ "type": "object" }));
    assert_eq!(notes.len(), 1);
}

#[test]
fn dates_are_text_and_say_so_once() {
    let text = file("interface Trip { at: Date }", "parameters: {} as Trip, returns: {} as Trip");
    let definition = definition(&text);
    let returns = definition.functions[0].returns.as_ref().unwrap();
    assert_eq!(returns["$defs"]["Trip"]["properties"]["at"], json!({ "type": "string", "format": "date-time" }));
    let [note] = definition.notes.as_slice() else { panic!("{:#?}", definition.notes) };
    assert_eq!(note.place.path, "2:22");
    assert!(note.message.starts_with("a `Date` is text in JSON"));
}

#[test]
fn notes_of_a_tool_are_limited() {
    let members: String = (0..200).map(|n| format!("m{n}: bigint;\n")).collect();
    let definition = definition(&file("", &format!("returns: {{}} as {{ {members} }}")));
    assert_eq!(definition.notes.len(), 51);
    assert_eq!(definition.notes[50].message, "and 150 more like these");
}

/// A note names the file that it is about.
#[test]
fn notes_in_other_files_name_them() {
    let types = "export interface A {\n  big: bigint;\n}\n";
    let text = file("import { A } from './shared/types';", "returns: {} as A");
    let tools = among(&[("shared/types.ts", types)], &text).unwrap();
    let [note] = tools[0].definition.notes.as_slice() else { panic!() };
    assert_eq!(note.place.to_string(), "project/shared/types.ts: 2:8");
}
