//! Messages of a session for people, built from its records. Texts are cut.

use crate::bounds::MAX_SHOWN_TEXT;
use agent_spaces_agent::Record;
use agent_spaces_models::{Answer, Arguments, Message, Origin, Part, Role, ToolCall, ToolResult};
use serde_json::{Value, json};

/// Ending of a question that needs no mention.
const DONE: &str = "done";

/// Returns the messages of these records.
pub(super) fn messages(records: &[Record]) -> Value {
    let mut messages = Vec::new();
    for record in records {
        match record {
            Record::Asked { messages: asked } => asked.iter().for_each(|message| add_asked(&mut messages, message)),
            Record::Answered { origin, answer, cost, .. } => messages.push(answered(origin, answer, *cost)),
            Record::Returned { result } => add_result(&mut messages, result),
            Record::Notice { text } => messages.push(json!({ "role": "system", "text": cut(text) })),
            Record::Finished { ending } if ending != DONE => {
                if let Some(last) = messages.last_mut() {
                    last["ending"] = ending.as_str().into();
                }
            }
            Record::Finished { .. }
            | Record::Settings { .. }
            | Record::Calling { .. }
            | Record::Kept { .. }
            | Record::Nested { .. } => {}
        }
    }
    Value::Array(messages)
}

/// Adds a message of the caller. A caller that sends a whole conversation has answers, calls and results in it.
fn add_asked(messages: &mut Vec<Value>, message: &Message) {
    match message.role {
        Role::User => messages.push(said("user", &message.parts)),
        Role::Assistant => messages.push(said("assistant", &message.parts)),
        Role::Tool => {
            for part in &message.parts {
                if let Part::ToolResult(result) = part {
                    add_result(messages, result);
                }
            }
        }
    }
}

fn answered(origin: &Origin, answer: &Answer, cost: Option<f64>) -> Value {
    let mut message = said("assistant", &answer.parts);
    message["model"] = format!("{}/{}", origin.provider, origin.model).into();
    let (input, output) = (answer.usage.input_tokens, answer.usage.output_tokens);
    message["usage"] = json!({ "inputTokens": input, "outputTokens": output });
    if let Some(cost) = cost {
        message["usage"]["cost"] = cost.into();
    }
    message
}

/// Message with its text, the number of its images, and its calls.
fn said(role: &str, parts: &[Part]) -> Value {
    let texts = parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None });
    let calls =
        parts.iter().filter_map(|part| if let Part::ToolCall(call) = part { Some(call_of(call)) } else { None });
    let calls: Vec<Value> = calls.collect();
    let images = parts.iter().filter(|part| matches!(part, Part::Image(_))).count();
    let mut message = json!({ "role": role, "text": cut(&texts.collect::<String>()) });
    if images > 0 {
        message["images"] = images.into();
    }
    if !calls.is_empty() {
        message["toolCalls"] = calls.into();
    }
    message
}

/// A call without a result.
fn call_of(call: &ToolCall) -> Value {
    let arguments = match &call.arguments {
        Arguments::Object(members) => {
            let text = Value::Object(members.clone()).to_string();
            if text.len() > MAX_SHOWN_TEXT { Value::String(cut(&text)) } else { Value::Object(members.clone()) }
        }
        Arguments::Broken(text) => Value::String(cut(text)),
    };
    json!({ "id": cut(&call.id), "name": cut(&call.name), "arguments": arguments, "status": "pending" })
}

