//! Requests of OpenAPI operations: bodies, servers, and the style of parameters.

use crate::sources::one;
use crate::sources::openapi::{body, function, http, members, operation, pet_store, with};
use capability_gen::definition::Definition;
use capability_gen::implementation::{HttpContent, HttpStyle};
use serde_json::{Value, json};

fn json_body(is_required: bool, schema: Value) -> Value {
    json!({"requestBody": {"required": is_required, "content": {"application/json": {"schema": schema}}}})
}

#[test]
fn other_bodies_are_one_parameter() {
    let named = json!({"type": "object", "properties": {"id": {"type": "string"}}});
    let clash = operation("/a/{id}", json_body(true, named.clone()));
    assert_eq!(clash.parameters["properties"], json!({"id": {"type": "string"}, "body": named}));
    assert_eq!(clash.parameters["required"], json!(["id", "body"]));
    assert_eq!(body(&clash).1, &HttpContent::Json(json!("{{body}}")));
    let schemas = [
        json!({"type": "array", "items": {"type": "string"}}),
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"a": {}}, "additionalProperties": true}),
        json!({"type": "object", "properties": {"a": {}}, "required": ["b"]}),
        json!({"allOf": [named]}),
        json!(true),
    ];
    for schema in schemas {
        let function = operation("/a", json_body(false, schema.clone()));
        assert_eq!(function.parameters, json!({"type": "object", "properties": {"body": schema}}));
    }
    let text = json!({"requestBody": {"content": {"text/plain": {"schema": {"type": "string"}}}}});
    let text = operation("/a", text);
    assert!(matches!(body(&text), ("text/plain", HttpContent::Text(whole), true) if whole.text() == "{{body}}"));
}

