//! Hostile schemas: file access, endless loops, memory exhaustion.

use super::{params, read, result, shape_of, takes, validator};
use crate::model::Direction;
use serde_json::{Map, Value, json};

#[test]
fn references_that_leave_the_document_are_refused() {
    for text in ["file:///etc/passwd", "http://169.254.169.254/latest", "other.json#/x", "//host/x", "../up.json"] {
        for schema in [json!({ "properties": { "a": { "$ref": text } } }), json!({ "$ref": text })] {
            let error = read(Direction::Params, &schema).unwrap_err();
            assert_eq!(error.message, format!("external `$ref` {text:?} is not supported"));
            assert!(error.fix.contains("$defs"));
        }
    }
    // References in data are not followed, and unreferenced definitions are not read.
    let data = json!({ "properties": { "$ref": { "default": { "$ref": "file:///x" }, "enum": [{ "$ref": "file:///x" }] } },
        "$defs": { "Unused": { "$ref": "http://example.com" } } });
    assert!(read(Direction::Result, &data).is_ok());
}

#[test]
fn circular_references_are_cut() {
    let round = params(&json!({
        "properties": { "a": { "$ref": "#/$defs/A" }, "c": { "$ref": "#/$defs/C" }, "s": { "$ref": "#/properties/s" } },
        "$defs": { "A": { "$ref": "#/$defs/B" }, "B": { "$ref": "#/$defs/A" },
                   "C": { "anyOf": [{ "$ref": "#/$defs/C" }, { "not": { "$ref": "#/$defs/C" } }, { "type": "string" }] } },
    }));
    assert_eq!(shape_of(&round), "{a?: any, c?: C, s?: any}");
    takes(&round.0, &[json!({ "a": 1, "c": "x", "s": [] })], &[json!({ "x": 1 })]);
    assert_eq!(round.0.notes.len(), 4);
    let root = result(&json!({ "$ref": "#" }));
    assert_eq!(shape_of(&root), "any");
    let root = params(&json!({ "allOf": [{ "$ref": "#" }], "properties": { "a": {} } }));
    assert_eq!(shape_of(&root), "{a?: any}");
}

