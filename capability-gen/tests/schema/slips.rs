//! Slips of the pen: errors in the project's own formats, notes in others.

use super::place;
use capability_gen::schema::{Reader, Reading};
use serde_json::{Value, json};

fn read(raw: &Value) -> Reading {
    Reader::new().params("get_trip", raw, &place()).unwrap()
}

fn slip(raw: &Value) -> (String, Vec<String>) {
    let mut reader = Reader::new();
    reader.set_strict(true);
    let error = reader.params("get_trip", raw, &place()).unwrap_err().to_string();
    (error, read(raw).notes.into_iter().map(|note| note.message).collect())
}

fn member(schema: Value) -> Value {
    json!({ "type": "object", "properties": { "station": schema } })
}

#[test]
fn slips_are_told_with_what_was_meant() {
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
    ] {
        let (error, notes) = slip(&raw);
        assert!(error.starts_with("tools.json: $.parameters") && error.contains(at), "{error}");
        assert!(error.contains(meant), "{error}");
        assert!(notes.iter().any(|note| note.contains(meant)), "{meant}: {notes:?}");
    }
}

#[test]
fn what_is_no_slip_passes() {
    let mut reader = Reader::new();
    reader.set_strict(true);
    let raw = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:x", "$comment": "", "type": "object",
        "properties": {
            // Names of members are nobody's keywords.
            "typ": { "type": "string", "x-order": 1, "examples": ["a"], "contentEncoding": "base64", "writeOnly": true },
            "requird": { "type": "str", "optional": true },
            "minLenght": { "enum": [1, 2], "default": 1, "deprecated": true },
        },
        "required": ["typ", "undeclared"],
    });
    let reading = reader.params("get_trip", &raw, &place()).unwrap();
    let notes: Vec<_> = reading.notes.into_iter().map(|note| note.message).collect();
    assert_eq!(notes, ["type \"str\" read as \"string\""]);
    let own = member(json!({ "type": "string", "widget": "select", "options": [] }));
    let reading = reader.params("get_trip", &own, &place()).unwrap();
    assert_eq!(reading.notes.len(), 2, "unknown keywords are told: {:?}", reading.notes);
}

#[test]
fn a_schema_of_nothing_but_unknown_keys_takes_no_time() {
    let keys: serde_json::Map<String, Value> = (0..90_000).map(|index| (format!("requird{index}"), json!(1))).collect();
    let started = std::time::Instant::now();
    read(&json!({ "type": "object", "properties": { "a": keys } }));
    assert!(started.elapsed().as_secs() < 20);
}
