//! Recorded answers of the provider, compared with a reading of the same JSON without the wire.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::{origin, provider};
use crate::wire::openai_responses::OpenaiResponses;
use crate::wire::recordings::{Exchange, decode, decode_cut_everywhere, decode_in_chunks, exchanges};
use crate::wire::{Framing, Wire};
use crate::{Answer, Arguments, Finish, Message, ModelErrorKind, Part, Request, Role, ToolResult, Usage};

/// Exchanges of this format.
fn recorded() -> Option<Vec<Exchange>> {
    let mut recorded = exchanges("openai")?;
    recorded.retain(|exchange| exchange.path.ends_with("/responses"));
    Some(recorded)
}

fn is_stream(exchange: &Exchange) -> bool {
    exchange.content_type.starts_with("text/event-stream")
}

fn model(exchange: &Exchange) -> &str {
    exchange.request["model"].as_str().unwrap()
}

fn answer(exchange: &Exchange) -> Answer {
    let origin = origin(model(exchange));
    let answer = if is_stream(exchange) {
        decode(&OpenaiResponses, &origin, Framing::Events, &exchange.body)
    } else {
        OpenaiResponses.whole(&origin, exchange.body.as_bytes())
    };
    answer.unwrap_or_else(|error| panic!("{}: {error}", exchange.file))
}

