//! Lint of likely mistakes: errors in the project's own formats, notes in others.

use super::place;
use capability_gen::schema::{Reader, Reading};
use serde_json::{Value, json};

fn read(raw: &Value) -> Reading {
    Reader::new().params("get_trip", raw, &place()).unwrap()
}

fn mistake(raw: &Value) -> (String, Vec<String>) {
    let mut reader = Reader::new();
    reader.set_strict(true);
    let error = reader.params("get_trip", raw, &place()).unwrap_err().to_string();
    (error, read(raw).notes.into_iter().map(|note| note.message).collect())
}

fn member(schema: Value) -> Value {
    json!({ "type": "object", "properties": { "station": schema } })
}

#[test]
fn mistakes_are_reported_with_a_suggestion() {
    let object = |key: &str, value: Value| json!({ "type": "object", "properties": { "station": {} }, (key): value });
    for (raw, at, meant) in [
        (object("requird", json!(["station"])), ".requird", "`required`"),
        (object("additionalPropertys", json!(false)), ".additionalPropertys", "`additionalProperties`"),
        (member(json!({ "typ": "string" })), ".properties.station.typ", "`type`"),
        (member(json!({ "type": "string", "minLenght": 2 })), ".properties.station.minLenght", "`minLength`"),
        (member(json!({ "type": "string", "min_length": 2 })), ".properties.station.min_length", "`minLength`"),
        (member(json!({ "type": "array", "item": {} })), ".properties.station.item", "`items`"),
        (member(json!({ "type": "intger" })), ".properties.station", "\"integer\""),
        (member(json!({ "type": ["string", "nul"] })), ".properties.station", "\"null\""),
        (object("required", json!(["staton"])), "$.parameters", "`station`"),
        (
            json!({ "properties": { "a": { "$ref": "#/$defs/Tripp" } }, "$defs": { "Trip": {} } }),
            ".properties.a",
            "\"#/$defs/Trip\"",
        ),
        (member(json!({ "$ref": "#/$defs/Trip" })), ".properties.station", "`$defs`"),
        (member(json!({ "type": "frobnicator" })), ".properties.station", "string, integer"),
        (
            member(json!({ "type": "string[]" })),
            ".properties.station",
            r#"write {"type": "array", "items": {"type": "string"}}"#,
        ),
        (
            member(json!({ "type": "list[list[int]]" })),
            ".properties.station",
            r#"{"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}"#,
        ),
        (member(json!("strng")), ".properties.station", "\"string\""),
        (member(json!(5)), ".properties.station", "a schema is an object, not a number"),
        (member(json!({ "street": { "type": "string" } })), ".properties.station", "\"properties\": {…}"),
        (member(json!({ "id": "string", "name": "string" })), ".properties.station", "\"properties\": {…}"),
        (member(json!({ "type": "integer", "min": 2 })), ".properties.station.min", "`minimum`"),
        (member(json!({ "type": "string", "max": 2 })), ".properties.station.max", "`maxLength`"),
        (member(json!({ "type": "array", "min": 2 })), ".properties.station.min", "`minItems`"),
        (
            member(json!({ "minimum": 5, "maximum": 1 })),
            ".properties.station",
            "`minimum` is 5 and `maximum` is 1, so no value fits",
        ),
        (member(json!({ "exclusiveMinimum": 1, "maximum": 1 })), ".properties.station", "no value fits"),
        (
            member(json!({ "type": "string", "minLength": 5, "maxLength": 1 })),
            ".properties.station",
            "`maxLength` is 1",
        ),
        (
            json!({ "properties": { "station": {} }, "required": ["platform"], "additionalProperties": false }),
            "$.parameters",
            "`required` names `platform`, which is not among the properties, so no object fits",
        ),
    ] {
        let (error, notes) = mistake(&raw);
        assert!(error.starts_with("tools.json: $.parameters") && error.contains(at), "{error}");
        assert!(error.contains(meant), "{error}");
        assert!(notes.iter().any(|note| note.contains(meant)), "{meant}: {notes:?}");
    }
}

#[test]
fn an_error_does_not_claim_that_the_schema_was_accepted() {
    for (raw, error, note) in [
        (
            member(json!({ "type": "intger" })),
            "unknown JSON type \"intger\"; did you mean \"integer\"?",
            "unknown JSON type \"intger\", so this is any value; did you mean \"integer\"?",
        ),
        (
            member(json!({ "$ref": "#/$defs/Trip" })),
            "unresolved `$ref` \"#/$defs/Trip\"; define",
            "unresolved `$ref` \"#/$defs/Trip\", so this is any value; define",
        ),
    ] {
        let (said, notes) = mistake(&raw);
        assert!(said.contains(error), "{said}");
        assert!(notes.iter().any(|told| told.starts_with(note)), "{notes:?}");
    }
}

