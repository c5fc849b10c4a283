use crate::sources::{check_error, one, read, read_as, refused};
use capability_gen::definition::{ServerExtras, SourceKind};
use capability_gen::sources::{Format, parse_value};
use serde_json::{Value, json};

fn list_channels() -> Value {
    json!({
        "name": "slack_list_channels",
        "title": "List channels",
        "description": "List public channels",
        "inputSchema": {"type": "object", "properties": {"limit": {"type": "number", "default": 100}}},
        "outputSchema": {"type": "object", "properties": {"channels": {"type": "array"}}},
        "annotations": {"readOnlyHint": true, "title": "not this", "openWorldHint": "yes", "category": "chat"},
        "execution": {"taskSupport": "forbidden"}
    })
}

#[test]
fn every_envelope_gives_the_same_capability() {
    let tools = json!([list_channels()]);
    let envelopes = [
        json!({"tools": tools}),
        json!({"result": {"tools": tools, "serverInfo": {"version": "9.9.9"}}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}),
        tools.clone(),
        list_channels(),
    ];
    for envelope in envelopes {
        let slack = parse_value("mcp:slack", &envelope, Some("slack"), None).unwrap().remove(0);
        assert_eq!((slack.name.as_str(), slack.version.as_deref()), ("slack", None));
        assert_eq!((slack.source, slack.is_single_function), (SourceKind::Mcp, false));
        let function = &slack.functions[0];
        assert_eq!((function.name.as_str(), function.title.as_deref()), ("slack_list_channels", Some("List channels")));
        assert_eq!(function.description, "List public channels");
        assert_eq!(function.parameters, list_channels()["inputSchema"]);
        assert_eq!(function.returns, Some(list_channels()["outputSchema"].clone()));
        assert_eq!((function.annotations.read_only_hint, function.annotations.open_world_hint), (Some(true), None));
        assert!(!function.is_result_wrapped);
    }
}

#[test]
fn legacy_absent_and_empty_schemas_are_accepted() {
    let legacy = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let server = one(&json!({"tools": [
        {"name": "legacy", "parameters": legacy, "annotations": {"title": "Legacy"}},
        {"name": "absent"},
        {"name": "empty", "inputSchema": {}, "description": 5},
        {"name": "null", "inputSchema": null, "outputSchema": null}
    ]}));
    assert_eq!(server.source, SourceKind::Mcp);
    assert_eq!(server.functions[0].parameters, legacy);
    assert_eq!(server.functions[0].title.as_deref(), Some("Legacy"));
    for function in &server.functions[1..] {
        assert_eq!(function.parameters, json!({"type": "object", "properties": {}}), "{}", function.name);
        assert_eq!((function.returns.as_ref(), function.description.as_str()), (None, ""));
    }
    assert_eq!(server.notes[0].place.path, "$.tools[2].description");
    let only_legacy = json!({"tools": [{"name": "legacy", "parameters": legacy}]});
    let server = read_as(&only_legacy, Format::Mcp).unwrap().remove(0);
    assert_eq!((server.source, &server.functions[0].parameters), (SourceKind::Mcp, &legacy));
}

#[test]
fn wrapped_results_are_unwrapped_with_their_definitions() {
    let definitions = json!({"Trip": {"type": "object"}});
    let wrapped = |result: Value| {
        json!({"tools": [{"name": "trips", "inputSchema": {}, "outputSchema": {
            "type": "object",
            "properties": {"result": result},
            "required": ["result"],
            "$defs": definitions,
            "x-fastmcp-wrap-result": true
        }}]})
    };
    let list = json!({"type": "array", "items": {"$ref": "#/$defs/Trip"}, "title": "Result"});
    let server = one(&wrapped(list.clone()));
    let function = &server.functions[0];
    assert!(function.is_result_wrapped);
    let returns = function.returns.as_ref().unwrap();
    assert_eq!((&returns["items"], &returns["$defs"]), (&list["items"], &definitions));
    assert_eq!((returns["type"].as_str(), returns.get("properties")), (Some("array"), None));

    let inner_definitions = json!({"$ref": "#/$defs/Stop", "$defs": {"Stop": {}, "Trip": {"type": "string"}}});
    let returns = one(&wrapped(inner_definitions)).functions[0].returns.clone().unwrap();
    assert_eq!(returns["$defs"], json!({"Stop": {}, "Trip": {"type": "string"}}));

    let mut unmarked = wrapped(list.clone());
    unmarked["tools"][0]["outputSchema"]["x-fastmcp-wrap-result"] = json!(false);
    let mut two = wrapped(list);
    two["tools"][0]["outputSchema"]["properties"]["other"] = json!({});
    let moving = wrapped(json!({"type": "array", "items": {"$ref": "#/properties/result"}}));
    for source in [&unmarked, &two, &moving] {
        let server = one(source);
        assert!(!server.functions[0].is_result_wrapped);
        assert_eq!(server.functions[0].returns.as_ref(), Some(&source["tools"][0]["outputSchema"]));
    }
    assert!(one(&moving).notes[0].message.contains("stays wrapped"));
}

