//! OpenAPI documents: operations as functions, their schemas and errors. `openapi_requests` has the requests.

use crate::sources::{one, refused};
use capability_gen::definition::{Definition, FunctionDefinition, SourceKind};
use capability_gen::implementation::{HttpContent, HttpOperation, HttpResponse, HttpStyle, Implementation};
use serde_json::{Value, json};

pub(super) fn pet_store() -> Value {
    json!({
        "openapi": "3.0.3",
        "info": {"title": "Pet Store", "version": "1.2.0", "description": "Sells pets"},
        "servers": [{"url": "https://{region}.pets.example/v1/", "variables": {"region": {"default": "eu"}}}],
        "paths": {
            "/pets/{petId}": {
                "parameters": [{"$ref": "#/components/parameters/petId"}],
                "get": {
                    "operationId": "getPet",
                    "summary": "One pet",
                    "parameters": [
                        {"name": "fields", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                        {"name": "Authorization", "in": "header", "required": true, "schema": {"type": "string"}},
                        {"name": "X-Api-Key", "in": "header", "required": true, "schema": {"type": "string"}},
                        {"name": "If-Match", "in": "header", "description": "ETag", "schema": {"type": "string"}}
                    ],
                    "responses": {
                        "404": {"content": {"application/json": {"schema": {"type": "string"}}}},
                        "200": {"$ref": "#/components/responses/pet"}
                    }
                },
                "put": {
                    "operationId": "replacePet",
                    "deprecated": true,
                    "requestBody": {"required": true, "content": {
                        "application/xml": {"schema": {"type": "string"}},
                        "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}
                    }},
                    "responses": {"204": {"description": "done"}}
                },
                "delete": {"responses": {"default": {"content": {"application/json": {"schema": {}}}}}}
            }
        },
        "components": {
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "x-api-key"}},
            "parameters": {
                "petId": {"name": "petId", "in": "path", "required": true, "schema": {"type": "integer", "format": "int64"}}
            },
            "responses": {
                "pet": {"content": {"application/json; charset=utf-8": {"schema": {"$ref": "#/components/schemas/Pet"}}}}
            },
            "schemas": {
                "Pet": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "integer", "readOnly": true},
                        "name": {"type": "string"},
                        "tag": {"type": "string", "nullable": true},
                        "owner": {"$ref": "#/components/schemas/Some~1Person%20name"}
                    },
                    "required": ["id", "name"]
                },
                "Some/Person name": {
                    "type": "object",
                    "properties": {"pets": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}},
                    "example": {"$ref": "#/not/followed"}
                },
                "Unused": {"$ref": "elsewhere.json"}
            }
        }
    })
}

pub(super) fn function<'a>(definition: &'a Definition, name: &str) -> &'a FunctionDefinition {
    definition.functions.iter().find(|function| function.name == name).unwrap()
}

pub(super) fn http(function: &FunctionDefinition) -> &HttpOperation {
    match &function.implementation {
        Some(Implementation::Http(http)) => http,
        other => panic!("{other:?}"),
    }
}

/// The name, template and style of each.
pub(super) fn members(members: &[capability_gen::implementation::HttpMember]) -> Vec<(&str, &str, HttpStyle)> {
    members.iter().map(|member| (member.name.as_str(), member.value.text(), member.style)).collect()
}

pub(super) fn body(function: &FunctionDefinition) -> (&str, &HttpContent, bool) {
    let body = http(function).body.as_ref().unwrap();
    (&body.media_type, &body.content, body.is_optional)
}