#[test]
fn an_optional_bodys_members_are_required_together() {
    let schema = json!({"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "required": ["a", "b"]});
    let function = operation("/a", json_body(false, schema));
    assert_eq!(function.parameters.get("required"), None);
    let dependent = json!({"a": ["b"], "b": ["a"], "c": ["a", "b"]});
    assert_eq!(function.parameters["dependentRequired"], dependent);
}

fn servers(servers: Value) -> Definition {
    one(&with("/servers", servers))
}

#[test]
fn requests_go_to_the_first_server_of_the_nearest_owner() {
    let url = |definition: &Definition| http(function(definition, "getPet")).url.text().to_owned();
    let plain = servers(json!([{"url": "http://localhost:8080"}, {"url": "https://b.example"}]));
    assert_eq!(url(&plain), "http://localhost:8080/pets/{{petId}}");
    let mut document = pet_store();
    document["paths"]["/pets/{petId}"]["servers"] = json!([{"url": "https://path.example"}]);
    assert_eq!(url(&one(&document)), "https://path.example/pets/{{petId}}");
    document["paths"]["/pets/{petId}"]["get"]["servers"] = json!([{"url": "https://own.example"}]);
    assert_eq!(url(&one(&document)), "https://own.example/pets/{{petId}}");
}

#[test]
fn an_invalid_server_is_reported_once() {
    let hostile = [
        json!([{"url": "/api/v3"}]),
        json!([{"url": "https://user:pass@pets.example"}]),
        json!([{"url": "https://pets.example\\@evil.example"}]),
        json!([{"url": "https://pets.example?to=evil"}]),
        json!([{"url": "file:///etc/passwd"}]),
        json!([{"url": "https://{host}", "variables": {"host": {"default": "a.example@evil.example"}}}]),
        json!([{"url": "https://{host}/", "variables": {}}]),
        json!([]),
        Value::Null,
    ];
    for document in hostile {
        let definition = servers(document.clone());
        assert_eq!(http(function(&definition, "getPet")).url.text(), "/pets/{{petId}}", "{document}");
        let said: Vec<_> =
            definition.notes.iter().filter(|note| note.message.ends_with("its functions cannot be called")).collect();
        assert_eq!(said.len(), 1, "{document}");
    }
}

#[test]
fn lists_and_objects_are_written_in_the_documents_style() {
    let list = json!({"type": "array", "items": {"type": "string"}});
    let query = |name: &str, more: Value| {
        let mut parameter = json!({"name": name, "in": "query", "schema": list});
        parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        parameter
    };
    let parameters = json!([
        query("a", json!({})),
        query("b", json!({"explode": false})),
        query("c", json!({"style": "spaceDelimited"})),
        query("d", json!({"style": "pipeDelimited"})),
        query("e", json!({"style": "deepObject", "schema": {"type": "object"}})),
        query("f", json!({"schema": {"type": "object"}})),
        query("g", json!({"schema": null, "content": {"application/json": {"schema": {}}}})),
        {"name": "h", "in": "path", "style": "matrix", "schema": {"type": "string"}},
        {"name": "i", "in": "path", "style": "label", "schema": {"type": "string"}},
        {"name": "j", "in": "cookie", "schema": {"type": "string"}},
        {"name": "k{}", "in": "query", "schema": {"type": "string"}},
    ]);
    let function = operation("/a/{h}/x{i}?fixed=1#fragment", json!({"parameters": parameters}));
    let styles: Vec<_> =
        members(&http(&function).query).into_iter().map(|(name, _, style)| (name.to_owned(), style)).collect();
    let expected = [
        ("fixed", HttpStyle::Repeat),
        ("a", HttpStyle::Repeat),
        ("b", HttpStyle::Comma),
        ("c", HttpStyle::Space),
        ("d", HttpStyle::Pipe),
        ("e", HttpStyle::Brackets),
        ("f", HttpStyle::Members),
        ("g", HttpStyle::Json),
        ("k{}", HttpStyle::Repeat),
    ];
    assert_eq!(styles, expected.map(|(name, style)| (name.to_owned(), style)));
    assert_eq!(http(&function).url.text(), "/a/;h={{h}}/x.{{i}}");
    assert_eq!(members(&http(&function).cookies), [("j", "{{j}}", HttpStyle::Comma)]);
    assert_eq!(members(&http(&function).query).last().unwrap().1, "{{k__}}");
}

#[test]
fn lists_and_objects_in_paths_and_headers_are_written_in_the_documents_style() {
    let (list, object) = (json!({"type": "array"}), json!({"type": "object"}));
    let written = |more: Value| {
        let mut parameter = json!({"name": "a b", "in": "path"});
        parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let function = operation("/x/{a b}", json!({"parameters": [parameter]}));
        let http = http(&function);
        let style = http.path.get("a b").map(|style| (style.style, style.between.clone()));
        (http.url.text().to_owned(), style)
    };
    let style = |style, between: &str| Some((style, between.to_owned()));
    for (parameter, url, expected) in [
        (json!({"schema": list}), "/x/{{a b}}", None),
        (json!({"schema": list, "explode": true}), "/x/{{a b}}", None),
        (json!({"schema": object}), "/x/{{a b}}", style(HttpStyle::Comma, ",")),
        (json!({"schema": object, "explode": true}), "/x/{{a b}}", style(HttpStyle::Members, ",")),
        (json!({"schema": list, "style": "label"}), "/x/.{{a b}}", None),
        (json!({"schema": list, "style": "label", "explode": true}), "/x/.{{a b}}", style(HttpStyle::Members, ".")),
        (json!({"schema": list, "style": "matrix"}), "/x/;a%20b={{a b}}", None),
        (
            json!({"schema": list, "style": "matrix", "explode": true}),
            "/x/;a%20b={{a b}}",
            style(HttpStyle::Repeat, ";a%20b="),
        ),
        (json!({"schema": object, "style": "matrix", "explode": true}), "/x/;{{a b}}", style(HttpStyle::Members, ";")),
        (json!({"content": {"application/json": {}}}), "/x/{{a b}}", style(HttpStyle::Json, ",")),
    ] {
        assert_eq!(written(parameter.clone()), (url.to_owned(), expected), "{parameter}");
    }
    let header = |explode: bool| json!({"name": "H", "in": "header", "schema": object, "explode": explode});
    for (explode, expected) in [(false, HttpStyle::Comma), (true, HttpStyle::Members)] {
        let function = operation("/x", json!({"parameters": [header(explode)]}));
        assert_eq!(members(&http(&function).headers), [("H", "{{H}}", expected)]);
    }
}

#[test]
fn unsupported_requests_have_no_implementation() {
    let multipart = json!({"requestBody": {"content": {"multipart/form-data": {"schema": {"type": "object"}}}}});
    let xml = json!({"requestBody": {"content": {"application/xml": {"schema": {"type": "object"}}}}});
    let lines = json!({"requestBody": {"content": {"text/plain\r\nX: y": {"schema": {"type": "string"}}}}});
    for (path, document) in [("/a", multipart), ("/a", xml), ("/a", lines), ("/../a", json!({})), ("/a b", json!({}))] {
        assert_eq!(operation(path, document.clone()).implementation, None, "{path} {document}");
    }
    let form = json!({"requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": {
        "type": "object", "properties": {"a": {"type": "string"}}}}}}});
    assert!(matches!(body(&operation("/a", form)).1, HttpContent::Form(members) if members.len() == 1));
}