fn events(body: &str) -> Vec<Value> {
    body.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// The response at the end.
fn response(exchange: &Exchange) -> Value {
    if is_stream(exchange) {
        events(&exchange.body).pop().unwrap()["response"].take()
    } else {
        serde_json::from_str(&exchange.body).unwrap()
    }
}

/// Text, calls and reasoning, in a form that both readings have.
#[derive(Debug, Default, PartialEq)]
struct Said {
    order: Vec<&'static str>,
    text: String,
    calls: Vec<(String, String, Value)>,
    reasoning: String,
    encrypted: Vec<Value>,
}

/// The plain reading: of the items that are done for what they hold, and of the deltas for text and reasoning.
fn plainly(exchange: &Exchange) -> Said {
    let mut said = Said::default();
    let events = if is_stream(exchange) { events(&exchange.body) } else { Vec::new() };
    let items: Vec<Value> = if is_stream(exchange) {
        events
            .iter()
            .filter(|event| event["type"] == "response.output_item.done")
            .map(|event| event["item"].clone())
            .collect()
    } else {
        response(exchange)["output"].as_array().unwrap().clone()
    };
    for item in &items {
        match item["type"].as_str().unwrap() {
            "message" => {
                said.order.push("text");
                if !is_stream(exchange) {
                    for content in item["content"].as_array().unwrap() {
                        said.text.push_str(content["text"].as_str().unwrap());
                    }
                }
            }
            "function_call" => {
                said.order.push("call");
                let arguments = item["arguments"].as_str().unwrap();
                let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
                let text = |name: &str| item[name].as_str().unwrap().to_owned();
                said.calls.push((text("call_id"), text("name"), arguments));
            }
            "reasoning" => {
                said.order.push("reasoning");
                said.encrypted.push(item["encrypted_content"].clone());
                let pieces: Vec<&str> =
                    item["summary"].as_array().unwrap().iter().map(|piece| piece["text"].as_str().unwrap()).collect();
                said.reasoning.push_str(&pieces.join("\n\n"));
            }
            other => panic!("{}: {other}", exchange.file),
        }
    }
    for event in events.iter().filter(|event| event["type"] == "response.output_text.delta") {
        said.text.push_str(event["delta"].as_str().unwrap());
    }
    said
}

/// An answer as the wire reads it, in that form.
fn ours(answer: &Answer) -> Said {
    let mut said = Said::default();
    for part in &answer.parts {
        match part {
            Part::Text(text) => {
                said.order.push("text");
                said.text.push_str(text);
            }
            Part::ToolCall(call) => {
                said.order.push("call");
                let arguments = match &call.arguments {
                    Arguments::Object(object) => Value::Object(object.clone()),
                    Arguments::Broken(text) => json!(text),
                };
                said.calls.push((call.id.clone(), call.name.clone(), arguments));
            }
            Part::Reasoning(reasoning) => {
                let data = reasoning.data.as_ref().unwrap();
                if data["type"] == "reasoning" {
                    said.order.push("reasoning");
                    said.reasoning.push_str(&reasoning.text);
                    said.encrypted.push(data["encrypted_content"].clone());
                }
            }
            other => panic!("{other:?}"),
        }
    }
    said
}

#[test]
fn answers_say_what_was_recorded() {
    let Some(recorded) = recorded() else { return };
    let (mut streams, mut wholes, mut thoughts, mut phases) = (0, 0, 0, 0);
    for exchange in recorded.iter().filter(|exchange| exchange.status == 200) {
        *(if is_stream(exchange) { &mut streams } else { &mut wholes }) += 1;
        let (answer, response) = (answer(exchange), response(exchange));
        let said = ours(&answer);
        assert_eq!(said, plainly(exchange), "{}", exchange.file);
        thoughts += said.encrypted.len();
        phases += answer.parts.len() - said.order.len();

        let count = |path: &str| response["usage"].pointer(path).map_or(0, |count| count.as_u64().unwrap());
        let usage = Usage {
            input_tokens: count("/input_tokens"),
            output_tokens: count("/output_tokens"),
            cached_tokens: count("/input_tokens_details/cached_tokens"),
            cache_write_tokens: count("/input_tokens_details/cache_write_tokens"),
            reasoning_tokens: count("/output_tokens_details/reasoning_tokens"),
        };
        assert_eq!(answer.usage, usage, "{}", exchange.file);
        assert!(usage.total() > 0 && Some(usage.total()) == response["usage"]["total_tokens"].as_u64());
        assert_eq!(answer.model.as_deref(), response["model"].as_str());
        let finish = match (response["status"].as_str().unwrap(), said.calls.is_empty()) {
            ("completed", true) => Finish::Stop,
            ("completed", false) => Finish::ToolCalls,
            _ => Finish::Length,
        };
        assert_eq!(answer.finish, finish, "{}", exchange.file);
    }
    assert!(streams >= 20 && wholes >= 20 && thoughts >= 5 && phases >= 10, "{streams} {wholes} {thoughts} {phases}");
}

#[test]
fn chunks_may_end_anywhere() {
    let Some(mut recorded) = recorded() else { return };
    recorded.retain(is_stream);
    for exchange in &recorded {
        let origin = origin(model(exchange));
        let cuts: Vec<usize> = (0..exchange.body.len()).step_by(97).collect();
        let chunked = decode_in_chunks(&OpenaiResponses, &origin, Framing::Events, &exchange.body, &cuts);
        assert_eq!(chunked, Ok(answer(exchange)), "{}", exchange.file);
    }
    // Cutting everywhere takes a while: one plain answer, and one that ends within a call.
    recorded.sort_by_key(|exchange| exchange.body.len());
    let within_a_call = recorded.iter().find(|exchange| exchange.body.contains("event: response.incomplete"));
    for exchange in recorded.first().into_iter().chain(within_a_call) {
        decode_cut_everywhere(&OpenaiResponses, &origin(model(exchange)), Framing::Events, &exchange.body);
    }
}

#[test]
fn streams_without_their_end_are_cut() {
    let Some(recorded) = recorded() else { return };
    for exchange in recorded.iter().filter(|exchange| is_stream(exchange)) {
        // Between events, and within them.
        let between = exchange.body.match_indices("event: ").map(|(start, _)| start);
        let within =
            (0..exchange.body.trim_end().len()).step_by(211).filter(|end| exchange.body.is_char_boundary(*end));
        for end in between.chain(within) {
            let cut = decode(&OpenaiResponses, &origin(model(exchange)), Framing::Events, &exchange.body[..end]);
            assert_eq!(cut.unwrap_err().kind, ModelErrorKind::Cut, "{}: {end}", exchange.file);
        }
    }
}

#[test]
fn refusals_say_what_was_recorded() {
    let Some(recorded) = recorded() else { return };
    let mut seen = 0;
    for exchange in recorded.iter().filter(|exchange| exchange.status >= 400) {
        let body: Value = serde_json::from_str(&exchange.body).unwrap();
        let refusal = OpenaiResponses.refusal(exchange.body.as_bytes());
        assert_eq!(refusal.message.as_deref(), body["error"]["message"].as_str());
        assert_eq!(refusal.code.as_deref(), body["error"]["code"].as_str());
        seen += 1;
    }
    assert!(seen >= 3, "{seen}");
}

/// The recorded input as a conversation, with our reading of the earlier answers in place of what was given back.
/// `None`, if the input does not give back exactly these answers.
fn rebuilt(input: &[Value], mut answers: VecDeque<Answer>) -> Option<Vec<Message>> {
    let mut messages: Vec<Message> = Vec::new();
    let mut is_given_back = false;
    for item in input {
        let before = is_given_back;
        is_given_back = false;
        match (item["type"].as_str().unwrap(), item["role"].as_str()) {
            ("message", Some("user")) => messages.push(Message::user(item["content"][0]["text"].as_str().unwrap())),
            ("function_call_output", _) => {
                let (call_id, text) = (item["call_id"].as_str().unwrap(), item["output"].as_str().unwrap());
                let (call_id, text) = (call_id.to_owned(), text.to_owned());
                let result = ToolResult { call_id, name: String::new(), text, images: Vec::new(), is_error: false };
                messages.push(Message::results(vec![result]));
            }
            _ => {
                is_given_back = true;
                if !before {
                    messages.push(Message { role: Role::Assistant, parts: answers.pop_front()?.parts });
                }
            }
        }
    }
    answers.is_empty().then_some(messages)
}

/// An item without what may differ: ids of messages and calls, phases, states, and the spelling of arguments.
fn substance(mut item: Value) -> Value {
    let is_reasoning = item["type"] == "reasoning";
    let members = item.as_object_mut().unwrap();
    members.remove("status");
    if !is_reasoning {
        members.remove("id");
        members.remove("phase");
    }
    if let Some(Value::String(arguments)) = members.get("arguments") {
        let arguments = serde_json::from_str(arguments).unwrap();
        members.insert("arguments".to_owned(), arguments);
    }
    item
}

#[test]
fn conversations_go_on_as_recorded() {
    let Some(recorded) = recorded() else { return };
    let (mut compared, mut thoughts, mut phases) = (0, 0, 0);
    for conversation in recorded.chunk_by(|one, next| one.file == next.file) {
        for (place, exchange) in conversation.iter().enumerate().skip(1) {
            let input = exchange.request["input"].as_array().unwrap();
            let answers = conversation[..place].iter().map(answer).collect();
            let Some(messages) = rebuilt(input, answers) else { continue };
            let request = Request { model: model(exchange).to_owned(), messages, ..Request::default() };
            let sent = OpenaiResponses.request(&provider(), &request).unwrap().body["input"].take();
            let sent = sent.as_array().unwrap();
            thoughts += sent.iter().filter(|item| item["type"] == "reasoning").count();
            phases += sent.iter().filter(|item| item["phase"].is_string()).count();
            let sent: Vec<Value> = sent.iter().cloned().map(substance).collect();
            let expected: Vec<Value> = input.iter().cloned().map(substance).collect();
            assert_eq!(sent, expected, "{} {place}", exchange.file);
            compared += 1;
        }
    }
    assert!(compared >= 15 && thoughts >= 4 && phases >= 8, "{compared} {thoughts} {phases}");
}