#[test]
fn an_operation_is_a_function() {
    let store = one(&pet_store());
    assert_eq!((store.name.as_str(), store.version.as_deref()), ("company-crm", Some("1.2.0")));
    assert_eq!((store.source, store.description.as_str()), (SourceKind::Sdk, "Sells pets"));
    let get = function(&store, "getPet");
    assert_eq!((get.title.as_deref(), get.description.as_str()), (Some("One pet"), "One pet"));
    assert_eq!(get.annotations.read_only_hint, Some(true));
    assert_eq!(get.place.path, "$.paths[\"/pets/{petId}\"].get");
    assert_eq!(
        get.parameters,
        json!({
            "type": "object",
            "properties": {
                "petId": {"type": "integer", "format": "int64"},
                "fields": {"type": "array", "items": {"type": "string"}},
                "If-Match": {"type": "string", "description": "ETag"}
            },
            "required": ["petId"]
        })
    );
    let http = http(get);
    assert_eq!((http.method.as_str(), &http.body), ("GET", &None));
    assert_eq!(http.url.text(), "https://eu.pets.example/v1/pets/{{petId}}");
    assert_eq!(members(&http.query), [("fields", "{{fields}}", HttpStyle::Repeat)]);
    assert_eq!(members(&http.headers), [("If-Match", "{{If-Match}}", HttpStyle::Comma)]);
    assert_eq!(http.response, HttpResponse::Json);
    let delete = function(&store, "delete /pets/{petId}");
    assert_eq!((delete.returns.as_ref(), delete.annotations.destructive_hint), (None, Some(true)));
}

#[test]
fn results_contain_referenced_schemas() {
    let store = one(&pet_store());
    let returns = function(&store, "getPet").returns.clone().unwrap();
    assert_eq!(returns["$ref"], "#/$defs/Pet");
    assert_eq!(returns["$defs"]["Pet"]["properties"]["owner"]["$ref"], "#/$defs/Some_Person_name");
    let person = &returns["$defs"]["Some_Person_name"];
    assert_eq!(person["properties"]["pets"]["items"]["$ref"], "#/$defs/Pet");
    assert_eq!(person["example"], json!({"$ref": "#/not/followed"}));
    assert_eq!(returns["$defs"].as_object().unwrap().len(), 2);
    assert_eq!(function(&store, "replacePet").returns, None);
}

#[test]
fn members_of_an_object_body_become_parameters() {
    let store = one(&pet_store());
    let replace = function(&store, "replacePet");
    let names: Vec<_> = replace.parameters["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["petId", "name", "tag", "owner"], "and what only answers have is left out");
    assert_eq!(replace.parameters["required"], json!(["petId", "name"]));
    assert_eq!(replace.parameters["properties"]["tag"], json!({"type": "string", "nullable": true}));
    assert!(replace.parameters["$defs"]["Pet"].is_object(), "the owner's pets");
    let content = json!({"name": "{{name}}", "tag": "{{tag}}", "owner": "{{owner}}"});
    assert_eq!(body(replace), ("application/json", &HttpContent::Json(content), false));
    assert_eq!(http(replace).response, HttpResponse::Auto);
}

#[test]
fn credentials_are_not_parameters() {
    let notes = one(&pet_store()).notes;
    let messages: Vec<_> = notes.iter().map(|note| note.message.as_str()).collect();
    assert!(messages[0].contains("\"Authorization\"") && messages[1].contains("\"X-Api-Key\""), "{messages:?}");
    assert_eq!(notes[0].place.path, "$.paths[\"/pets/{petId}\"].get.parameters[1]");
}

/// The function of a document with this one operation.
#[track_caller]
pub(super) fn operation(path: &str, operation: Value) -> FunctionDefinition {
    one(&json!({"openapi": "3.1.0", "paths": {path: {"post": operation}}})).functions.remove(0)
}

#[test]
fn conflicting_and_undescribed_names_are_distinguished() {
    let id = |location: &str| json!({"name": "id", "in": location, "required": true, "schema": {"type": location}});
    let function = operation("/a/{id}/{__proto__}", json!({"parameters": [id("query"), id("header"), id("query")]}));
    let names = |key: &str| function.parameters[key].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names("properties"), ["id", "id_header", "id_path", "__proto__"]);
    assert_eq!(members(&http(&function).headers), [("id", "{{id_header}}", HttpStyle::Comma)]);
    assert_eq!(http(&function).url.text(), "/a/{{id_path}}/{{__proto__}}");
}