#[test]
fn a_required_name_that_is_not_a_property_is_reported() {
    let mut reader = Reader::new();
    reader.set_strict(true);
    let undeclared = json!({ "properties": { "station": {} }, "required": ["platform"] });
    for reading in [reader.params("a", &undeclared, &place()), reader.result("a", &undeclared, &place())] {
        let notes = reading.unwrap().notes;
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].message.contains("`platform`, which is not among the properties, so it is any value"));
    }
    // Another part of the schema may declare it.
    for silent in [
        json!({ "properties": { "station": {} }, "required": ["platform"], "additionalProperties": { "type": "string" } }),
        json!({ "properties": { "station": {} }, "required": ["platform"], "allOf": [{ "properties": { "platform": {} } }] }),
        json!({ "allOf": [
            { "properties": { "station": {} }, "required": ["platform"] },
            { "properties": { "platform": {} } },
        ] }),
        json!({ "required": ["platform"] }),
    ] {
        let notes = reader.params("a", &silent, &place()).unwrap().notes;
        assert!(notes.iter().all(|note| !note.message.contains("`required` names")), "{silent}: {notes:?}");
    }
}

#[test]
fn valid_and_unusual_schemas_pass() {
    let mut reader = Reader::new();
    reader.set_strict(true);
    let raw = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:x", "$comment": "", "type": "object",
        "properties": {
            // Names of members are not keywords.
            "typ": { "type": "string", "x-order": 1, "examples": ["a"], "contentEncoding": "base64", "writeOnly": true },
            "requird": { "type": "str", "optional": true },
            "minLenght": { "enum": [1, 2], "default": 1, "deprecated": true },
        },
        "required": ["typ"], "minProperties": 1, "maxProperties": 1,
    });
    let reading = reader.params("get_trip", &raw, &place()).unwrap();
    let notes: Vec<_> = reading.notes.into_iter().map(|note| note.message).collect();
    assert_eq!(notes, ["type \"str\" read as \"string\""]);
    // Unlikely but possible schemas get a note.
    for odd in [json!({ "id": "string" }), json!({ "widget": { "order": 1 } })] {
        let notes = reader.params("get_trip", &member(odd), &place()).unwrap().notes;
        let told = "no JSON Schema keywords, so this is any value";
        assert!(notes.iter().any(|note| note.message.starts_with(told)), "{notes:?}");
    }
    let own = member(json!({ "type": "string", "widget": "select", "options": [] }));
    let reading = reader.params("get_trip", &own, &place()).unwrap();
    assert_eq!(reading.notes.len(), 2, "unknown keywords are reported: {:?}", reading.notes);
}

#[test]
fn beyond_the_budget_unknown_names_are_reported_without_a_suggestion() {
    let letters = "m".repeat(200);
    let members: serde_json::Map<String, Value> =
        (0..1_000).map(|index| (format!("{letters}{index}"), json!({}))).collect();
    let misspelt: Vec<String> = (0..10).map(|index| format!("{letters}x{index}")).collect();
    let small = json!({ "type": "object", "properties": { "station": {} }, "required": ["staton"] });
    let raw = json!({ "type": "object", "properties": {
        "first": small,
        "large": { "type": "object", "properties": members, "required": misspelt },
        "last": small,
    } });
    let notes = read(&raw).notes;
    let suggestions: Vec<&str> = notes
        .iter()
        .filter(|note| note.message.contains("did you mean"))
        .map(|note| note.place.path.as_str())
        .collect();
    assert_eq!(suggestions, ["$.parameters.properties.first"], "{notes:?}");
    let reported = |at: &str| {
        let of = notes.iter().filter(|note| note.place.path == at && note.message.contains("`required` names"));
        of.count()
    };
    assert_eq!(reported("$.parameters.properties.last"), 1, "{notes:?}");
    // The shown prefixes of the names are equal, and duplicate notes are dropped.
    assert_eq!(reported("$.parameters.properties.large"), 1, "{notes:?}");
}

#[test]
fn an_unknown_keyword_is_reported_after_the_budget_for_suggestions() {
    let letters = "m".repeat(200);
    let members: serde_json::Map<String, Value> =
        (0..1_000).map(|index| (format!("{letters}{index}"), json!({}))).collect();
    let raw = json!({ "type": "object", "properties": {
        "large": { "type": "object", "properties": members, "required": [format!("{letters}x")] },
        "last": { "type": "string", "minLenght": 2 },
    } });
    let mut reader = Reader::new();
    reader.set_strict(true);
    let notes = reader.params("get_trip", &raw, &place()).unwrap().notes;
    let told = notes.iter().find(|note| note.place.path == "$.parameters.properties.last.minLenght");
    assert!(told.is_some_and(|note| note.message.starts_with("unknown JSON Schema keyword")), "{notes:?}");
}

#[test]
fn a_schema_of_unknown_keys_takes_bounded_time() {
    let keys: serde_json::Map<String, Value> = (0..90_000).map(|index| (format!("requird{index}"), json!(1))).collect();
    let started = std::time::Instant::now();
    read(&json!({ "type": "object", "properties": { "a": keys } }));
    assert!(started.elapsed().as_secs() < 20);
}
