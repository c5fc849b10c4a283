//! Types and their names.

use super::shape::definitions;
use super::{params, place, result, shape_of, takes};
use crate::model::Type;
use crate::schema::Reader;
use serde_json::json;

#[test]
fn every_kind_of_type_is_read() {
    let members = [
        (json!({ "type": ["string", "null"] }), "string | null"),
        (json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }), "integer | null"),
        (json!({ "type": ["boolean", "string"] }), "boolean | string"),
        (json!({ "oneOf": [{ "const": "a" }, { "const": "b" }, { "anyOf": [{ "const": 1 }] }] }), "\"a\" | \"b\" | 1"),
        (json!({ "enum": [true, false] }), "boolean"),
        (json!({ "enum": [{}, "x"] }), "any"),
        (json!({ "not": {} }), "never"),
        (json!(false), "never"),
        (json!(true), "any"),
        (json!({ "type": "array" }), "(any)[]"),
        (json!({ "anyOf": [{ "type": "number" }, { "type": "integer" }, { "type": "number" }] }), "number"),
        (json!({ "type": "number", "anyOf": [{ "type": "integer" }, { "type": "string" }] }), "integer"),
        (json!({ "anyOf": [{ "type": "string" }, {}] }), "any"),
        (json!({ "anyOf": [{ "not": {} }, { "type": "string" }] }), "string"),
        (json!({ "type": "string", "anyOf": [{ "format": "date" }, { "format": "time" }] }), "string"),
        (
            json!({ "type": "array", "prefixItems": [{ "type": "string" }], "maxItems": 1, "minItems": 1 }),
            "[string; 1]",
        ),
    ];
    for (schema, shape) in members {
        let read = params(&json!({ "properties": { "__proto__": schema } }));
        assert_eq!(shape_of(&read), format!("{{__proto__?: {shape}}}"), "{schema}");
    }
}

#[test]
fn members_beside_a_choice_belong_to_each_branch() {
    let read = result(&json!({
        "type": "object",
        "properties": { "id": { "type": "string" }, "kind": { "type": "string" } },
        "required": ["kind"],
        "oneOf": [
            { "properties": { "kind": { "const": "file" }, "size": { "type": "integer" } }, "required": ["size"] },
            { "properties": { "kind": { "const": "folder" } } },
        ],
    }));
    let file = "{kind: \"file\", size: integer, id?: string, ...}";
    assert_eq!(shape_of(&read), format!("{file} | {{kind: \"folder\", id?: string, ...}}"));
}

#[test]
fn names_come_from_the_function_the_definition_and_the_title() {
    let mut reader = Reader::new();
    let trip =
        json!({ "title": "Trip", "type": "object", "properties": { "id": { "title": "Trip Id", "type": "string" } } });
    let input = json!({
        "title": "get_tripArguments",
        "type": "object",
        "properties": { "day": { "$ref": "#/$defs/Day" }, "stop": { "type": "object", "properties": { "x": {} } } },
        "$defs": { "Day": { "enum": ["mon", "tue"], "title": "Day" }, "Unused": { "type": "object" } },
    });
    reader.params("get_trip", &input, &place()).unwrap();
    reader.result("get_trip", &json!({ "type": "array", "items": trip }), &place()).unwrap();
    reader.result("find_trip", &trip, &place()).unwrap();
    let items = json!({ "type": "array", "items": { "type": "object", "properties": { "a": {} } } });
    reader.result("list", &items, &place()).unwrap();
    let output = json!({ "title": "countDictOutput", "type": "object", "properties": { "n": { "type": "integer" } } });
    reader.result("count", &output, &place()).unwrap();
    let other = json!({ "title": "Trip", "type": "object", "properties": { "id": { "type": "integer" } } });
    reader.result("other", &other, &place()).unwrap();
    reader
        .result("promise", &json!({ "title": "Promise", "type": "object", "properties": { "a": {} } }), &place())
        .unwrap();
    assert_eq!(
        definitions(&reader.finish()),
        [
            "GetTripParams = {day?: Day, stop?: {x?: any}}",
            "Day = \"mon\" | \"tue\"",
            "Trip = {id!: string, ...}",
            "ListResultItem = {a!: any, ...}",
            "CountResult = {n!: integer, ...}",
            "Trip2 = {id!: integer, ...}",
            "PromiseResult = {a!: any, ...}",
        ]
    );
}