#[test]
fn schemas_with_the_same_name_stay_separate() {
    let document = json!({
        "openapi": "3.1.0",
        "paths": {"/a": {"get": {"responses": {"2XX": {"content": {"application/problem+json": {"schema": {
            "$defs": {"a": {}},
            "anyOf": [{"$ref": "#/components/schemas/a"}, {"$ref": "#/components/schemas/b/properties/a"}]
        }}}}}}}},
        "components": {"schemas": {
            "a": {"$id": "https://example.com/a", "type": "string"},
            "b": {"properties": {"a": {"type": "integer"}, "$ref": {"default": 1}}}
        }}
    });
    let returns = one(&document).functions[0].returns.clone().unwrap();
    assert_eq!(returns["anyOf"], json!([{"$ref": "#/$defs/a_2"}, {"$ref": "#/$defs/a_3"}]));
    assert_eq!(returns["$defs"], json!({"a": {}, "a_2": {"type": "string"}, "a_3": {"type": "integer"}}));
}

/// Components that refer to each other would be copied completely into every function.
#[test]
fn parts_of_too_large_schemas_allow_any_value() {
    let refer = |index: usize| json!({"$ref": format!("#/components/schemas/s{}", index % 400)});
    let schemas = (0..400).map(|index| {
        let next = json!({"type": "object", "properties": {"a": refer(index * 3 + 1), "b": refer(index * 7 + 5)}});
        let described = json!({"description": "d".repeat(4_000), "allOf": [next]});
        (format!("s{index}"), described)
    });
    let answer = json!({"responses": {"200": {"content": {"application/json": {"schema": refer(0)}}}}});
    let paths = (0..1_000).map(|index| (format!("/p{index}"), json!({"get": answer})));
    let (schemas, paths): (serde_json::Map<_, _>, serde_json::Map<_, _>) = (schemas.collect(), paths.collect());
    let servers = json!([{"url": "https://a.example"}]);
    let api = one(&json!({"openapi": "3.0.0", "servers": servers, "paths": paths, "components": {"schemas": schemas}}));
    assert_eq!(api.functions.len(), 1_000);
    assert_eq!(api.notes.len(), 1_000);
    assert!(api.notes[0].message.contains("too large"), "{:?}", api.notes[0]);
    let returns = api.functions[999].returns.as_ref().unwrap();
    assert!(returns["$defs"]["s0"]["allOf"].is_array(), "the nearest is there");
    assert!(returns["$defs"].as_object().unwrap().values().any(|schema| schema == &json!({})), "the farthest is open");
    assert!(returns.to_string().len() < 64 * 1024);
}

pub(super) fn with(path: &str, value: Value) -> Value {
    let mut document = pet_store();
    let (parent, key) = path.rsplit_once('/').unwrap();
    document.pointer_mut(parent).unwrap()[key.replace("~1", "/")] = value;
    document
}

#[test]
fn errors_have_their_place() {
    let get = "$.paths[\"/pets/{petId}\"].get";
    refused(&json!({"swagger": "2.0", "paths": {}}), "$.swagger", "Swagger 2.0", "Convert it to OpenAPI 3");
    refused(&with("/openapi", json!("4.0.0")), "$.openapi", "unsupported OpenAPI version \"4.0.0\"", "3.0 or 3.1");
    refused(&with("/openapi", json!(3)), "$.openapi", "is a number", "text");
    refused(&with("/paths", json!({})), "$.paths", "no function", "at least one");
    refused(&with("/paths", Value::Null), "$", "no \"paths\"", "operations");
    refused(&with("/paths/~1pets~1{petId}/get", json!([])), get, "is an array", "an object");
    let twice = with("/paths/~1pets~1{petId}/put/operationId", json!("getPet"));
    refused(&twice, "$.paths[\"/pets/{petId}\"].put", "first at", "Rename");
    let external = with("/components/schemas/Pet/properties/owner/$ref", json!("people.json#/Person"));
    refused(&external, "$.components.schemas.Pet", "\"people.json#/Person\" points outside", "Bundle");
    let scheme = with("/components/securitySchemes", json!({"key": {"$ref": "#/components/securitySchemes/kye"}}));
    refused(&scheme, "$.components.securitySchemes.key", "unresolved reference", "securitySchemes/key");
    let malformed = with("/components/schemas/Pet/properties/owner/$ref", json!("#/components/schemas/%zz"));
    refused(&malformed, "$.components.schemas.Pet", "malformed", "Bundle");
    let circle = with("/components/parameters/petId", json!({"$ref": "#/components/parameters/petId"}));
    refused(&circle, "$.components.parameters.petId", "circular reference", "definition");
    let place = with("/components/parameters/petId/in", json!("matrix"));
    refused(&place, "$.components.parameters.petId", "invalid \"in\"", "path, query");
    let schema = with("/components/parameters/petId/schema", json!("integer"));
    refused(&schema, "$.components.parameters.petId.schema", "is text", "an object");
    let parameters = with("/paths/~1pets~1{petId}/get/parameters", json!({}));
    refused(&parameters, &format!("{get}.parameters"), "is an object", "an array");
    let unnamed = with("/paths/~1pets~1{petId}/get/operationId", json!(""));
    refused(&unnamed, get, "name is empty", "name");
}

