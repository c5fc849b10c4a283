use crate::sources::{one, read_as, refused};
use capability_gen::sources::Format;
use serde_json::{Value, json};

/// The schema of the parameters of a function that is written like this.
#[track_caller]
fn schema(parameters: Value) -> Value {
    one(&json!({"name": "echo", "parameters": parameters})).functions[0].parameters.clone()
}

#[track_caller]
fn refused_at(parameters: Value, path: &str, message: &str, fix: &str) {
    refused(&json!({"name": "echo", "parameters": parameters}), &format!("$.parameters{path}"), message, fix);
}

#[test]
fn parameters_are_required_by_default() {
    let echo = schema(json!({
        "message": {"type": "string", "description": "Message to echo back"},
        "format": {"type": "string", "description": "Format style (uppercase, lowercase, title)"}
    }));
    assert_eq!(
        echo,
        json!({
            "type": "object",
            "properties": {
                "message": {"type": "string", "description": "Message to echo back"},
                "format": {"type": "string", "description": "Format style (uppercase, lowercase, title)"}
            },
            "required": ["message", "format"]
        })
    );
}

#[test]
fn flags_set_required_and_are_removed_from_the_schema() {
    let all = schema(json!({
        "plain": "integer",
        "anything": "any",
        "explicit": {"type": "string", "required": true, "default": "x"},
        "notRequired": {"type": "string", "required": false},
        "optional": {"type": "string", "optional": true},
        "notOptional": {"type": "string", "optional": false, "default": 1},
        "defaulted": {"type": "string", "default": null},
        "nested": {"type": "object", "properties": {"a": {}}, "required": ["a"]}
    }));
    assert_eq!(all["required"], json!(["plain", "anything", "explicit", "notOptional", "nested"]));
    assert_eq!(all["properties"]["plain"], json!({"type": "integer"}));
    assert_eq!(all["properties"]["anything"], json!({}));
    assert_eq!(all["properties"]["explicit"], json!({"type": "string", "default": "x"}));
    assert_eq!(all["properties"]["optional"], json!({"type": "string"}));
    assert_eq!(all["properties"]["nested"]["required"], json!(["a"]));
    assert_eq!(schema(json!({"a": {"optional": true}})), json!({"type": "object", "properties": {"a": {}}}));
}

#[test]
fn parameters_may_have_names_of_keywords() {
    let cases = [
        json!({"type": {"type": "string"}}),
        json!({"type": {"type": "string"}, "properties": {"type": "object"}}),
        json!({"properties": {"type": "object", "description": "which"}}),
        json!({"title": "string", "description": "string"}),
        json!({"type": "string", "message": "string"}),
        json!({"type": "array", "limit": "integer"}),
        json!({"type": "array", "items": {"type": "array"}, "limit": "integer"}),
        json!({"type": "string", "items": {"type": "array"}}),
        json!({"required": {"type": "boolean"}, "default": {"type": "string"}, "format": {"type": "string"}}),
        json!({"items": {"type": "array"}, "enum": {"type": "array"}}),
        json!({"definitions": {"type": "array"}, "x-id": {"type": "string"}}),
        json!({"__proto__": {"type": "string"}, "constructor": "string"}),
    ];
    for flat in cases {
        let read = schema(flat.clone());
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&read["properties"]), names(&flat), "{flat}");
        assert_eq!(read["type"], "object");
    }
}

#[test]
fn schemas_are_unchanged() {
    let cases = [
        json!({"type": "object"}),
        json!({"type": "object", "properties": {}}),
        json!({"type": ["object", "null"], "properties": {"type": {"type": "string"}}}),
        json!({"properties": {"type": {"type": "string"}, "properties": {"type": "object"}}}),
        json!({"properties": {"a": true}, "required": ["a"]}),
        json!({"type": "object", "title": "Echo", "default": {}, "x-order": ["a"], "additionalProperties": {"type": "string"}}),
        json!({"$ref": "#/$defs/Echo", "$defs": {"Echo": {"type": "object"}}}),
        json!({"oneOf": [{"type": "object"}]}),
        json!({"additionalProperties": false}),
        json!({"description": "takes nothing"}),
        json!({"type": "object", "properties": {"a": {}}, "vendor": {"type": "string"}}),
    ];
    for unchanged in cases {
        assert_eq!(schema(unchanged.clone()), unchanged);
    }
    for nothing in [json!({}), Value::Null] {
        assert_eq!(schema(nothing), json!({"type": "object", "properties": {}}));
    }
}

