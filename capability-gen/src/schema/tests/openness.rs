//! Additional members of objects: none in parameters, any in results.

use super::{params, read, result, shape_of, takes};
use crate::model::{Direction, Rest, Type};
use serde_json::json;

#[test]
fn parameters_are_closed_and_results_open_where_the_schema_is_silent() {
    let trip = json!({ "type": "object", "properties": { "stop": { "type": "object", "properties": { "id": {} } } } });
    let taken = params(&trip);
    assert_eq!(shape_of(&taken), "{stop?: {id?: any}}");
    let unknown = [json!({ "stp": 1 }), json!({ "stop": { "ix": 1 } }), json!([])];
    takes(&taken.0, &[json!({}), json!({ "stop": { "id": null } })], &unknown);
    let given = result(&trip);
    assert_eq!(shape_of(&given), "{stop!: {id!: any, ...}, ...}");
    takes(&given.0, &unknown[..2], &[json!({ "stop": 1 })]);
    let closed = json!({ "type": "object", "properties": { "a": {} }, "required": [], "additionalProperties": false });
    assert_eq!(shape_of(&result(&closed)), "{a?: any}");
}

#[test]
fn declared_additional_members_are_kept() {
    for (rest, shape, good, bad) in [
        (json!(true), "{a?: string, ...: any}", json!({ "b": 1 }), json!({ "a": 1 })),
        (json!({ "type": "number" }), "{a?: string, ...: number}", json!({ "b": 1 }), json!({ "b": "x" })),
    ] {
        let schema =
            json!({ "type": "object", "properties": { "a": { "type": "string" } }, "additionalProperties": rest });
        let taken = params(&schema);
        assert_eq!(shape_of(&taken), shape);
        takes(&taken.0, &[good], &[bad]);
    }
    let map = json!({ "type": "object", "properties": {
        "labels": { "type": "object", "additionalProperties": { "type": "string" } },
        "free": { "type": "object" },
        "by_day": { "type": "object", "patternProperties": { "^d": { "type": "number" } }, "additionalProperties": false },
        "some": { "type": "object", "required": ["id"] },
    } });
    let taken = params(&map);
    let shape = "{labels?: map<string>, free?: map<any>, by_day?: map<number>, some?: {id: any, ...: any}}";
    assert_eq!(shape_of(&taken), shape);
    let good =
        json!({ "labels": { "x": "y" }, "free": { "z": [] }, "by_day": { "d1": 1 }, "some": { "id": 1, "x": 2 } });
    takes(&taken.0, &[good], &[json!({ "by_day": { "x": 1 } }), json!({ "some": {} })]);
}

#[test]
fn a_root_without_members_takes_no_parameters() {
    let nothing = [json!({}), json!(true), json!(null), json!({ "type": "object" }), json!({ "properties": {} })];
    for schema in nothing.iter().chain(&[json!({ "type": "object", "additionalProperties": false })]) {
        let taken = params(schema);
        assert_eq!(shape_of(&taken), "{}", "{schema}");
        assert!(taken.1.0.is_empty());
        takes(&taken.0, &[json!({})], &[json!({ "a": 1 }), json!(null)]);
    }
    assert_eq!(shape_of(&params(&json!({ "type": "object", "additionalProperties": true }))), "map<any>");
    let required = params(&json!({ "type": "object", "required": ["id"] }));
    assert_eq!(shape_of(&required), "{id: any}");
    takes(&required.0, &[json!({ "id": 1 })], &[json!({}), json!({ "id": 1, "x": 2 })]);
    for schema in
        [json!(false), json!({ "type": "string" }), json!({ "anyOf": [{ "type": "array" }, { "type": "null" }] })]
    {
        let error = read(Direction::Params, &schema).unwrap_err();
        assert!(error.to_string().starts_with("tools.json: $.parameters: parameters must be an object"), "{error}");
    }
}

