//! Flat parameter maps, and how they are distinguished from JSON Schemas.

use super::{definition, file, refusal};
use serde_json::{Value, json};

fn parameters(value: &str) -> Value {
    definition(&file("", &format!("parameters: {value}"))).functions.remove(0).parameters
}

#[test]
fn parameters_are_required_unless_something_says_otherwise() {
    let schema = parameters(
        "{ plain: { type: 'string' }, yes: { type: 'string', required: true }, no: { type: 'string', required: false },\n\
           maybe: { type: 'string', optional: true }, sure: { type: 'string', optional: false },\n\
           given: { type: 'number', default: 1 }, short: 'integer', anything: 'any', open: { type: 'any' } }",
    );
    assert_eq!(schema["required"], json!(["plain", "yes", "sure", "short", "anything", "open"]));
    let string = json!({ "type": "string" });
    assert_eq!(
        schema["properties"],
        json!({
            "plain": string, "yes": string, "no": string, "maybe": string, "sure": string,
            "given": { "type": "number", "default": 1 }, "short": { "type": "integer" }, "anything": {}, "open": {},
        })
    );
}

#[test]
fn parameters_may_be_called_what_schemas_call_their_keywords() {
    let flat = [
        ("{ type: { type: 'string' } }", "type"),
        ("{ properties: { type: 'object' } }", "properties"),
        ("{ properties: { type: 'object', properties: {} }, name: { type: 'string' } }", "properties"),
        ("{ required: { type: 'boolean' }, type: { type: 'string' } }", "type"),
        ("{ type: 'string', query: 'string' }", "type"),
        ("{ anyOf: { type: 'array' } }", "anyOf"),
        ("{ description: { type: 'string' }, enum: { type: 'string' } }", "description"),
        ("{ items: { type: 'array', items: { type: 'string' } } }", "items"),
    ];
    for (text, name) in flat {
        let schema = parameters(text);
        assert_eq!(schema["type"], "object", "{text}");
        assert!(schema["properties"].get(name).is_some(), "{text}: {schema}");
        assert!(schema["required"].as_array().unwrap().contains(&json!(name)), "{text}: {schema}");
    }
}

#[test]
fn schemas_stay_as_they_are() {
    let schemas = [
        json!({ "type": "object", "properties": { "type": { "type": "string", "required": true } }, "required": ["type"] }),
        json!({ "properties": { "type": { "type": "string" } } }),
        json!({ "properties": {}, "additionalProperties": true }),
        json!({ "anyOf": [{ "type": "object" }] }),
        json!({ "type": ["object", "null"] }),
        json!({ "$ref": "#/$defs/A", "$defs": { "A": { "type": "object" } } }),
    ];
    for schema in schemas {
        assert_eq!(parameters(&schema.to_string()), schema);
    }
}

/// The names that a nested object requires are not a flag.
#[test]
fn nested_required_lists_are_kept() {
    let schema =
        parameters("{ address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } }");
    assert_eq!(schema["properties"]["address"]["required"], json!(["city"]));
    assert_eq!(schema["required"], json!(["address"]));
}

#[test]
fn members_of_a_nested_object_may_have_flags() {
    let schema = parameters(
        "{ address: { type: 'object', properties: { city: { type: 'string', required: true }, zip: { type: 'string' },\n\
             note: { type: 'string', optional: true }, more: { type: 'array', items: { type: 'object',\n\
             properties: { deep: { type: 'number', required: false } } } } } } }",
    );
    let address = &schema["properties"]["address"];
    assert_eq!(address["required"], json!(["city", "zip", "more"]));
    assert_eq!(address["properties"]["city"], json!({ "type": "string" }));
    let deep = &address["properties"]["more"]["items"];
    assert_eq!(deep["required"], json!([]));
    assert_eq!(deep["properties"]["deep"], json!({ "type": "number" }));
    let plain = parameters("{ a: { type: 'object', properties: { b: { type: 'string' } } } }");
    assert_eq!(plain["properties"]["a"], json!({ "type": "object", "properties": { "b": { "type": "string" } } }));
}

#[test]
fn faults_in_parameters() {
    let cases = [
        ("{ type: 'string' }", "3:66", "the parameters of `run` are not an object"),
        ("{ type: 'text' }", "3:68", "`type` is \"text\", which is not a JSON Schema type"),
        ("{ a: 'text' }", "3:68", "the type of the parameter `a` is 'text', which is not a JSON Schema type"),
        ("{ a: 5 }", "3:68", "the parameter `a` is 5, which does not say its type"),
        (
            "{ a: { b: { type: 'string' } } }",
            "3:68",
            "the parameter `a` has a member `b`, which is not a JSON Schema keyword",
        ),
        ("{ a: { optional: 'yes' } }", "3:68", "`optional` of the parameter `a` is \"yes\""),
        ("{ a: { optional: true, required: true } }", "3:68", "the parameter `a` is both required and optional"),
    ];
    for (text, place, message) in cases {
        let (at, found, fix) = refusal(&file("", &format!("parameters: {text}")));
        assert_eq!((at.as_str(), found.as_str()), (place, message), "{text}");
        assert!(!fix.is_empty());
    }
}