#[test]
fn ambiguous_parameters_are_refused() {
    refused_at(
        json!({"type": "object", "message": {"type": "string"}}),
        ".message",
        "beside \"type\"",
        "\"properties\"",
    );
    refused_at(json!({"type": "string"}), "", "of type \"string\"", "\"type\": {\"type\": …}");
    refused_at(json!({"type": "array", "description": "all"}), "", "of type \"array\"", "\"object\"");
    for items in [json!({"type": "string"}), json!({}), json!("string")] {
        refused_at(json!({"type": "array", "items": items}), "", "of type \"array\"", "\"object\"");
    }
    refused_at(
        json!({"type": "array", "contains": {"type": "string"}, "minItems": 1}),
        "",
        "of type \"array\"",
        "object",
    );
    let tool = json!({"name": "a", "functions": [
        {"name": "echo", "parameters": {"type": "array", "items": {"type": "string"}}}
    ]});
    refused(&tool, "$.functions[0].parameters", "of type \"array\", and must be an object", "\"type\": {\"type\": …}");
    let array = r#"Write {"type": "array", "items": {"type": "string"}}."#;
    refused_at(json!({"names": "string[]"}), ".names", "unknown type \"string[]\"", array);
    refused_at(json!({"message": "strng"}), ".message", "unknown type \"strng\"", "\"string\"");
    refused_at(json!({"message": "the text"}), ".message", "unknown type", "Write one of");
    refused_at(json!({"message": "string", "description": "Echoes"}), ".description", "unknown type", "Write one of");
    refused_at(json!({"message": 5}), ".message", "is a number", "a schema");
    let both = json!({"message": {"type": "string", "optional": true, "required": true}});
    refused_at(both, ".message", "contradictory", "Remove");
    refused_at(json!({"message": {"optional": "yes"}}), ".message.optional", "is text", "true or false");
    refused_at(json!({"message": {"required": 1}}), ".message.required", "is a number", "true or false");
    refused_at(json!("string"), "", "is text", "an object");
}

#[test]
fn a_given_format_resolves_ambiguity() {
    let source = json!([{"name": "echo", "parameters": {"type": "string"}}]);
    let read = read_as(&source, Format::Flat).unwrap();
    assert_eq!(read[0].functions[0].parameters["properties"], json!({"type": {"type": "string"}}));
    let source = json!([{"name": "echo", "input_schema": {"type": "string"}}]);
    let read = read_as(&source, Format::Anthropic).unwrap();
    assert_eq!(read[0].functions[0].parameters, json!({"type": "string"}));
}

#[test]
fn a_result_may_be_a_flat_map_too() {
    let returns = |returns: Value| {
        let tool = json!({"name": "a", "functions": [{"name": "get", "returns": returns}]});
        one(&tool).functions[0].returns.clone().unwrap()
    };
    assert_eq!(
        returns(json!({"id": "string", "tags": {"type": "array", "optional": true}})),
        json!({
            "type": "object",
            "properties": {"id": {"type": "string"}, "tags": {"type": "array"}},
            "required": ["id"]
        })
    );
    let schemas = [
        json!({}),
        json!({"type": "string"}),
        json!({"type": "object", "properties": {"id": {"type": "string"}}}),
        json!({"properties": {"id": {"type": "string"}}}),
        json!({"items": {"type": "string"}}),
        json!({"additionalProperties": {"type": "string"}}),
        json!({"anyOf": [{"type": "string"}]}),
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "string"}}}),
        json!({"description": "The answer"}),
    ];
    for schema in schemas {
        assert_eq!(returns(schema.clone()), schema);
    }
    let misspelt = json!({"name": "a", "functions": [{"name": "get", "returns": {"id": "string", "name": "strng"}}]});
    refused(&misspelt, "$.functions[0].returns.name", "unknown type \"strng\"", "\"string\"");
}
