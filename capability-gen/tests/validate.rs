//! Validator: messages, cost, and agreement with another implementation.

use crate::budget::ends_soon;
use capability_gen::validate::{Invalid, Issue, IssueKind, SchemaError, Validator};
use serde_json::{Value, json};
use std::time::Instant;

fn issues(schema: &Value, value: &Value) -> Vec<Issue> {
    match Validator::new(schema).unwrap().validate(value) {
        Err(Invalid::Issues(issues)) => issues,
        other => panic!("expected issues for {value}, got {other:?}"),
    }
}

fn said(schema: Value, value: Value) -> Vec<String> {
    issues(&schema, &value).iter().map(Issue::to_string).collect()
}

#[test]
fn messages_say_what_was_expected() {
    let weather = json!({
        "type": "object",
        "properties": {
            "location": { "type": "string", "minLength": 2 },
            "unit": { "enum": ["celsius", "fahrenheit"] },
            "days": { "type": "integer", "minimum": 1, "maximum": 14 },
            "channel": { "type": ["string", "null"] },
            "tags": { "type": "array", "items": { "type": "string", "pattern": "^[a-z]+$" }, "uniqueItems": true, "maxItems": 2 },
            "odd name": { "type": "number", "multipleOf": 0.5 }
        },
        "required": ["location"],
        "additionalProperties": false
    });
    let value = json!({
        "unit": "kelvin", "days": 1.5, "chanel": "x", "channel": 3, "tags": ["a", "B", "a"], "odd name": 0.3, "zzzzzzzz": 1
    });
    let expected = [
        "location: `location` is required but missing",
        "unit: expected one of 'celsius', 'fahrenheit', got 'kelvin'",
        "days: expected an integer, got 1.5",
        "chanel: unknown name `chanel`; did you mean `channel`?",
        "channel: expected a string or null, got a number",
        "tags: expected at most 2 items, got 3",
        "tags[2]: is the same as item 0, and no item may stand twice",
        "tags[1]: 'B' does not match the pattern ^[a-z]+$",
        "[\"odd name\"]: expected a multiple of 0.5, got 0.3",
        "zzzzzzzz: unknown name `zzzzzzzz`; known are `location`, `unit`, `days`, `channel`, `tags`, `odd name`",
    ];
    assert_eq!(said(weather.clone(), value), expected);
    assert_eq!(said(weather.clone(), json!([])), ["expected an object, got an array"]);
    assert_eq!(
        said(weather.clone(), json!({"location": "x", "days": 15})),
        ["location: expected at least 2 characters, got 1", "days: expected at most 14, got 15"]
    );
    let kinds: Vec<IssueKind> =
        issues(&weather, &json!({"chanel": 1, "days": "1"})).iter().map(|issue| issue.kind).collect();
    assert_eq!(kinds, [IssueKind::Missing, IssueKind::Unknown, IssueKind::Type]);
}

#[test]
fn paths_are_as_scripts_write_them() {
    let schema = json!({"$defs": {"trip": {"properties": {"stops": {"items": {"type": "string"}}}}},
        "properties": {"trips": {"items": {"$ref": "#/$defs/trip"}}, "odd \"name\"": {"items": false}}});
    let value = json!({"trips": [{}, {"stops": ["a", 1]}], "odd \"name\"": [1]});
    assert_eq!(
        said(schema, value),
        ["trips[1].stops[1]: expected a string, got a number", "[\"odd \\\"name\\\"\"][0]: no value is allowed here"]
    );
}

#[test]
fn the_nearest_alternative_is_explained() {
    let nullable = json!({"anyOf": [{"type": "object", "required": ["id"]}, {"type": "null"}]});
    assert_eq!(said(nullable.clone(), json!({})), ["id: `id` is required but missing"]);
    assert_eq!(said(nullable, json!(1)), ["expected an object or null, got a number"]);
    let constants = json!({"oneOf": [{"const": "a"}, {"const": "b"}]});
    assert_eq!(said(constants, json!("c")), ["expected one of 'a', 'b', got 'c'"]);
    let tagged = json!({"oneOf": [
        {"properties": {"type": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["type", "radius"]},
        {"properties": {"type": {"const": "square"}, "side": {"type": "number"}}, "required": ["type", "side"]}
    ]});
    assert_eq!(
        said(tagged, json!({"type": "square", "side": "1"})),
        ["side: expected a number, got a string (in the nearest of 2 alternatives)"]
    );
    let both = json!({"oneOf": [{"type": "integer"}, {"type": "number"}]});
    assert_eq!(said(both, json!(1)), ["fits more than one of the alternatives, and must fit exactly one"]);
}

#[test]
fn text_in_messages_is_short_and_clean() {
    let schema = json!({"enum": (0..100).map(|number| format!("option-{number}")).collect::<Vec<_>>()});
    let message = &said(schema, json!(format!("\u{1b}[31m\u{202e}{}", "x".repeat(10_000))))[0];
    assert!(message.contains("(88 more)") && message.chars().count() < 400, "{message}");
    assert!(!message.contains(['\u{1b}', '\u{202e}']), "{message}");
    let message = &said(json!({"maxProperties": 0, "additionalProperties": false}), json!({"a\u{7}\n": [1]}))[1];
    assert_eq!(message, "a: unknown name `a`");
    let many = said(json!({"items": {"type": "string"}}), json!(vec![1; 100_000]));
    assert_eq!((many.len(), many[32].as_str()), (33, "and 99968 more"));
}

#[test]
fn deep_values_are_refused() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let anything = Validator::new(&json!({})).unwrap();
    assert_eq!(anything.validate(&nested(100)), Ok(()));
    assert_eq!(anything.validate(&nested(200)).unwrap_err().to_string(), "nested more than 128 levels deep");
}

