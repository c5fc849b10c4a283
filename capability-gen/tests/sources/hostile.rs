use crate::sources::{check_error, one, read, read_text, refused};
use capability_gen::sources::{Format, MAX_FUNCTIONS, MAX_SOURCE_BYTES};
use serde_json::{Value, json};

const FORMATS: [Option<Format>; 7] = [
    None,
    Some(Format::Tool),
    Some(Format::OpenAi),
    Some(Format::Anthropic),
    Some(Format::Mcp),
    Some(Format::Flat),
    Some(Format::OpenApi),
];

#[test]
fn invalid_json_is_refused_with_line_and_column() {
    check_error(read_text("{\n  \"name\": oops\n}", None), "line 2, column 11", "not JSON: expected value", "Correct");
    check_error(read_text("", None), "line 1, column 0", "the document is empty", "JSON");
    check_error(read_text("{} {}", None), "line 1, column 4", "trailing characters", "Correct");
    check_error(read_text("{\"a\": 1e999}", None), "line 1, column 11", "number out of range", "Correct");
    assert!(read_text("\u{feff}{\"name\": \"a\", \"parameters\": {}}", None).is_ok());
}

/// Other parsers keep only the second.
#[test]
fn duplicate_keys_are_refused() {
    let text = "{\"name\": \"a\", \"functions\": {\n\"b\": {\"requiresApproval\": true},\n\"b\": {}}}";
    check_error(
        read_text(text, None),
        "$.functions.b",
        "duplicate key \"b\" in this object, the second at line 3",
        "Rename",
    );
    let text = "{\"tools\": [{}, {\"na me\": 1, \"na me\": 2}]}";
    check_error(read_text(text, None), "$.tools[1][\"na me\"]", "duplicate key \"na me\"", "Rename");
}

#[test]
fn deep_and_large_documents_are_refused() {
    let open = "{\"name\": \"a\", \"parameters\": ".to_owned();
    for (left, right) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = open.clone() + &left.repeat(100_000) + "1" + &right.repeat(100_000) + "}";
        for format in FORMATS {
            let error = read_text(&deep, format).unwrap_err();
            assert!(error.message.contains("nested more than 127 deep"), "{error}");
        }
    }
    let large = format!("{{\"name\": \"a\", \"description\": \"{}\"}}", "d".repeat(10_000_000));
    for format in FORMATS {
        check_error(read_text(&large, format), "$", &format!("more than {MAX_SOURCE_BYTES}"), "Split");
    }
}

#[test]
fn too_many_functions_are_refused() {
    let named = |count: usize| (0..count).map(|index| json!({"name": format!("f{index}")})).collect::<Vec<_>>();
    assert_eq!(one(&json!(named(MAX_FUNCTIONS))).functions.len(), MAX_FUNCTIONS);
    let many = named(MAX_FUNCTIONS + 1);
    refused(&json!(many), "$", "10001 functions", "Split");
    refused(&json!({"tools": many}), "$.tools", "10001 functions", "Split");
    refused(&json!({"name": "a", "functions": many}), "$.functions", "10001 functions", "Split");
    let map: serde_json::Map<_, _> = (0..=MAX_FUNCTIONS).map(|index| (format!("f{index}"), json!({}))).collect();
    refused(&json!({"name": "a", "functions": map}), "$.functions", "10001 functions", "Split");
    let half = |name: &str| json!({"name": name, "functions": named(MAX_FUNCTIONS / 2 + 1)});
    refused(&json!([half("a"), half("b")]), "$", "10002 functions", "Split");
    let paths: serde_json::Map<_, _> =
        (0..=MAX_FUNCTIONS).map(|index| (format!("/{index}"), json!({"get": {}}))).collect();
    refused(&json!({"openapi": "3.1.0", "paths": paths}), "$.paths[\"/10000\"].get", "10001 functions", "Split");
}

#[test]
fn names_from_a_prototype_are_ordinary() {
    for name in ["__proto__", "constructor", "toString", "hasOwnProperty"] {
        let tool = one(&json!({"name": name, "functions": {name: {"parameters": {name: "string"}}}}));
        assert_eq!((tool.name.as_str(), tool.functions[0].name.as_str()), (name, name));
        assert_eq!(tool.functions[0].parameters["properties"][name], json!({"type": "string"}));
        let api = json!({
            "openapi": "3.1.0",
            "paths": {"/a": {"get": {"operationId": name, "responses": {"200": {"content": {"application/json": {
                "schema": {"$ref": format!("#/components/schemas/{name}")}
            }}}}}}},
            "components": {"schemas": {name: {"type": "object", "properties": {name: {}}}}}
        });
        let function = one(&api).functions.remove(0);
        assert_eq!(function.name, name);
        assert!(function.returns.unwrap()["$defs"][name]["properties"][name].is_object());
    }
}

/// Errors quote little of a document, and no control characters.
#[test]
fn errors_are_short_and_without_control_characters() {
    let key = format!("\u{1b}[31m{}", "k".repeat(100_000));
    let error = read(&json!({"name": "a", "functions": [], key.as_str(): 1})).unwrap_err().to_string();
    assert!(error.len() < 1_000 && !error.contains('\u{1b}'), "{error}");
    let error = read(&json!({"name": "a", "parameters": {"message": key}})).unwrap_err().to_string();
    assert!(error.len() < 1_000 && !error.contains('\u{1b}'), "{error}");
}

/// Documents of a few megabytes made to take long: shared operations, shared components, many keys.
#[test]
fn hostile_documents_take_bounded_time() {
    let long = "d".repeat(1_000_000);
    let path_count = 9_000;
    let shared: serde_json::Map<_, _> =
        (0..path_count).map(|index| (format!("/{index}"), json!({"$ref": "#/components/pathItems/a"}))).collect();
    let document = |item: Value| {
        json!({"openapi": "3.1.0", "paths": shared, "components": {"pathItems": {"a": item}, "parameters": {
            "a": {"name": "a", "in": "query", "description": long, "schema": {"type": "string", "description": long}}
        }}})
    };
    let described = document(json!({"get": {"description": long}}));
    refused(&described, "$.components.pathItems.a", "too large with their references", "operations");
    let api = one(&document(json!({"get": {"parameters": [{"$ref": "#/components/parameters/a"}]}})));
    assert_eq!(api.functions.len(), path_count);
    assert_eq!(api.functions[0].parameters["properties"], json!({"a": {}}), "the description is too long to repeat");
    let keys: serde_json::Map<_, _> = (0..300_000).map(|index| (format!("f{index}"), json!([]))).collect();
    let mut function = json!({"name": "a", "parameters": {}});
    function.as_object_mut().unwrap().extend(keys);
    refused(&function, "$.f32", "more than 32 unknown keys", "Give a function");
}