#[test]
fn composed_objects_are_closed_as_a_whole() {
    let any = params(&json!({ "type": "object", "properties": { "to": { "anyOf": [
        { "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] },
        { "$ref": "#/$defs/Named" },
        { "type": "string" },
    ] } }, "$defs": { "Named": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] } } }));
    assert_eq!(shape_of(&any), "{to?: {id: string} | Named | string}");
    let good = [json!({ "to": { "id": "x" } }), json!({ "to": { "id": "x", "name": "y" } }), json!({ "to": "x" })];
    takes(&any.0, &good, &[json!({ "to": { "id": "x", "nme": "y" } }), json!({ "to": {} })]);

    let free = params(&json!({ "type": "object", "properties": { "to": { "anyOf": [
        { "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] }, { "type": "object" } ] } } }));
    assert_eq!(shape_of(&free), "{to?: {id: string} | map<any>}");
    takes(&free.0, &[json!({ "to": { "anything": 1 } })], &[json!({ "to": 1 })]);

    let nullable = params(&json!({ "type": "object", "properties": {
        "to": { "oneOf": [{ "type": "object", "properties": { "id": {} } }, { "type": "null" }] } } }));
    assert_eq!(nullable.0.schema["properties"]["to"]["oneOf"][0]["additionalProperties"], false);
    takes(&nullable.0, &[json!({ "to": null })], &[json!({ "to": { "x": 1 } })]);
}

#[test]
fn all_of_objects_is_one_object() {
    let read = params(&json!({
        "type": "object",
        "allOf": [
            { "$ref": "#/$defs/Base" },
            { "properties": { "name": { "type": "string" }, "id": { "maxLength": 5 } }, "required": ["name"] },
        ],
        "$defs": { "Base": { "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] } },
    }));
    assert_eq!(shape_of(&read), "{id: string, name: string}");
    assert_eq!(read.0.schema.get("$defs"), None);
    let bad =
        [json!({ "id": "x" }), json!({ "id": "x", "name": "y", "z": 1 }), json!({ "id": "toolong", "name": "y" })];
    takes(&read.0, &[json!({ "id": "x", "name": "y" })], &bad);
}

#[test]
fn parts_that_cannot_be_merged_stay_all_of() {
    let read = params(&json!({ "type": "object", "properties": {
        "code": { "allOf": [{ "type": "string", "pattern": "^a" }, { "pattern": "z$" }] },
        "odd": { "allOf": [{ "type": "object", "properties": { "a": {} }, "additionalProperties": false },
                           { "type": "object", "properties": { "b": {} } }] },
    } }));
    takes(
        &read.0,
        &[json!({ "code": "a-z" }), json!({ "odd": { "a": 1 } })],
        &[json!({ "code": "a" }), json!({ "odd": { "b": 1 } })],
    );
    assert!(shape_of(&read).starts_with("{code?: string, odd?: "));
}

#[test]
fn conditions_are_kept_and_their_members_allowed() {
    // From an Xcode server: an identifier, a choice at the root, a condition, a member name that is not an identifier.
    let read = params(&json!({
        "$id": "https://example.com/build",
        "type": "object",
        "properties": { "projectPath": { "type": "string" }, "workspacePath": { "type": "string" },
                        "(default)": { "type": "boolean" }, "kind": { "enum": ["app", "test"] } },
        "oneOf": [{ "required": ["projectPath"] }, { "required": ["workspacePath"] }],
        "if": { "properties": { "kind": { "const": "test" } }, "required": ["kind"] },
        "then": { "properties": { "plan": { "type": "string" } }, "required": ["plan"] },
    }));
    let shape =
        "{projectPath?: string, workspacePath?: string, (default)?: boolean, kind?: \"app\" | \"test\", plan?: any}";
    assert_eq!(shape_of(&read), shape);
    let good = [
        json!({ "projectPath": "x", "(default)": true }),
        json!({ "workspacePath": "x", "kind": "test", "plan": "p" }),
    ];
    let bad = [
        json!({ "projectPath": "x", "workspacePath": "y" }),
        json!({ "projectPath": "x", "kind": "test" }),
        json!({ "projectPath": "x", "plan": "p" }),
        json!({}),
    ];
    takes(&read.0, &good, &bad);
}

/// Members named only in a condition can still be passed.
#[test]
fn members_that_a_condition_names_are_members() {
    let read = params(&json!({
        "type": "object",
        "properties": { "kind": { "type": "string" } },
        "if": { "properties": { "kind": { "const": "train" } } },
        "then": { "properties": { "platform": { "type": "string" } }, "required": ["platform"] },
        "dependentSchemas": { "kind": { "properties": { "when": { "type": "string" } } } },
    }));
    takes(
        &read.0,
        &[json!({ "kind": "train", "platform": "1" }), json!({ "kind": "bus", "when": "now" })],
        &[json!({ "kind": "train" }), json!({ "kind": "bus", "unknown": 1 })],
    );
    let types = &read.1;
    let Type::Record(record) = types.resolve(&read.0.ty) else { panic!("{:?}", read.0.ty) };
    let names: Vec<&str> = record.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["kind", "platform", "when"]);
    assert_eq!(record.rest, Rest::Closed);
}
