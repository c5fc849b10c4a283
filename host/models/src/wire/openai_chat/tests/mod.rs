//! Tests: `requests` what is written, `calls` and `streams` what is read of the habits of many servers, `recorded` real
//! exchanges, `hostile` members that are not what they should be.

mod calls;
mod hostile;
mod recorded;
mod requests;
mod streams;

use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use super::OpenaiChat;
use crate::wire::recordings;
use crate::wire::{Framing, Wire};
use crate::{Answer, Api, Arguments, ModelError, Origin, Part, Provider, Reasoning, Request, ToolCall};

fn provider(name: &str) -> Provider {
    let base = match name {
        "openai" => "https://api.openai.com/v1",
        "openrouter" => "https://openrouter.ai/api/v1",
        _ => "http://127.0.0.1:8080/v1",
    };
    Provider {
        name: name.to_owned(),
        api: Api::OpenaiChat,
        base_url: Url::parse(base).unwrap(),
        key: None,
        headers: Vec::new(),
        timeout: Duration::from_secs(1),
        openrouter: name == "openrouter",
    }
}

fn origin(provider: &str, model: &str) -> Origin {
    Origin { provider: provider.to_owned(), model: model.to_owned(), api: Api::OpenaiChat }
}

/// The origin of most tests.
fn local() -> Origin {
    origin("local", "m")
}

fn body_of(provider: &Provider, request: &Request) -> Value {
    OpenaiChat.request(provider, request).unwrap().body
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// A chunk with one piece of a call.
fn piece(piece: Value) -> Value {
    delta(json!({ "tool_calls": [piece] }))
}

/// Decodes chunks as the events of a stream, without `[DONE]`.
fn stream(chunks: &[Value]) -> Result<Answer, ModelError> {
    let body: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    recordings::decode(&OpenaiChat, &local(), Framing::Events, &body)
}

fn whole(body: &Value) -> Result<Answer, ModelError> {
    OpenaiChat.whole(&local(), body.to_string().as_bytes())
}

fn text(answer: &Answer) -> String {
    answer
        .parts
        .iter()
        .filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None })
        .collect()
}

fn thoughts(answer: &Answer) -> Vec<&Reasoning> {
    let thoughts = answer.parts.iter();
    thoughts.filter_map(|part| if let Part::Reasoning(thought) = part { Some(thought) } else { None }).collect()
}

fn calls_in(answer: &Answer) -> Vec<&ToolCall> {
    answer.parts.iter().filter_map(|part| if let Part::ToolCall(call) = part { Some(call) } else { None }).collect()
}

/// Id, name and arguments of each call; arguments that are no object as text.
fn calls_in_short(answer: &Answer) -> Vec<(String, String, Value)> {
    let short = |call: &&ToolCall| {
        let arguments = match &call.arguments {
            Arguments::Object(members) => Value::Object(members.clone()),
            Arguments::Broken(text) => Value::String(text.clone()),
        };
        (call.id.clone(), call.name.clone(), arguments)
    };
    calls_in(answer).iter().map(short).collect()
}