/// Adds a result to its call: one of the last answer that has calls.
fn add_result(messages: &mut [Value], result: &ToolResult) {
    let with_calls = messages.iter_mut().rev().find(|message| message.get("toolCalls").is_some());
    let calls = with_calls.and_then(|message| message["toolCalls"].as_array_mut());
    let Some(calls) = calls else { return };
    let id = |call: &Value| call["id"].as_str().unwrap_or_default().to_owned();
    let is_open = |call: &Value| call["status"] == "pending";
    // An id that was used before is changed: `call_0` becomes `call_0_7`.
    let is_changed = |call: &Value| {
        let rest = result.call_id.strip_prefix(&id(call)).and_then(|rest| rest.strip_prefix('_'));
        rest.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let exact = calls.iter().position(|call| is_open(call) && id(call) == result.call_id);
    let found = exact.or_else(|| calls.iter().position(|call| is_open(call) && is_changed(call)));
    let Some(found) = found else { return };
    let Some(call) = calls.get_mut(found) else { return };
    call["status"] = if result.is_error { "failed" } else { "done" }.into();
    call["result"] = cut(&result.text).into();
}

/// Cuts a text.
fn cut(text: &str) -> String {
    if text.len() <= MAX_SHOWN_TEXT {
        return text.to_owned();
    }
    let start = text.get(..text.floor_char_boundary(MAX_SHOWN_TEXT)).unwrap_or_default();
    format!("{start}… [cut: {} bytes in all]", text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_models::{Api, Finish, Usage};

    fn call(id: &str, name: &str) -> Part {
        let arguments = Arguments::Object(json!({ "n": 1 }).as_object().cloned().unwrap());
        Part::ToolCall(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments, opaque: None })
    }

    fn answered_with(parts: Vec<Part>) -> Record {
        let origin = Origin { provider: "local".to_owned(), model: "tiny".to_owned(), api: Api::Ollama };
        let usage = Usage { input_tokens: 3, output_tokens: 4, ..Usage::default() };
        let answer = Answer { parts, finish: Finish::Stop, usage, model: None };
        Record::Answered { origin, request: String::new(), answer, cost: Some(0.5) }
    }

    fn returned(id: &str, text: &str, is_error: bool) -> Record {
        let result = ToolResult {
            call_id: id.to_owned(),
            name: "look".to_owned(),
            text: text.to_owned(),
            images: Vec::new(),
            is_error,
        };
        Record::Returned { result }
    }

    #[test]
    fn results_are_with_their_calls() {
        let records = [
            Record::Asked { messages: vec![Message::user("Look twice.")] },
            answered_with(vec![Part::Text("I look.".to_owned()), call("call_0", "look"), call("call_1", "look")]),
            Record::Calling { calls: vec!["call_0".to_owned(), "call_1".to_owned()] },
            returned("call_1", "nothing", true),
            returned("call_0", "a cat", false),
            // The same id again, which the conversation changes.
            answered_with(vec![call("call_0", "look")]),
            returned("call_0_3", "a dog", false),
            returned("call_9", "of no call", false),
            answered_with(vec![call("call_0", "look")]),
            Record::Finished { ending: "cancelled".to_owned() },
        ];
        let messages = messages(&records);
        let status = |message: usize, call: usize| {
            let call = &messages[message]["toolCalls"][call];
            (call["status"].as_str().unwrap().to_owned(), call["result"].as_str().map(str::to_owned))
        };
        assert_eq!(messages.as_array().unwrap().len(), 4, "{messages}");
        assert_eq!(messages[0], json!({ "role": "user", "text": "Look twice." }));
        assert_eq!(status(1, 0), ("done".to_owned(), Some("a cat".to_owned())));
        assert_eq!(status(1, 1), ("failed".to_owned(), Some("nothing".to_owned())));
        assert_eq!(status(2, 0), ("done".to_owned(), Some("a dog".to_owned())));
        assert_eq!(status(3, 0), ("pending".to_owned(), None));
        assert_eq!((&messages[3]["ending"], &messages[3]["model"]), (&json!("cancelled"), &json!("local/tiny")));
        assert_eq!(messages[1]["usage"], json!({ "inputTokens": 3, "outputTokens": 4, "cost": 0.5 }));
    }

    #[test]
    fn texts_are_cut_between_characters() {
        let long = format!("{}ü", "a".repeat(MAX_SHOWN_TEXT - 1));
        let records = [Record::Asked { messages: vec![Message::user(long.clone())] }];
        let text = messages(&records)[0]["text"].as_str().unwrap().to_owned();
        assert!(text.ends_with(&format!("a… [cut: {} bytes in all]", long.len())), "{}", text.len());
        let arguments = json!({ "text": long }).as_object().cloned().unwrap();
        let call = ToolCall {
            id: String::new(),
            name: "look".to_owned(),
            arguments: Arguments::Object(arguments),
            opaque: None,
        };
        assert!(call_of(&call)["arguments"].as_str().is_some_and(|text| text.len() < MAX_SHOWN_TEXT + 100));
    }
}
