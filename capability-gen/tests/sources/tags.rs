//! Tags and owners, in every format that supports them.

use crate::sources::{one, refused};
use serde_json::json;

#[test]
fn tags_reach_every_function() {
    let tool = one(&json!({
        "name": "weather", "owner": "sky team", "tags": ["weather"],
        "functions": [{ "name": "now", "tags": ["external_api", "weather"] }, { "name": "later" }],
    }));
    assert_eq!((tool.owner.as_deref(), &tool.tags[..]), (Some("sky team"), &["weather".to_owned()][..]));
    assert_eq!(tool.functions[0].tags, ["external_api", "weather"]);
    let listed =
        one(&json!({ "name": "echo", "tags": ["text"], "parameters": { "type": "object", "properties": {} } }));
    assert_eq!(listed.functions[0].tags, ["text"]);
    for meta in [json!({ "tags": ["a", "a", 1, ""] }), json!({ "_fastmcp": { "tags": ["a"] } })] {
        let server = one(&json!({ "tools": [{ "name": "x", "inputSchema": {}, "_meta": meta }] }));
        assert_eq!(server.functions[0].tags, ["a"], "{meta}");
    }
}

#[test]
fn invalid_tags_are_refused_in_our_formats() {
    let tool = |tags| json!({ "name": "weather", "functions": [{ "name": "now", "tags": tags }] });
    refused(&tool(json!("weather")), "$.functions[0].tags", "\"tags\" is text", "an array");
    refused(&tool(json!([1])), "$.functions[0].tags[0]", "a tag is a number", "text");
    refused(&tool(json!([" "])), "$.functions[0].tags[0]", "1 to 128", "Write a word");
    refused(&tool(json!(vec!["x"; 65])), "$.functions[0].tags", "more than 64", "Keep");
    refused(&json!({ "name": "a", "tagz": [], "functions": [] }), "$.tagz", "not a key", "\"tags\"");
}

#[test]
fn a_misspelt_hint_is_refused() {
    let tool = json!({ "name": "a", "functions": [{ "name": "b", "annotations": { "destructivHint": true } }] });
    refused(&tool, "$.functions[0].annotations.destructivHint", "not a key", "\"destructiveHint\"");
}

#[test]
fn a_possible_tool_without_functions_is_noted() {
    let bare = one(&json!({ "name": "weather", "description": "Weather of a place" }));
    assert!(bare.notes.iter().any(|note| note.message.contains("\"functions\"")), "{:?}", bare.notes);
    let sure = one(&json!({ "type": "function", "name": "now" }));
    assert!(sure.notes.is_empty(), "{:?}", sure.notes);
    refused(&json!({ "name": "a", "version": "1.0.0" }), "$", "no \"functions\"", "Define at least one function");
    refused(&json!({ "name": "a", "functions": [] }), "$.functions", "no function", "Define at least one function");
}
