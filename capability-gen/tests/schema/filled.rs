//! Required members with a default.

use super::place;
use capability_gen::model::{Presence, Type, Types};
use capability_gen::schema::{Reader, Reading};
use capability_gen::validate::{Validator, apply_defaults};
use serde_json::{Value, json};

fn params(raw: &Value) -> (Reading, Types) {
    let mut reader = Reader::new();
    let reading = reader.params("get_trip", raw, &place()).unwrap();
    (reading, reader.finish())
}

/// Optional and required members of every object.
fn members((reading, types): &(Reading, Types)) -> (Vec<&str>, Vec<&str>) {
    let all = types.0.iter().map(|definition| &definition.ty).chain([&reading.ty]);
    let records = all.filter_map(|ty| match ty {
        Type::Record(record) => Some(record),
        _ => None,
    });
    let (required, optional): (Vec<_>, Vec<_>) =
        records.flat_map(|record| &record.fields).partition(|field| field.presence == Presence::Required);
    (optional.into_iter().map(|field| &*field.name).collect(), required.into_iter().map(|field| &*field.name).collect())
}

/// A value with its defaults, and whether it is then valid.
fn filled(reading: &Reading, mut value: Value) -> (Value, bool) {
    apply_defaults(&reading.schema, &mut value);
    let is_valid = Validator::new(&reading.schema).unwrap().validate(&value).is_ok();
    (value, is_valid)
}

#[test]
fn a_required_member_with_a_default_may_be_omitted() {
    let read = params(&json!({
        "type": "object",
        "properties": {
            "station": { "type": "string" },
            "limit": { "type": "integer", "default": 10 },
            "page": { "$ref": "#/$defs/page" },
        },
        "required": ["station", "limit", "page"],
        "$defs": { "page": { "type": "integer", "default": 1 } },
    }));
    assert_eq!(members(&read), (vec!["limit", "page"], vec!["station"]));
    let given = filled(&read.0, json!({ "station": "Central" }));
    assert_eq!(given, (json!({ "station": "Central", "limit": 10, "page": 1 }), true));
    assert!(!filled(&read.0, json!({ "limit": 1 })).1, "what has no default must be there");
}

#[test]
fn an_invalid_default_is_not_filled_in() {
    let read = params(&json!({
        "type": "object", "properties": { "limit": { "type": "integer", "default": "ten" } }, "required": ["limit"],
    }));
    assert_eq!(members(&read), (vec![], vec!["limit"]));
}

#[test]
fn an_alternative_keeps_its_required_members() {
    let cat = json!({
        "type": "object", "required": ["kind", "name"],
        "properties": { "kind": { "const": "cat", "default": "cat" }, "name": { "type": "string" } },
    });
    let read = params(&json!({
        "type": "object",
        "properties": { "pet": { "anyOf": [{ "$ref": "#/$defs/Cat" }, { "type": "null" }] }, "own": { "$ref": "#/$defs/Cat" } },
        "$defs": { "Cat": cat },
    }));
    let (_, required) = members(&read);
    assert!(required.contains(&"kind"), "{required:?}");
}

#[test]
fn nested_members_with_a_default_may_be_omitted() {
    let item = json!({ "type": "object", "properties": { "size": { "type": "integer", "default": 1 } }, "required": ["size"] });
    let read = params(&json!({
        "type": "object", "properties": { "list": { "type": "array", "items": item }, "one": item },
    }));
    assert_eq!(members(&read).1, Vec::<&str>::new());
    let given = filled(&read.0, json!({ "list": [{}], "one": {} }));
    assert_eq!(given, (json!({ "list": [{ "size": 1 }], "one": { "size": 1 } }), true));
}

#[test]
fn a_result_keeps_its_required_members() {
    let mut reader = Reader::new();
    let raw = json!({
        "type": "object", "properties": { "limit": { "type": "integer", "default": 10 } }, "required": ["limit"],
    });
    let reading = reader.result("get_trip", &raw, &place()).unwrap();
    assert_eq!(members(&(reading, reader.finish())).1, ["limit"]);
}