#[test]
fn formats_are_not_checked() {
    let email = Validator::new(&json!({"format": "email", "contentMediaType": "application/json"})).unwrap();
    assert_eq!(email.validate(&json!("no email, no json")), Ok(()));
}

#[test]
fn external_and_unresolved_references_are_refused() {
    for reference in [
        "http://example.com/s.json",
        "file:///etc/passwd",
        "other.json#/a",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        let refused = Validator::new(&json!({"properties": {"a": {"$ref": reference}}})).unwrap_err();
        assert_eq!(refused, SchemaError::Remote { reference: reference.to_owned() });
    }
    for reference in ["#/$defs/none", "#nowhere", "#/%zz"] {
        let refused = Validator::new(&json!({"$ref": reference})).unwrap_err();
        assert_eq!(refused, SchemaError::Dangling { reference: reference.to_owned() });
    }
    assert!(matches!(Validator::new(&json!({"$ref": "#/enum/0", "enum": ["a"]})), Err(SchemaError::NotASchema { .. })));
    let refused = Validator::new(&json!({"properties": {"a": {"required": false}}})).unwrap_err();
    assert_eq!(refused.to_string(), "schema: `required` at `/properties/a` must be an array of names");
    let many: Vec<Value> = (0..60_000).map(|_| json!({})).collect();
    assert_eq!(Validator::new(&json!({"allOf": many})).unwrap_err(), SchemaError::TooLarge("too many subschemas"));
    let deep = (0..1000).fold(json!({}), |inner, _| json!({"not": inner}));
    assert_eq!(Validator::new(&deep).unwrap_err(), SchemaError::TooLarge("nested too deeply"));
    let inside = json!({"$id": "https://example.com/s.json", "$ref": "https://example.com/s.json#/$defs/a", "$defs": {"a": {"type": "null"}}});
    assert_eq!(Validator::new(&inside).unwrap().validate(&Value::Null), Ok(()));
}

#[test]
fn patterns_of_both_engines_are_checked_and_others_noted() {
    let backtracking = Validator::new(&json!({"pattern": r"^(?!.*admin)(\w)\1$"})).unwrap();
    assert!(backtracking.notes().is_empty());
    assert_eq!(backtracking.validate(&json!("aa")), Ok(()));
    assert!(backtracking.validate(&json!("ab")).is_err());
    let unknown = json!({"properties": {"a": {"pattern": "(unclosed"}}, "patternProperties": {"[z-a]": {"type": "null"}}, "additionalProperties": false});
    let unknown = Validator::new(&unknown).unwrap();
    assert_eq!(unknown.notes().len(), 2, "{:?}", unknown.notes());
    assert_eq!(unknown.validate(&json!({"a": "anything", "b": 1})), Ok(()));
}

fn doubling(levels: usize, make: impl Fn(Value) -> Value, last: Value) -> Value {
    let mut definitions = serde_json::Map::new();
    definitions.insert("a0".to_owned(), last);
    for level in 1..=levels {
        definitions.insert(format!("a{level}"), make(json!({"$ref": format!("#/$defs/a{}", level - 1)})));
    }
    json!({"$ref": format!("#/$defs/a{levels}"), "$defs": definitions})
}

