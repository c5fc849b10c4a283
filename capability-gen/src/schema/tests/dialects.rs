//! Other dialects and tolerated mistakes, with their notes.

use super::{params, result, shape_of, takes};
use serde_json::{Value, json};

/// A member's schema, as a parameter `a` of which these values are good and those bad.
#[track_caller]
fn member(schema: Value, shape: &str, good: &[Value], bad: &[Value]) -> Vec<String> {
    let read = params(&json!({ "type": "object", "properties": { "a": schema } }));
    assert_eq!(shape_of(&read), format!("{{a?: {shape}}}"));
    let wrap = |values: &[Value]| values.iter().map(|value| json!({ "a": value })).collect::<Vec<_>>();
    takes(&read.0, &wrap(good), &wrap(bad));
    read.0.notes.into_iter().map(|note| note.message).collect()
}

#[test]
fn draft_4_and_openapi_are_converted() {
    let bounds = json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": true, "exclusiveMaximum": false });
    assert!(member(bounds, "integer", &[json!(2)], &[json!(1)]).is_empty());
    let nullable = json!({ "type": "string", "nullable": true, "enum": ["x"] });
    member(nullable, "\"x\" | null", &[json!("x"), json!(null)], &[json!("y")]);
    let tuple = json!({ "type": "array", "items": [{ "type": "number" }, { "type": "string" }],
        "additionalItems": false, "minItems": 1 });
    member(tuple, "[number, string; 1]", &[json!([1, "x"]), json!([1])], &[json!([1, "x", 2]), json!(["x"])]);
    let open_tuple = json!({ "items": [{ "type": "number" }], "additionalItems": { "type": "boolean" } });
    member(open_tuple, "[number, ...boolean; 0]", &[json!([1, true])], &[json!([1, 2]), json!("x")]);
    let dependencies = json!({ "type": "object", "properties": { "x": {}, "y": {} }, "dependencies": { "x": ["y"] } });
    member(dependencies, "{x?: any, y?: any}", &[json!({ "y": 1 })], &[json!({ "x": 1 })]);
}

#[test]
fn a_nullable_reference_is_a_union_with_null() {
    let read = params(&json!({
        "type": "object",
        "properties": { "a": { "$ref": "#/components/schemas/Trip", "nullable": true, "description": "The trip." } },
        "components": { "schemas": { "Trip": { "type": "object", "properties": { "id": { "type": "string" } } } } },
    }));
    assert_eq!(shape_of(&read), "{a?: Trip | null}");
    takes(&read.0, &[json!({ "a": null }), json!({ "a": { "id": "x" } })], &[json!({ "a": { "no": 1 } })]);
}

#[test]
fn type_names_of_other_languages_are_read_and_noted() {
    let notes = member(json!({ "type": "str" }), "string", &[json!("x")], &[json!(1)]);
    assert_eq!(notes, ["type \"str\" read as \"string\""]);
    for (name, shape) in [("INTEGER", "integer"), ("float", "number"), ("bool", "boolean"), ("list", "(any)[]")] {
        assert_eq!(member(json!({ "type": name }), shape, &[], &[json!("x")]).len(), 1, "{name}");
    }
    assert!(member(json!({ "type": "any" }), "any", &[json!(1), json!(null)], &[]).is_empty());
    assert_eq!(member(json!({ "type": "frobnicator" }), "any", &[json!(1)], &[]).len(), 1);
    assert_eq!(member(json!({ "type": [] }), "any", &[json!(1)], &[]).len(), 1);
    assert_eq!(member(json!("string"), "string", &[json!("x")], &[json!(1)]).len(), 1);
    assert_eq!(member(json!(7), "any", &[json!(1)], &[]).len(), 1);
}

#[test]
fn enums_without_valid_values_are_left_out() {
    assert_eq!(member(json!({ "type": "string", "enum": [] }), "string", &[json!("x")], &[json!(1)]).len(), 1);
    assert_eq!(member(json!({ "type": "number", "enum": ["1"] }), "number", &[json!(1)], &[json!("1")]).len(), 1);
    member(json!({ "type": "string", "enum": ["a", 1, "a", null] }), "\"a\"", &[json!("a")], &[json!(1), json!(null)]);
}

#[test]
fn malformed_keywords_are_left_out_and_noted() {
    let broken = json!({ "type": "string", "minLength": "3", "pattern": "(", "multipleOf": 0, "required": "yes" });
    assert_eq!(member(broken, "string", &[json!("x")], &[json!(1)]).len(), 4);
    let dangling = json!({ "$ref": "#/$defs/Nobody" });
    let notes = member(dangling, "any", &[json!(1)], &[]);
    assert_eq!(
        notes,
        [
            "unresolved `$ref` \"#/$defs/Nobody\", so this is any value; define it under `$defs` and refer to it as `#/$defs/…`"
        ]
    );
}

