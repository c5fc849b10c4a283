//! Answers that are not streamed, and refusals.

use serde_json::{Value, json};

use super::{body, origin, read, whole};
use crate::wire::openai_responses::OpenaiResponses;
use crate::wire::{Refusal, Wire};
use crate::{Finish, Message, ModelErrorKind, Part, Request, Usage};

fn message(id: &str, phase: Value, text: &str) -> Value {
    let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
    json!({ "type": "message", "role": "assistant", "id": id, "phase": phase, "status": "completed", "content": content })
}

#[test]
fn an_answer_is_read() {
    let response = json!({
        "status": "completed",
        "model": "gpt-5.6-sol",
        "error": null,
        "incomplete_details": null,
        "output": [
            { "type": "reasoning", "id": "rs_1", "summary": [], "content": null, "encrypted_content": "secret" },
            { "type": "web_search_call", "id": "ws_1" },
            message("msg_1", Value::Null, "Hello"),
        ],
        "usage": {
            "input_tokens": 10,
            "input_tokens_details": { "cached_tokens": 4, "cache_write_tokens": 3 },
            "output_tokens": 7,
            "output_tokens_details": { "reasoning_tokens": 5 },
            "total_tokens": 17,
        },
    });
    let answer = whole(&response).unwrap();
    assert_eq!(answer.model.as_deref(), Some("gpt-5.6-sol"));
    assert_eq!(answer.finish, Finish::Stop);
    let usage =
        Usage { input_tokens: 10, output_tokens: 7, cached_tokens: 4, cache_write_tokens: 3, reasoning_tokens: 5 };
    assert_eq!(answer.usage, usage);
    let [Part::Reasoning(reasoning), Part::Text(text)] = answer.parts.as_slice() else { panic!("{answer:?}") };
    assert_eq!(text, "Hello");
    assert_eq!(reasoning.from, origin("gpt-5.6"));
    let data = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "secret" });
    assert_eq!((reasoning.text.as_str(), reasoning.data.as_ref()), ("", Some(&data)));
}

#[test]
fn messages_with_phases_are_given_back_as_they_came() {
    let output = json!([
        message("msg_1", json!("commentary"), "I look."),
        { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": "{\"at\":1}" },
        message("msg_2", json!("final_answer"), "Done."),
        message("msg_3", Value::Null, "Really."),
    ]);
    let response = json!({ "status": "completed", "output": output });
    let answer = whole(&response).unwrap();
    let texts: Vec<&str> = answer
        .parts
        .iter()
        .filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(texts, ["I look.", "Done.", "Really."]);
    let streamed = output
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .map(|(index, item)| json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    let end = json!({ "type": "response.completed", "response": response });
    assert_eq!(read(&streamed.chain([end]).collect::<Vec<_>>()).unwrap(), answer);

    let messages = vec![Message::assistant(answer.parts)];
    let sent = body(Request { messages, ..Request::default() })["input"].take();
    let said = |text: &str| json!([{ "type": "output_text", "text": text }]);
    let mut expected = json!([
        { "type": "message", "role": "assistant", "id": "msg_1", "phase": "commentary", "status": "completed" },
        { "type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{\"at\":1}" },
        { "type": "message", "role": "assistant", "id": "msg_2", "phase": "final_answer", "status": "completed" },
        { "type": "message", "role": "assistant" },
    ]);
    for (index, text) in [(0_usize, "I look."), (2, "Done."), (3, "Really.")] {
        expected[index]["content"] = said(text);
    }
    assert_eq!(sent, expected);
}

#[test]
fn bodies_that_are_no_answers_are_refused() {
    let kind = |response: Value| whole(&response).unwrap_err().kind;
    assert_eq!(kind(json!({})), ModelErrorKind::Malformed);
    assert_eq!(kind(json!([1])), ModelErrorKind::Malformed);
    assert_eq!(kind(json!({ "status": "queued", "output": [] })), ModelErrorKind::Malformed);
    assert_eq!(kind(json!({ "error": { "code": "rate_limit_exceeded" } })), ModelErrorKind::RateLimited);
    let kind = |body: &str| OpenaiResponses.whole(&origin("gpt-5.6"), body.as_bytes()).unwrap_err().kind;
    assert_eq!(kind("<html>Hello</html>"), ModelErrorKind::Malformed);
    assert_eq!(kind(r#"{"status": "completed", "out"#), ModelErrorKind::Cut);
}

#[test]
fn servers_without_a_status_are_read() {
    let answer = whole(&json!({ "output": [{ "type": "message", "content": "Hi" }] })).unwrap();
    assert_eq!((answer.parts, answer.finish), (vec![Part::Text("Hi".to_owned())], Finish::Stop));
}

#[test]
fn refusals_are_read() {
    let read = |body: &str| OpenaiResponses.refusal(body.as_bytes());
    let refusal = |message: &str, code: Option<&str>| Refusal {
        message: Some(message.to_owned()),
        code: code.map(str::to_owned),
    };
    assert_eq!(
        read(r#"{"error":{"message":"No key.","type":"invalid_request_error","code":"invalid_api_key"}}"#),
        refusal("No key.", Some("invalid_api_key"))
    );
    assert_eq!(
        read(r#"{"error":{"message":"No.","type":"invalid_request_error","code":null}}"#),
        refusal("No.", Some("invalid_request_error"))
    );
    assert_eq!(read(r#"{"error":"No."}"#), refusal("No.", None));
    assert_eq!(read(r#"{"detail":"No."}"#), refusal("No.", None));
    assert_eq!(read("<html>Bad gateway</html>"), Refusal::default());
    assert_eq!(read("[]"), Refusal::default());
}
