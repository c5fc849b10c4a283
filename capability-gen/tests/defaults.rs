//! Default values: absent members get them, and nothing else changes.

use crate::budget::{ends_soon, exponential};
use capability_gen::validate::{Validator, apply_defaults};
use serde_json::{Value, json};

fn filled(schema: &Value, value: Value) -> Value {
    let mut once = value;
    apply_defaults(schema, &mut once);
    let mut twice = once.clone();
    apply_defaults(schema, &mut twice);
    assert_eq!(once, twice, "twice is the same as once");
    once
}

#[test]
fn absent_members_get_their_defaults() {
    let schema = json!({
        "type": "object",
        "$defs": {
            "page": { "type": "object", "properties": { "size": { "type": "integer", "default": 20 } }, "default": {} },
            "stop": { "properties": { "minutes": { "default": 5 } } }
        },
        "properties": {
            "unit": { "type": "string", "default": "celsius" },
            "days": { "type": "integer", "default": 3 },
            "page": { "$ref": "#/$defs/page" },
            "filter": { "type": "object", "properties": { "strict": { "default": true } } },
            "stops": { "type": "array", "items": { "$ref": "#/$defs/stop" }, "prefixItems": [{ "properties": { "first": { "default": true } } }] }
        },
        "allOf": [{ "properties": { "language": { "default": "en" } } }]
    });
    assert_eq!(
        filled(&schema, json!({ "days": 1 })),
        json!({ "days": 1, "unit": "celsius", "page": { "size": 20 }, "language": "en" }),
        "no absent parent is made up, a default that is a parent is filled in too"
    );
    assert_eq!(
        filled(
            &schema,
            json!({ "unit": null, "days": "x", "page": { "size": 0 }, "filter": {}, "stops": [{}, {}, 1], "language": "de" })
        ),
        json!({ "unit": null, "days": "x", "page": { "size": 0 }, "filter": { "strict": true },
            "stops": [{ "first": true }, { "minutes": 5 }, 1], "language": "de" }),
        "what is there stays, valid or not"
    );
}

#[test]
fn unusable_defaults_are_ignored() {
    let cases = [
        (json!({ "properties": { "a": { "type": "string", "default": null } } }), "not valid where it stands"),
        (json!({ "anyOf": [{ "properties": { "a": { "default": 1 } } }, true] }), "in an alternative"),
        (json!({ "if": true, "then": { "properties": { "a": { "default": 1 } } } }), "under a condition"),
        (json!({ "properties": { "a": { "default": 1 } }, "maxProperties": 0 }), "would make a valid value invalid"),
        (json!({ "default": {}, "properties": { "a": { "$ref": "#" } } }), "contains itself"),
        (json!({ "properties": { "a": { "default": 1 } }, "required": false }), "in a schema that cannot be used"),
        (
            json!({ "allOf": [{ "properties": { "a": { "$ref": "#" } } }, { "properties": { "a": { "default": {} } } }] }),
            "never ends",
        ),
    ];
    for (schema, why) in cases {
        assert_eq!(filled(&schema, json!({})), json!({}), "{why}");
    }
    let required = json!({ "properties": { "a": { "default": 1 }, "b": {} }, "required": ["a", "b"] });
    assert_eq!(filled(&required, json!({})), json!({ "a": 1 }), "an invalid value may come nearer to valid");
    let order = json!({ "allOf": [{ "properties": { "a": { "properties": { "b": { "default": 1 } } } } }, { "properties": { "a": { "default": {} } } }] });
    assert_eq!(filled(&order, json!({})), json!({ "a": { "b": 1 } }));
}

#[test]
fn default_bombs_end() {
    ends_soon("defaults", fill_bombs);
}

fn fill_bombs() {
    let mut definitions = serde_json::Map::new();
    definitions.insert("a0".to_owned(), json!({ "default": 1 }));
    for level in 1..=60 {
        let inner = json!({ "$ref": format!("#/$defs/a{}", level - 1) });
        definitions.insert(format!("a{level}"), json!({ "default": {}, "properties": { "x": inner, "y": inner } }));
    }
    let doubling = json!({ "$defs": definitions.clone(), "properties": { "a": { "$ref": "#/$defs/a60" }, "b": { "$ref": "#/$defs/a2" } } });
    let value = filled(&doubling, json!({}));
    assert_eq!(value["b"], json!({ "x": { "x": 1, "y": 1 }, "y": { "x": 1, "y": 1 } }));
    assert!(value.to_string().len() < 200_000, "{}", value.to_string().len());

    let wide = json!({ "items": { "properties": { "a": { "default": vec![0; 1000] } } } });
    assert_eq!(filled(&wide, json!(vec![json!({}); 10_000])), json!(vec![json!({}); 10_000]), "too much stays undone");

    let mut chain = serde_json::Map::new();
    for level in 0..20_000 {
        let inner = json!({ "$ref": format!("#/$defs/a{}", (level + 1) % 20_000) });
        chain.insert(format!("a{level}"), json!({ "default": {}, "properties": { "x": inner } }));
    }
    assert!(Validator::new(&json!({ "$ref": "#/$defs/a0", "$defs": chain })).is_ok());

    let mut costly = definitions;
    for at in 0..20_000 {
        costly.insert(format!("b{at}"), json!({ "default": "a", "$ref": "#/$defs/c40" }));
    }
    costly.extend(exponential());
    assert!(Validator::new(&json!({ "$defs": costly })).is_ok());
}