/// `count` definitions, each made from the next two times.
fn bomb(count: usize, make: impl Fn(Value, Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for index in 0..count {
        let next = json!({ "$ref": format!("#/$defs/D{}", index + 1) });
        definitions.insert(format!("D{index}"), make(next.clone(), next));
    }
    definitions.insert(format!("D{count}"), json!({ "type": "object", "properties": { "end": {} } }));
    json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/D0" } }, "$defs": definitions })
}

#[test]
fn exponential_schemas_are_refused_or_stay_small() {
    let member = |name: &str, schema: Value| json!({ "type": "object", "properties": { name: schema } });
    let doubled: [Value; 4] = [
        bomb(60, |one, two| json!({ "allOf": [one, two, member("x", json!({}))] })),
        bomb(60, |one, two| json!({ "anyOf": [one, two], "properties": { "y": {} } })),
        bomb(60, |one, two| json!({ "anyOf": [one, two], "default": { "end": 1 } })),
        bomb(300, |one, _| one),
    ];
    for schema in doubled {
        let error = read(Direction::Params, &schema).unwrap_err();
        assert!(error.message.contains("schemas for one value"), "{error}");
    }
    let spread: [Value; 4] = [
        bomb(60, |one, two| json!({ "oneOf": [member("l", one), member("r", two)], "properties": { "y": {} } })),
        bomb(60, |one, two| json!({ "type": "array", "prefixItems": [one, two] })),
        bomb(
            60,
            |one, two| json!({ "allOf": [member("x", one.clone()), member("x", json!({ "allOf": [two, one] }))] }),
        ),
        bomb(10, |one, two| json!({ "anyOf": [one, two], "properties": { "y": {} } })),
    ];
    for (index, schema) in spread.iter().enumerate() {
        for direction in [Direction::Params, Direction::Result] {
            let (reading, types) = read(direction, schema).unwrap();
            let size = reading.schema.to_string().len();
            let types = format!("{types:?}").len();
            assert!(size < 20_000_000 && types < 100_000_000, "{index}: schema of {size} bytes, types of {types}");
        }
    }
}

#[test]
fn long_chains_need_no_deep_stack() {
    let chain = |make: &dyn Fn(Value) -> Value| bomb(8_000, |next, _| make(next));
    for schema in [
        chain(&|next| json!({ "type": "object", "properties": { "next": next } })),
        chain(&|next| json!({ "type": "array", "items": next })),
        chain(&|next| json!({ "type": "object", "additionalProperties": next, "default": {} })),
        chain(&|next| json!({ "type": "object", "properties": { "a": { "anyOf": [next, { "type": "null" }] } } })),
    ] {
        for direction in [Direction::Params, Direction::Result] {
            // Small threads have small stacks.
            std::thread::scope(|scope| {
                let read = || drop(read(direction, &schema).unwrap());
                std::thread::Builder::new().stack_size(1 << 20).spawn_scoped(scope, read).unwrap().join().unwrap();
            });
        }
    }
}

#[test]
fn deep_nesting_ends_in_any_value() {
    let mut schema = json!({ "type": "string" });
    for _ in 0..300 {
        schema = json!({ "type": "object", "properties": { "a": schema } });
    }
    let (reading, _) = params(&schema);
    assert!(reading.notes.iter().any(|note| note.message.contains("64 schemas deep")));
    validator(&reading);
}

#[test]
fn large_schemas_are_read_or_refused() {
    let members = |count: usize| (0..count).map(|index| (format!("m{index}"), json!({ "type": "string" })));
    let many: Map<String, Value> = members(200_000).collect();
    let error = read(Direction::Params, &json!({ "properties": many })).unwrap_err();
    assert_eq!(error.message, "the schema has more than 100000 values");
    let wordy = json!({ "properties": { "a": { "type": "string", "description": "x".repeat(5_000_000) } } });
    assert!(params(&wordy).0.schema.to_string().len() < 300);
    let wide: Map<String, Value> = members(40_000).collect();
    let parts: Vec<Value> = wide.iter().map(|(name, schema)| json!({ "properties": { name: schema } })).collect();
    let all = read(Direction::Params, &json!({ "properties": { "all": { "allOf": parts[..12_000] } } })).unwrap();
    assert_eq!(all.0.notes.len(), 1, "{:?}", all.0.notes);
    let any = read(Direction::Params, &json!({ "properties": { "any": { "anyOf": parts[..12_000] } } })).unwrap();
    assert_eq!(shape_of(&any), "{any?: any}");
    let values: Vec<String> = (0..90_000).map(|index| format!("v{index}")).collect();
    assert!(read(Direction::Params, &json!({ "properties": { "e": { "enum": values, "default": "v1" } } })).is_ok());
    let titled = (0..15_000).map(|index| {
        (format!("m{index}"), json!({ "title": "T", "type": "object", "properties": { format!("p{index}"): true } }))
    });
    let (_, types) = read(Direction::Result, &json!({ "properties": titled.collect::<Map<String, Value>>() })).unwrap();
    assert_eq!(types.0.len(), 15_001);
}

#[test]
fn names_of_prototypes_are_ordinary_names() {
    let names = ["__proto__", "constructor", "toString", "", "*/", "\u{202e}"];
    let members: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
    let read = params(&json!({ "type": "object", "properties": members, "required": ["__proto__"] }));
    takes(&read.0, &[json!({ "__proto__": "x", "": "y" })], &[json!({}), json!({ "__proto__": 1 })]);
    assert!(shape_of(&read).starts_with("{__proto__: string, constructor?: string"));
}

/// Branches inside branches cost their number, not a power of it.
#[test]
fn nested_branches_do_not_double_the_work() {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let mut schema = json!({ "type": "string" });
        for _ in 0..50 {
            schema = json!({ keyword: [{ "type": "null" }, schema] });
        }
        let raw = json!({ "type": "object", "properties": { "a": schema } });
        // What it reads does not matter; that it ends does.
        let _ = read(Direction::Params, &raw);
        let _ = read(Direction::Result, &raw);
    }
}