#[test]
fn exponential_schemas_run_out_of_fuel() {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        ends_soon(keyword, move || {
            let schema = doubling(40, |inner| json!({keyword: [inner, inner]}), json!({"type": "string"}));
            let value = if keyword == "allOf" { json!("a") } else { json!(1) };
            assert_eq!(Validator::new(&schema).unwrap().validate(&value), Err(Invalid::Budget));
        });
    }
    ends_soon("unevaluatedProperties", || {
        let unevaluated = |inner: Value| json!({"anyOf": [inner, inner], "unevaluatedProperties": false});
        let schema = doubling(40, unevaluated, json!({"properties": {"a": true}}));
        assert_eq!(Validator::new(&schema).unwrap().validate(&json!({"a": 1})), Err(Invalid::Budget));
    });
    ends_soon("recursive", || {
        let schema = json!({"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "anyOf": [
            {"items": {"$ref": "#/$defs/t"}}, {"items": {"$ref": "#/$defs/t"}}]}}});
        let value = (0..100).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(Validator::new(&schema).unwrap().validate(&value), Err(Invalid::Budget));
    });
    ends_soon("costly to explain", || {
        let cheap = json!({"type": "object"});
        let schema = json!({"allOf": [cheap, doubling(20, |inner| json!({"anyOf": [inner, inner]}), json!(false))["$defs"]["a20"]],
            "$defs": doubling(20, |inner| json!({"anyOf": [inner, inner]}), json!(false))["$defs"]});
        assert_eq!(said(schema, json!(1)).first().unwrap(), "expected an object, got a number");
    });
}

#[test]
fn loops_and_long_chains_of_references_end() {
    for schema in [json!({"$ref": "#"}), json!({"allOf": [{"$ref": "#"}]}), json!({"not": {"$ref": "#"}})] {
        ends_soon("loop", move || {
            assert_eq!(Validator::new(&schema).unwrap().validate(&json!(1)), Err(Invalid::Budget))
        });
    }
    ends_soon("chain", || {
        let schema = doubling(40_000, |inner| inner, json!({"type": "string"}));
        assert_eq!(Validator::new(&schema).unwrap().validate(&json!(1)), Err(Invalid::Budget));
    });
    ends_soon("deep explanation", || {
        let schema = json!({"$ref": "#/$defs/t", "$defs": {"t": {"allOf": [{"anyOf": [
            {"type": "array", "items": {"$ref": "#/$defs/t"}}, {"type": "null"}]}]}}});
        let value = (0..100).fold(json!(1), |inner, _| json!([inner]));
        let issues = issues(&schema, &value);
        assert_eq!(issues[0].message, "expected an array or null, got a number");
        assert_eq!(issues[0].path, "[0]".repeat(100));
    });
}

#[test]
fn large_values_and_costly_keywords_end() {
    ends_soon("unique objects", || {
        let objects: Vec<Value> = (0..100_000).map(|id| json!({"id": id, "name": format!("name {id}")})).collect();
        assert_eq!(Validator::new(&json!({"uniqueItems": true})).unwrap().validate(&json!(objects)), Ok(()));
    });
    ends_soon("enum", || {
        let schema = json!({"items": {"enum": (0..50_000).map(|at| json!({"at": at})).collect::<Vec<_>>()}});
        assert_eq!(
            Validator::new(&schema).unwrap().validate(&json!(vec![json!({"at": 49_999}); 10_000])),
            Err(Invalid::Budget)
        );
        let schema = json!({"items": {"enum": (0..50_000).map(|at| format!("{at}")).collect::<Vec<_>>()}});
        assert_eq!(Validator::new(&schema).unwrap().validate(&json!(vec!["49999"; 100_000])), Ok(()));
    });
    ends_soon("linear pattern", || {
        let text = format!("{}!", "a".repeat(100_000));
        assert!(matches!(
            Validator::new(&json!({"pattern": "(a+)+$"})).unwrap().validate(&json!(text)),
            Err(Invalid::Issues(_))
        ));
    });
    ends_soon("heavy pattern", || {
        let schema = json!({"pattern": "^(?:(?:a?b?c?d?){8}x?){50}[a-z]{400}$"});
        let _ = Validator::new(&schema).unwrap().validate(&json!("abcdx".repeat(200_000)));
    });
    ends_soon("many patterns", || {
        let patterns: serde_json::Map<String, Value> =
            (0..20_000).map(|at| (format!("^[a-z]{{{}}}{at}", at % 900), json!({}))).collect();
        let validator = Validator::new(&json!({"patternProperties": patterns})).unwrap();
        assert!(validator.notes().iter().any(|note| note.ends_with("too many patterns")));
    });
    ends_soon("backtracking pattern", || {
        let validator = Validator::new(&json!({"items": {"pattern": r"^(?:(a+)\1?)+c$"}})).unwrap();
        assert_eq!(validator.validate(&json!(vec!["a".repeat(2_000); 1_000])), Err(Invalid::Budget));
    });
}

#[test]
fn a_large_honest_value_is_checked() {
    let row = json!({"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": ["string", "null"]},
        "tags": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}}}, "required": ["id"]});
    let rows: Vec<Value> = (0..100_000).map(|id| json!({"id": id, "name": "a name", "tags": ["a", 1, "b"]})).collect();
    let validator = Validator::new(&json!({"type": "array", "items": row})).unwrap();
    let start = Instant::now();
    assert_eq!(validator.validate(&json!(rows)), Ok(()));
    println!("100,000 rows: {:?}", start.elapsed());
}
