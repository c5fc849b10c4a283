//! Selected operations of an OpenAPI document.

use capability_gen::sources::{MAX_SOURCE_BYTES, OperationFilter, Source, parse, parse_selected};
use serde_json::{Value, json};

fn document() -> Value {
    let operation = |id: &str, tag: &str| json!({ "operationId": id, "tags": [tag], "responses": {} });
    json!({
        "openapi": "3.1.0", "info": { "title": "Pets", "version": "1.0.0" },
        "paths": {
            "/pets": { "get": operation("listPets", "pets"), "post": operation("createPet", "pets") },
            "/pets/{petId}": { "parameters": [{ "name": "petId", "in": "path", "required": true, "schema": {} }],
                "get": operation("getPet", "pets") },
            "/pets/{petId}/toys": { "parameters": [{ "name": "petId", "in": "path", "required": true, "schema": {} }],
                "get": operation("listToys", "toys") },
            "/stores": { "get": operation("listStores", "stores") },
        },
    })
}

fn selected(text: &str, patterns: &[&str]) -> Result<Vec<String>, String> {
    let filter = OperationFilter::new(patterns.iter().map(|pattern| (*pattern).to_owned()).collect()).unwrap();
    let source = Source { file: "pets.json", text, name: None, format: None };
    let definitions = parse_selected(&source, &filter).map_err(|error| error.to_string())?;
    Ok(definitions[0].functions.iter().map(|function| function.name.clone()).collect())
}

#[test]
fn operations_are_selected_by_id_tag_and_path() {
    let text = document().to_string();
    let cases: [(&[&str], &[&str]); 8] = [
        (&["getPet"], &["getPet"]),
        (&["list*"], &["listPets", "listToys", "listStores"]),
        (&["tag:toys", "tag:stores"], &["listToys", "listStores"]),
        (&["/pets/*"], &["getPet"]),
        (&["/pets/**"], &["getPet", "listToys"]),
        (&["post /pets"], &["createPet"]),
        (&["GET /pets", "getPet"], &["listPets", "getPet"]),
        (&["*"], &["listPets", "createPet", "getPet", "listToys", "listStores"]),
    ];
    for (patterns, names) in cases {
        assert_eq!(selected(&text, patterns).unwrap(), names, "{patterns:?}");
    }
}

#[test]
fn a_pattern_without_a_match_is_refused_with_a_suggestion() {
    let said = selected(&document().to_string(), &["getPet", "listToyz"]).unwrap_err();
    assert!(said.contains("no operation matches \"listToyz\"") && said.contains("\"listToys\""), "{said}");
    for (pattern, meant) in [
        ("tag:pet", "\"tag:pets\""),
        ("GET /pet", "\"GET /pets\""),
        ("get /store", "\"GET /stores\""),
        ("DELETE /stores", "\"GET /stores\""),
        ("DELETE /store", "\"GET /stores\""),
        ("/store", "\"/stores\""),
        ("getPett", "\"getPet\""),
    ] {
        let said = selected(&document().to_string(), &[pattern]).unwrap_err();
        assert!(said.contains(&format!("Did you mean {meant}?")), "{pattern}: {said}");
    }
    let said = selected(r#"{ "name": "a", "parameters": {} }"#, &["*"]).unwrap_err();
    assert!(said.contains("operations") && said.contains("OpenAPI"), "{said}");
}

#[test]
fn selection_allows_larger_documents() {
    let mut large = document();
    large["info"]["description"] = "x".repeat(MAX_SOURCE_BYTES).into();
    let text = large.to_string();
    let whole = parse(&Source { file: "pets.json", text: &text, name: None, format: None }).unwrap_err().to_string();
    assert!(whole.contains("more than 8388608") && whole.contains("\"operations\": ["), "{whole}");
    assert_eq!(selected(&text, &["getPet"]).unwrap(), ["getPet"]);
}

#[test]
fn selection_allows_more_operations() {
    let mut large = document();
    for index in 0..10_001 {
        large["paths"][format!("/more/{index}")] = json!({ "get": { "operationId": format!("more{index}") } });
    }
    let text = large.to_string();
    let whole = parse(&Source { file: "pets.json", text: &text, name: None, format: None }).unwrap_err().to_string();
    assert!(whole.contains("more than 10000") && whole.contains("\"operations\": ["), "{whole}");
    assert_eq!(selected(&text, &["tag:toys"]).unwrap(), ["listToys"]);
}

#[test]
fn too_many_operations_are_refused_despite_selection() {
    let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
    let item: serde_json::Map<_, _> = methods.into_iter().map(|method| (method.to_owned(), json!({}))).collect();
    let mut large = document();
    large["components"] = json!({ "pathItems": { "shared": item } });
    for index in 0..=100_000 / methods.len() {
        large["paths"][format!("/more/{index}")] = json!({ "$ref": "#/components/pathItems/shared" });
    }
    let said = selected(&large.to_string(), &["tag:toys"]).unwrap_err();
    assert!(said.contains("$.paths: the document has more than 100000 operations. Split it"), "{said}");
}

#[test]
fn operations_have_their_tags() {
    let text = document().to_string();
    let definitions = parse(&Source { file: "pets.json", text: &text, name: None, format: None }).unwrap();
    assert_eq!(definitions[0].functions[0].tags, ["pets"]);
}