#[test]
fn only_defaults_that_fit_are_kept() {
    let (reading, types) = params(&json!({
        "type": "object",
        "properties": {
            "good": { "type": "integer", "default": 10, "minimum": 1, "maximum": 100 },
            "bad": { "type": "string", "default": null },
            "large": { "type": "integer", "default": 101, "maximum": 100 },
            "through": { "$ref": "#/$defs/Level", "default": "none" },
        },
        "$defs": { "Level": { "enum": ["low", "high"] } },
    }));
    let members = &reading.schema["properties"];
    assert_eq!(members["good"]["default"], 10);
    for name in ["bad", "large", "through"] {
        assert_eq!(members[name].get("default"), None, "{name}");
    }
    assert_eq!(reading.notes.len(), 3);
    assert_eq!(reading.notes[0].place.path, "$.parameters.properties.bad");
    let crate::model::Type::Record(record) = types.resolve(&reading.ty) else { panic!("no record") };
    assert_eq!(record.fields[0].docs.default, Some(json!(10)));
    assert_eq!(record.fields[0].docs.limits, ["1 to 100"]);
    assert_eq!(record.fields[1].docs.default, None);
}

#[test]
fn flags_on_members_make_the_required_set() {
    let flagged =
        json!({ "query": { "type": "string", "required": true }, "limit": { "type": "number", "default": 10 } });
    assert_eq!(shape_of(&params(&flagged)), "{query: string, limit?: number}");
    let whole = params(&json!({ "type": "object", "properties": flagged }));
    assert_eq!(shape_of(&whole), "{query: string, limit?: number}");
    takes(&whole.0, &[json!({ "query": "x" })], &[json!({}), json!({ "query": "x", "limt": 1 })]);
    let optional = json!({ "station": { "type": "string", "optional": true }, "date": { "type": "string" } });
    assert_eq!(shape_of(&params(&optional)), "{station?: string, date: string}");
    let all =
        json!({ "station": { "type": "string", "optional": true }, "title": { "type": "string", "optional": true } });
    assert_eq!(shape_of(&params(&all)), "{station?: string, title?: string}");
}

#[test]
fn a_flag_beside_a_required_list_is_tolerated() {
    let read = params(&json!({
        "type": "object",
        "properties": { "trainId": { "type": "string", "required": true }, "day": { "type": "string", "required": false } },
        "required": ["trainId", "trainId"],
    }));
    assert_eq!(shape_of(&read), "{trainId: string, day?: string}");
    assert_eq!(read.0.schema["required"], json!(["trainId"]));
    assert!(read.0.notes.is_empty());
}

#[test]
fn references_to_any_place_of_the_document_are_followed() {
    let read = result(&json!({
        "$id": "https://example.com/trip.json",
        "type": "object",
        "properties": {
            "from": { "$anchor": "stop", "type": "object", "properties": { "name": { "type": "string" } } },
            "to": { "$ref": "#stop" },
            "via": { "type": "array", "items": { "$ref": "#/properties/from" } },
            "next": { "$ref": "trip.json" },
            "fare": { "$ref": "https://example.com/fare.json" },
            "seat": { "$ref": "#/definitions/a~1b%20c" },
        },
        "definitions": {
            "fare": { "$id": "https://example.com/fare.json", "type": "object",
                "properties": { "in": { "$ref": "#/definitions/money" } },
                "definitions": { "money": { "type": "number" } } },
            "a/b c": { "enum": ["window", "aisle"] },
        },
    }));
    let (reading, types) = &read;
    assert_eq!(
        shape_of(&read),
        "{from!: Stop, to!: Stop, via!: (Stop)[], next!: GetTripResult, fare!: Fare, seat!: ABC, ...}"
    );
    assert!(super::shape::definitions(types).contains(&"Fare = {in!: number, ...}".to_owned()));
    let trip =
        json!({ "from": { "name": "A" }, "to": { "name": "B" }, "next": { "fare": { "in": 3 } }, "seat": "aisle" });
    takes(reading, &[trip], &[json!({ "next": { "to": { "name": 1 } } }), json!({ "fare": { "in": "3" } })]);
    assert!(reading.notes.is_empty(), "{:?}", reading.notes);
    assert!(!reading.schema.to_string().contains("$id"));
}