#[test]
fn the_same_definition_in_two_functions_is_one_type() {
    let mut reader = Reader::new();
    let tree = |leaf: &str| {
        json!({ "type": "object", "properties": { "tree": { "$ref": "#/$defs/Node" } }, "$defs": {
            "Node": { "description": leaf, "type": "object", "properties": {
                "leaf": { "$ref": "#/$defs/Leaf" }, "inside": { "type": "array", "items": { "$ref": "#/$defs/Node" } } } },
            "Leaf": { "type": "object", "properties": { "value": { "type": leaf } } },
        } })
    };
    let first = reader.params("one", &tree("string"), &place()).unwrap();
    reader.params("two", &tree("string"), &place()).unwrap();
    reader.params("three", &tree("number"), &place()).unwrap();
    takes(
        &first,
        &[json!({ "tree": { "inside": [{ "inside": [], "leaf": { "value": "x" } }] } })],
        &[json!({ "tree": { "inside": [{ "leaf": { "value": 1 } }] } }), json!({ "tree": { "inside": [{ "x": 1 }] } })],
    );
    assert_eq!(
        definitions(&reader.finish()),
        [
            "OneParams = {tree?: Node}",
            "Node = {leaf?: Leaf, inside?: (Node)[]}",
            "Leaf = {value?: string}",
            "TwoParams = {tree?: Node}",
            "ThreeParams = {tree?: Node2}",
            "Node2 = {leaf?: Leaf2, inside?: (Node2)[]}",
            "Leaf2 = {value?: number}",
        ]
    );
}

#[test]
fn a_root_that_refers_to_itself_has_a_name() {
    let tree = json!({ "type": "object", "properties": { "children": { "type": "array", "items": { "$ref": "#" } } } });
    let taken = params(&tree);
    assert_eq!(definitions(&taken.1), ["GetTripParams = {children?: (GetTripParams)[]}"]);
    takes(&taken.0, &[json!({ "children": [{ "children": [] }] })], &[json!({ "children": [{ "x": 1 }] })]);
    assert_eq!(definitions(&result(&tree).1), ["GetTripResult = {children!: (GetTripResult)[], ...}"]);
}

#[test]
fn texts_and_limits_reach_the_types_and_not_the_clean_schema() {
    let (reading, types) = params(&json!({ "type": "object", "description": "All of it.", "properties": {
        "name": { "type": "string", "description": "Its name.", "minLength": 1, "maxLength": 80, "pattern": "^[a-z]+$" },
        "tags": { "type": "array", "maxItems": 20, "deprecated": true, "examples": [["x"]] },
        "day": { "$ref": "#/$defs/Day" },
        "title": { "type": "string", "description": "A member named title." },
    }, "$defs": { "Day": { "type": "string", "format": "date", "description": "A day." } } }));
    let Type::Record(record) = types.resolve(&reading.ty) else { panic!("no record") };
    let docs: Vec<_> = record.fields.iter().map(|field| &field.docs).collect();
    assert_eq!(docs[0].description, "Its name.");
    assert_eq!(docs[0].limits, ["length 1 to 80", "pattern: ^[a-z]+$"]);
    assert_eq!(docs[1].limits, ["at most 20 items"]);
    assert!(docs[1].is_deprecated);
    assert_eq!((docs[2].description.as_str(), docs[2].limits.as_slice()), ("A day.", &["format: date".to_owned()][..]));
    assert_eq!(types.0[0].docs.description, "All of it.");
    let text = reading.schema.to_string();
    assert!(!text.contains("Its name.") && !text.contains("examples") && !text.contains("All of it."));
    assert_eq!(reading.schema["properties"]["title"], json!({ "type": "string" }));
}
