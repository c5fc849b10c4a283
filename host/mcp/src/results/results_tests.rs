use super::*;
use agent_spaces_secrets::{MASK, Secret};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

fn given(result: Value) -> Value {
    data(result.clone(), &Redactor::default()).unwrap()
}

fn refused(result: Value) -> String {
    match data(result.clone(), &Redactor::default()).unwrap_err() {
        CallError::Malformed(message) => message,
        other => panic!("{other:?}"),
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn structured_content_comes_before_text() {
    let structured = json!({"temperature": 22.5});
    assert_eq!(given(json!({"content": [text_block("22.5 degrees")], "structuredContent": structured})), structured);
    assert_eq!(given(json!({"structuredContent": [1, 2]})), json!([1, 2]));
    assert_eq!(given(json!({"structuredContent": false, "content": []})), json!(false));
}

#[test]
fn null_structured_content_counts_as_absent() {
    assert_eq!(given(json!({"content": [text_block("[1]")], "structuredContent": null})), json!([1]));
}

#[test]
fn structured_content_that_contains_the_blocks_is_unchanged() {
    let image = json!({ "type": "image", "data": "AAEC", "mimeType": "image/png" });
    let structured = json!({ "content": [image] });
    let result = json!({ "content": [image], "structuredContent": structured });
    assert_eq!(data(result.clone(), &Redactor::default()).unwrap(), structured);
}

#[test]
fn images_beside_structured_content_are_kept() {
    let image = json!({"type": "image", "mimeType": "image/png", "data": "AAEC"});
    let blocks = json!([text_block("{\"a\": 1}"), text_block("a chart"), image]);
    let result = |structured: Value| json!({"structuredContent": structured, "content": blocks});
    assert_eq!(given(result(json!({"a": 1}))), json!({"a": 1, "$content": [text_block("a chart"), image]}));
    assert_eq!(given(result(json!([1]))), json!({"structuredContent": [1], "$content": blocks}));
    let taken = json!({"$content": 1});
    assert_eq!(given(result(taken.clone())), json!({"structuredContent": taken, "$content": blocks}));
}

#[test]
fn text_that_is_json_is_read() {
    assert_eq!(given(json!({"content": [text_block("{\"ok\": true}")]})), json!({"ok": true}));
    assert_eq!(given(json!({"content": [text_block("hello")]})), json!("hello"));
}

#[test]
fn text_blocks_are_joined() {
    assert_eq!(given(json!({"content": [text_block("a"), text_block("b")]})), json!("a\nb"));
}

#[test]
fn blocks_that_are_not_text_keep_their_types_and_order() {
    let blocks = json!([
        {"type": "text", "text": "{\"a\":1}", "annotations": {"audience": ["user"]}},
        {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="},
        {"type": "audio", "mimeType": "audio/wav", "data": ""},
        {"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "a"}},
        {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAEC"}},
        {"type": "resource_link", "uri": "file:///c", "name": "c", "size": 3},
        {"type": "from-the-future", "anything": [1]},
    ]);
    assert_eq!(given(json!({"content": blocks})), blocks);
}

#[test]
fn meta_is_removed() {
    let content = json!([
        {"type": "image", "mimeType": "image/png", "data": "AAEC", "_meta": {"x": 1}},
        {"type": "resource", "_meta": {}, "resource": {"uri": "a:b", "text": "", "_meta": {"x": 1}}},
    ]);
    let expected = json!([
        {"type": "image", "mimeType": "image/png", "data": "AAEC"},
        {"type": "resource", "resource": {"uri": "a:b", "text": ""}},
    ]);
    assert_eq!(given(json!({"content": content})), expected);
}

#[test]
fn tool_result_of_the_first_protocol_version_is_read() {
    for value in [json!({ "a": 1 }), json!("[1]"), json!(null), json!(7)] {
        let result = json!({ "toolResult": value });
        assert_eq!(given(result.clone()), value);
        assert_eq!(whole(&result, &Redactor::default()), None);
    }
    // Beside `content` it is a custom member of the server.
    assert_eq!(given(json!({ "toolResult": 1, "content": [text_block("x")] })), json!("x"));
}

#[test]
fn absent_content_is_empty() {
    for result in [json!({}), json!({"content": []}), json!({"content": null}), json!({"isError": false})] {
        assert_eq!(given(result), json!(""));
    }
}

#[test]
fn is_error_has_the_text_of_the_server() {
    let failed = |result: Value| match data(result.clone(), &Redactor::default()).unwrap_err() {
        CallError::Tool { text, details } => (text, details),
        other => panic!("{other:?}"),
    };
    let image = json!({"type": "image", "mimeType": "image/png", "data": "!"});
    let result = json!({"isError": true, "content": [text_block("no such"), image, text_block("channel")]});
    assert_eq!(failed(result), ("no such\nchannel".to_owned(), None));
    let result = json!({"isError": true, "structuredContent": {"code": 7}, "content": [text_block("bad")]});
    assert_eq!(failed(result), ("bad".to_owned(), Some(json!({"code": 7}))));
    let result = json!({"isError": true, "structuredContent": {"code": 7}});
    assert_eq!(failed(result), ("{\"code\":7}".to_owned(), Some(json!({"code": 7}))));
    for content in [json!([]), json!(null), json!("x"), json!([image]), json!([1])] {
        let (text, details) = failed(json!({"isError": true, "content": content}));
        assert_eq!((text.as_str(), details), ("the tool failed without an error message", None));
    }
    let (text, _) = failed(json!({"isError": true, "structuredContent": "é".repeat(5_000)}));
    assert!(text.len() < MAX_ERROR_JSON + 4 && text.ends_with('…'), "{text}");
}

#[test]
fn bytes_become_standard_base64() {
    let url_safe = json!([{"type": "image", "mimeType": "image/png", "data": "_-8"}]);
    assert_eq!(given(json!({"content": url_safe}))[0]["data"], "/+8=");
    let blob = json!([{"type": "resource", "resource": {"uri": "a:b", "blob": "AA\nEC"}}]);
    assert_eq!(given(json!({"content": blob}))[0]["resource"]["blob"], "AAEC");
}

#[test]
fn malformed_results_are_refused_with_the_fault() {
    assert_eq!(refused(json!("x")), "the result is not an object");
    assert_eq!(refused(json!({"content": "x"})), "`content` is not a list");
    assert_eq!(refused(json!({"content": ["x"]})), "a content block is not an object");
    assert_eq!(refused(json!({"content": [{"text": "x"}]})), "the `type` of a content block is not text");
    assert_eq!(refused(json!({"content": [{"type": "text"}]})), "the `text` of a text block is not text");
    assert_eq!(
        refused(json!({"content": [{"type": "image", "data": ""}]})),
        "the `mimeType` of a block of type image is not text"
    );
    assert_eq!(
        refused(json!({"content": [{"type": "audio", "mimeType": "audio/wav", "data": "a b!"}]})),
        "the bytes of a block of type audio are not valid base64"
    );
    assert_eq!(refused(json!({"content": [{"type": "resource"}]})), "a block of type resource has no `resource`");
    let nameless = json!({"content": [{"type": "resource_link"}]});
    assert_eq!(refused(nameless), "the `uri` of a block of type resource_link is not text");
}

#[test]
fn resources_keep_the_shape_of_mcp() {
    let result = json!({
        "_meta": {"x": 1},
        "contents": [
            {"uri": "file:///a", "mimeType": "text/plain", "text": "{\"a\":1}", "_meta": {}},
            {"uri": "file:///b", "blob": "AAECAw"},
        ],
    });
    let expected = json!({"contents": [
        {"uri": "file:///a", "mimeType": "text/plain", "text": "{\"a\":1}"},
        {"uri": "file:///b", "blob": "AAECAw=="},
    ]});
    let redactor = Redactor::default();
    assert_eq!(resource(&result, &redactor).unwrap(), expected);
    assert_eq!(resource(&json!({}), &redactor).unwrap(), json!({"contents": []}));
    for contents in [json!([{"text": "a"}]), json!([{"uri": "a:b", "blob": "!"}]), json!([{"uri": "a:b", "text": 1}])] {
        assert!(matches!(resource(&json!({"contents": contents}), &redactor), Err(CallError::Malformed(_))));
    }
}

#[test]
fn prompts_keep_the_shape_of_mcp() {
    let message = json!({"role": "user", "content": {"type": "text", "text": "Review this", "_meta": {}}});
    let redactor = Redactor::default();
    assert_eq!(
        prompt(&json!({"description": "Reviews code", "messages": [message], "_meta": {}}), &redactor).unwrap(),
        json!({"description": "Reviews code", "messages": [{"role": "user", "content": text_block("Review this")}]})
    );
    assert_eq!(prompt(&json!({"description": null}), &redactor).unwrap(), json!({"messages": []}));
    for message in [json!({"role": "user"}), json!({"content": text_block("a")}), json!(1)] {
        assert!(matches!(prompt(&json!({"messages": [message]}), &redactor), Err(CallError::Malformed(_))));
    }
}

fn knowing(secret: &str) -> Redactor {
    let redactor = Redactor::default();
    redactor.add(&Secret::new(secret));
    redactor
}

#[test]
fn secrets_are_redacted_in_every_result() {
    let redactor = knowing("hunter2-hunter2");
    let answers = [
        data(json!({"content": [text_block("key: hunter2-hunter2")]}), &redactor),
        data(json!({"content": [text_block("{\"key\": \"hunter2-hunter2\"}")]}), &redactor),
        data(json!({"structuredContent": {"key": ["hunter2-hunter2"]}}), &redactor),
        resource(&json!({"contents": [{"uri": "a:b", "text": "hunter2-hunter2"}]}), &redactor),
        prompt(&json!({"messages": [{"role": "user", "content": text_block("hunter2-hunter2")}]}), &redactor),
    ];
    for answer in answers {
        let text = answer.unwrap().to_string();
        assert!(!text.contains("hunter2") && text.contains(MASK), "{text}");
    }
    let failed = json!({"isError": true, "structuredContent": {"key": "hunter2-hunter2"}, "content": []});
    let failed = format!("{:?}", data(failed.clone(), &redactor).unwrap_err());
    assert!(!failed.contains("hunter2") && failed.contains(MASK), "{failed}");
}

#[test]
fn bytes_with_a_secret_are_withheld_as_a_whole() {
    let redactor = knowing("hunter2-hunter2");
    let bytes = STANDARD.encode(b"\x89PNG\0 hunter2-hunter2 \xff");
    let image = json!({"type": "image", "mimeType": "image/png", "data": bytes});
    let blob = json!({"type": "resource", "resource": {"uri": "a:b", "mimeType": "x/y", "blob": bytes}});
    let withheld = "[redacted] (bytes that hold a secret)";
    let expected = json!([
        text_block("[redacted] (image that holds a secret)"),
        {"type": "resource", "resource": {"uri": "a:b", "mimeType": "x/y", "text": withheld}},
    ]);
    assert_eq!(data(json!({"content": [image, blob]}), &redactor).unwrap(), expected);
}

#[test]
fn a_complete_result_is_forwarded_unchanged() {
    let result = json!({
        "content": [
            {"type": "text", "text": "a", "_meta": {"b": 1}},
            {"type": "image", "data": "AAEC", "mimeType": "image/png", "annotations": {"priority": 1}},
            {"type": "resource", "resource": {"uri": "a:b", "text": "c", "_meta": {"d": 1}}, "_meta": {"e": 1}},
        ],
        "structuredContent": {"f": [1]}, "isError": true, "_meta": {"g": 1},
    });
    assert_eq!(whole(&result, &Redactor::default()), Some(result));
    let broken = json!({"content": [{"type": "image", "data": "?", "mimeType": "image/png"}]});
    assert_eq!(whole(&broken, &Redactor::default()), None);
}

#[test]
fn a_complete_result_has_secrets_redacted() {
    let redactor = knowing("hunter2hunter2");
    let bytes = STANDARD.encode("xx hunter2hunter2 xx");
    let result = json!({
        "content": [
            {"type": "image", "data": bytes, "mimeType": "image/png", "_meta": {"a": "hunter2hunter2"}},
            {"type": "text", "text": "hunter2hunter2", "_meta": {"a": "hunter2hunter2"}},
        ],
        "_meta": {"b": "hunter2hunter2"},
    });
    let given = whole(&result, &redactor).unwrap();
    assert_eq!(given["content"][0], text_block("[redacted] (image that holds a secret)"));
    assert_eq!(given["content"][1], json!({"type": "text", "text": MASK, "_meta": {"a": MASK}}));
    assert_eq!(given["_meta"], json!({"b": MASK}));
}
