//! Recorded exchanges against a plain reading of their JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{body_of, calls_in_short, origin, provider, text, thoughts};
use crate::wire::openai_chat::OpenaiChat;
use crate::wire::recordings::{self, Exchange};
use crate::wire::{Framing, Wire};
use crate::{Answer, Finish, Message, ModelErrorKind, Origin, Part, Request, Role, ToolResult};

const PROVIDERS: [&str; 2] = ["openai", "openrouter"];
/// Bodies up to this size are cut everywhere.
const SMALL: usize = 4000;

/// Content of an answer, read from its JSON without the wire.
#[derive(Debug, Default, PartialEq)]
struct Plain {
    text: String,
    reasoning: String,
    refusal: String,
    calls: Vec<(String, String, Value)>,
    details: Vec<String>,
    finish: String,
    tokens: [u64; 5],
}

fn exchanges(provider: &str) -> Vec<Exchange> {
    let mut exchanges = recordings::exchanges(provider).unwrap_or_default();
    exchanges.retain(|exchange| exchange.path.ends_with("/chat/completions") && exchange.status == 200);
    exchanges
}

fn is_stream(exchange: &Exchange) -> bool {
    exchange.content_type.starts_with("text/event-stream")
}

fn origin_of(provider: &str, exchange: &Exchange) -> Origin {
    origin(provider, exchange.request["model"].as_str().unwrap())
}

fn decode(provider: &str, exchange: &Exchange) -> Answer {
    let origin = origin_of(provider, exchange);
    let answer = if is_stream(exchange) {
        recordings::decode(&OpenaiChat, &origin, Framing::Events, &exchange.body)
    } else {
        OpenaiChat.whole(&origin, exchange.body.as_bytes())
    };
    answer.unwrap_or_else(|error| panic!("{}: {error}", exchange.file))
}