#[test]
fn tools_for_the_servers_user_interface_are_left_out() {
    let tool = |name: &str, visibility: Value| json!({"name": name, "inputSchema": {}, "_meta": {"ui": {"visibility": visibility}}});
    let server = one(&json!({"tools": [
        tool("app", json!(["app"])),
        tool("both", json!(["model", "app"])),
        tool("model", json!(["model"])),
        tool("odd", json!("app"))
    ]}));
    let names: Vec<_> = server.functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["both", "model", "odd"]);
    assert_eq!((server.notes.len(), server.notes[0].place.path.as_str()), (1, "$.tools[0]"));
    assert!(server.notes[0].message.contains("\"app\" is for the server's user interface"));
}

#[test]
fn a_server_may_have_no_tools() {
    assert_eq!(read(&json!({"tools": []})), Ok(Vec::new()));
    assert_eq!(read(&json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}})), Ok(Vec::new()));
}

/// Members of the `initialize` result are allowed beside `tools`.
#[test]
fn resources_and_prompts_are_read() {
    let extras = |members: Value| {
        let mut listing = json!({"tools": [list_channels()]});
        listing.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        (one(&listing).server, one(&json!({"jsonrpc": "2.0", "id": 1, "result": listing})).server)
    };
    let all = ServerExtras { instructions: Some("Be brief.".into()), has_resources: true, has_prompts: true };
    let members =
        json!({"instructions": "Be brief.", "capabilities": {"resources": {"subscribe": true}, "prompts": {}}});
    assert_eq!(extras(members), (Some(all.clone()), Some(all)));
    let some = Some(ServerExtras { has_resources: true, ..ServerExtras::default() });
    let members = json!({"capabilities": {"resources": true, "prompts": false, "tools": {}}});
    assert_eq!(extras(members), (some.clone(), some));
    for nothing in
        [json!({}), json!({"capabilities": null}), json!({"capabilities": {"resources": null, "prompts": 1}})]
    {
        assert_eq!(extras(nothing), (None, None));
    }
    let odd = one(&json!({"tools": [list_channels()], "instructions": ["no text"]}));
    assert_eq!((odd.server, odd.notes[0].place.path.as_str()), (None, "$.instructions"));
    let no_tools = one(&json!({"tools": [], "capabilities": {"prompts": {}}}));
    assert_eq!((no_tools.functions.len(), no_tools.server.unwrap().has_prompts), (0, true));
    assert_eq!(read(&json!({"tools": [], "instructions": "Nothing here."})), Ok(Vec::new()));
}

#[test]
fn other_documents_are_refused() {
    let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}});
    refused(&error, "$.error", "\"Method not found\"", "tools/list again");
    refused(&json!({"jsonrpc": "2.0", "result": {}}), "$.result", "no \"tools\"", "{\"tools\": […]}");
    refused(&json!({"result": {"tools": {}}}), "$.result.tools", "is an object", "an array");
    refused(&json!({"tools": [list_channels(), list_channels()]}), "$.tools[1]", "first at", "Rename");
    refused(&json!({"tools": [{"inputSchema": {}}]}), "$.tools[0]", "has no name", "\"name\"");
    refused(&json!({"tools": [{"name": "", "inputSchema": {}}]}), "$.tools[0].name", "is empty", "name");
    refused(&json!({"tools": [{"name": "a", "inputSchema": []}]}), "$.tools[0].inputSchema", "an array", "an object");
    refused(&json!({"tools": [{"name": "a", "inputSchema": true}]}), "$.tools[0].inputSchema", "true", "an object");
    let odd = json!({"tools": [{"name": "a", "inputSchema": {}, "outputSchema": 1}]});
    refused(&odd, "$.tools[0].outputSchema", "a number", "an object");
    check_error(read_as(&json!({"tools": ["a"]}), Format::Mcp), "$.tools[0]", "is text", "an object");
}

#[test]
fn an_incomplete_page_is_noted() {
    let server = one(&json!({"tools": [list_channels()], "nextCursor": "abc"}));
    assert!(server.notes[0].message.contains("more tools"));
}