#[test]
fn metadata_of_the_document_is_used_if_valid() {
    let mut document = with("/info/version", json!("2024-01"));
    document["info"]["title"] = json!(" ");
    let store = one(&document);
    assert_eq!((store.name.as_str(), store.version), ("company-crm", None));
}

#[test]
fn an_unresolved_reference_is_any_value_with_a_suggestion() {
    let told = |pointer: &str, value: Value, at: &str, note: &str| {
        let definition = one(&with(pointer, value));
        let found = definition.notes.iter().find(|found| found.message.contains("unresolved `$ref`"));
        let found = found.unwrap_or_else(|| panic!("{pointer}: {:?}", definition.notes));
        assert!(found.place.path.starts_with(at) && found.message.contains(note), "{found:?}");
        definition
    };
    let pet = told(
        "/components/schemas/Pet/properties/owner",
        json!({"$ref": "#/components/schemas/Pt", "description": "Whose"}),
        "$.components.schemas.Pet",
        "unresolved `$ref` \"#/components/schemas/Pt\", so this is any value; did you mean \"#/components/schemas/Pet\"?",
    );
    let get = pet.functions.iter().find(|function| function.returns.is_some()).unwrap();
    assert_eq!(get.returns.as_ref().unwrap()["$defs"]["Pet"]["properties"]["owner"], json!({"description": "Whose"}));
    let nobody = json!("#/components/schemas/Nobody");
    told("/components/schemas/Pet/properties/owner/$ref", nobody, "$.components.schemas.Pet", "define it under");
    let get = "/paths/~1pets~1{petId}/get";
    let response = json!({"$ref": "#/components/responses/pett"});
    told(&format!("{get}/responses/200"), response, "$.paths", "so the result is any value; did you mean");
    let parameter = json!([{"$ref": "#/components/parameters/petIt"}]);
    told(&format!("{get}/parameters"), parameter, "$.paths", "so this parameter is left out; did you mean");
    let item = json!({"$ref": "#/components/pathItems/none"});
    told("/paths/~1none", item, "$.paths[\"/none\"]", "so this path is left out");
    let body = json!({"$ref": "#/components/requestBodies/none"});
    told("/paths/~1none", json!({"post": {"requestBody": body}}), "$.paths", "so the body is any JSON");
}

#[test]
fn an_unresolved_reference_is_reported_once() {
    let missing = json!({"$ref": "#/components/schemas/Pt"});
    let mut document = with("/components/schemas/Pet/properties/owner", missing.clone());
    document["components"]["parameters"]["petId"]["schema"] = missing.clone();
    let answer = json!({"content": {"application/json": {"schema": {"type": "array", "items": missing}}}});
    document["paths"]["/pets/{petId}"]["delete"]["responses"]["200"] = answer;
    let notes = one(&document).notes;
    let lost: Vec<_> = notes.iter().filter(|note| note.message.contains("unresolved `$ref`")).collect();
    assert_eq!(lost.len(), 1, "{lost:?}");
}