/// The JSON values of a body, without `[DONE]`.
fn values(exchange: &Exchange) -> Vec<Value> {
    if !is_stream(exchange) {
        return vec![serde_json::from_str(&exchange.body).unwrap()];
    }
    let data = exchange.body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// Reads an exchange by walking its JSON. Calls and details are keyed by their index, which these providers always give
/// in streams.
fn plain(exchange: &Exchange) -> Plain {
    let mut plain = Plain::default();
    let mut calls: BTreeMap<u64, (String, String, String)> = BTreeMap::new();
    let mut details: BTreeMap<u64, String> = BTreeMap::new();
    let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for value in values(exchange) {
        if value["usage"].is_object() {
            let count = |path: &str| value["usage"].pointer(path).and_then(Value::as_u64).unwrap_or(0);
            plain.tokens = [
                count("/prompt_tokens"),
                count("/completion_tokens"),
                count("/prompt_tokens_details/cached_tokens"),
                count("/prompt_tokens_details/cache_write_tokens"),
                count("/completion_tokens_details/reasoning_tokens"),
            ];
        }
        for choice in value["choices"].as_array().unwrap() {
            if choice["index"] != 0 {
                continue;
            }
            let message = if is_stream(exchange) { &choice["delta"] } else { &choice["message"] };
            plain.text += &said(&message["content"]);
            plain.reasoning += &said(&message["reasoning"]);
            plain.refusal += &said(&message["refusal"]);
            for (at, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
                let at = if is_stream(exchange) { call["index"].as_u64().unwrap() } else { at as u64 };
                let entry = calls.entry(at).or_default();
                entry.0 += &said(&call["id"]);
                entry.1 += &said(&call["function"]["name"]);
                entry.2 += &said(&call["function"]["arguments"]);
            }
            for detail in message["reasoning_details"].as_array().into_iter().flatten() {
                let entry = details.entry(detail["index"].as_u64().unwrap()).or_default();
                for name in ["text", "summary", "data", "signature"] {
                    *entry += &said(&detail[name]);
                }
            }
            if let Some(finish) = choice["finish_reason"].as_str() {
                plain.finish = finish.to_owned();
            }
        }
    }
    plain.calls = calls.into_values().map(|(id, name, arguments)| (id, name, arguments_of(&arguments))).collect();
    plain.details = details.into_values().collect();
    plain
}

/// Arguments, or their text where they are cut. None at all are an empty object.
fn arguments_of(text: &str) -> Value {
    if text.is_empty() {
        return json!({});
    }
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// The same of an answer.
fn plain_of(answer: &Answer) -> Plain {
    let usage = answer.usage;
    let (finish, refusal) = match &answer.finish {
        Finish::Stop => ("stop", ""),
        Finish::ToolCalls => ("tool_calls", ""),
        Finish::Length => ("length", ""),
        Finish::Refused(why) => ("stop", why.as_str()),
        other => panic!("{other:?}"),
    };
    let details = thoughts(answer).into_iter().filter_map(|thought| thought.data.as_ref()?.get("details")?.as_array());
    let joined = |detail: &Value| {
        let members = ["text", "summary", "data", "signature"].iter();
        members.map(|name| detail[*name].as_str().unwrap_or_default()).collect::<String>()
    };
    Plain {
        text: text(answer),
        reasoning: thoughts(answer).iter().map(|thought| thought.text.as_str()).collect(),
        refusal: refusal.to_owned(),
        calls: calls_in_short(answer),
        details: details.flatten().map(joined).collect(),
        finish: finish.to_owned(),
        tokens: [
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.cache_write_tokens,
            usage.reasoning_tokens,
        ],
    }
}

#[test]
fn answers_are_what_the_json_says() {
    for provider in PROVIDERS {
        for exchange in exchanges(provider) {
            let answer = decode(provider, &exchange);
            let mut expected = plain(&exchange);
            // A choice of a tool by force ends with `stop` at OpenAI, although there are calls.
            if !expected.calls.is_empty() && expected.finish == "stop" {
                expected.finish = "tool_calls".to_owned();
            }
            assert_eq!(plain_of(&answer), expected, "{}", exchange.file);
            let named = values(&exchange).last().and_then(|value| value["model"].as_str().map(str::to_owned));
            assert_eq!(answer.model, named, "{}", exchange.file);
        }
    }
}

#[test]
fn streams_can_be_cut_into_any_chunks() {
    for provider in PROVIDERS {
        for exchange in exchanges(provider).iter().filter(|it| is_stream(it) && it.body.len() < SMALL) {
            let origin = origin_of(provider, exchange);
            recordings::decode_cut_everywhere(&OpenaiChat, &origin, Framing::Events, &exchange.body);
        }
    }
}

/// Returns true if an event ends the first choice.
fn is_end(event: &str) -> bool {
    let Some(Ok(value)) = event.strip_prefix("data: ").map(serde_json::from_str::<Value>) else { return false };
    let choices = value["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
    choices.iter().any(|choice| choice["index"] == 0 && choice["finish_reason"].is_string())
}

#[test]
fn streams_without_their_end_are_cut() {
    for provider in PROVIDERS {
        for exchange in exchanges(provider).iter().filter(|it| is_stream(it)) {
            let origin = origin_of(provider, exchange);
            let read = |body: &str| recordings::decode(&OpenaiChat, &origin, Framing::Events, body);
            let events: Vec<&str> = exchange.body.split_inclusive("\n\n").collect();
            let end = events.iter().position(|event| is_end(event));
            let end = end.unwrap_or_else(|| panic!("{}: no end", exchange.file));
            for kept in 0..end {
                let error = read(&events[..kept].concat()).unwrap_err();
                assert_eq!(error.kind, ModelErrorKind::Cut, "{}: {kept} events", exchange.file);
            }
            // Without `[DONE]` alone it is whole.
            let without_done = exchange.body.replace("data: [DONE]\n\n", "");
            assert_eq!(read(&without_done), read(&exchange.body), "{}", exchange.file);
            assert!(read(&without_done).is_ok());
        }
    }
}

/// The text of content that is a text or a list.
fn content_text(content: &Value) -> String {
    match content {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        content => content.as_str().unwrap_or_default().to_owned(),
    }
}

/// Content of a message, whatever its spelling.
fn substance(message: &Value) -> Value {
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
        let arguments = arguments_of(call["function"]["arguments"].as_str().unwrap());
        json!([call["id"], call["function"]["name"], arguments])
    });
    let details = message["reasoning_details"].as_array().into_iter().flatten().map(|detail| {
        let members = ["type", "index", "text", "summary", "data", "signature"].iter();
        members.map(|name| detail[*name].clone()).collect::<Value>()
    });
    json!({
        "role": message["role"],
        "text": content_text(&message["content"]),
        "calls": calls.collect::<Value>(),
        "details": details.collect::<Value>(),
        "result of": message["tool_call_id"],
    })
}

/// A conversation like a recorded one, with what the model said taken from decoded answers.
fn conversation(recorded: &[Value], answers: &[Answer]) -> Vec<Message> {
    let mut answers = answers.iter();
    let mut messages = Vec::new();
    for message in recorded {
        match message["role"].as_str().unwrap() {
            "system" => {}
            "user" => messages.push(Message::user(content_text(&message["content"]))),
            "assistant" => messages.push(Message::assistant(answers.next().unwrap().parts.clone())),
            "tool" => {
                let result = ToolResult {
                    call_id: message["tool_call_id"].as_str().unwrap().to_owned(),
                    name: "t".to_owned(),
                    text: content_text(&message["content"]),
                    images: Vec::new(),
                    is_error: false,
                };
                messages.push(Message { role: Role::Tool, parts: vec![Part::ToolResult(result)] });
            }
            role => panic!("{role}"),
        }
    }
    messages
}

#[test]
fn a_conversation_out_of_answers_is_written_as_it_was_recorded() {
    let mut compared = 0;
    for provider_name in PROVIDERS {
        let exchanges = exchanges(provider_name);
        for turns in exchanges.chunk_by(|one, next| one.file == next.file) {
            let answers: Vec<Answer> = turns.iter().map(|turn| decode(provider_name, turn)).collect();
            for turn in turns.iter().skip(1) {
                let recorded = turn.request["messages"].as_array().unwrap();
                let system = recorded.iter().find(|message| message["role"] == "system");
                let request = Request {
                    model: turn.request["model"].as_str().unwrap().to_owned(),
                    system: system.map(|message| content_text(&message["content"])),
                    messages: conversation(recorded, &answers),
                    ..Request::default()
                };
                let body = body_of(&provider(provider_name), &request);
                let written: Vec<Value> = body["messages"].as_array().unwrap().iter().map(substance).collect();
                let expected: Vec<Value> = recorded.iter().map(substance).collect();
                assert_eq!(written, expected, "{}", turn.file);
                compared += 1;
            }
        }
        assert!(exchanges.is_empty() || compared > 0, "{provider_name} has no conversation");
    }
}
