//! Recorded answers of Anthropic, read a second time in a simple way, and recorded turns, written once more.

use serde_json::{Value, json};

use super::{body, object};
use crate::wire::anthropic::Anthropic;
use crate::wire::recordings::{Exchange, decode, decode_cut_everywhere, exchanges};
use crate::wire::{Framing, Wire};
use crate::{
    Answer, Api, Arguments, Finish, Message, ModelErrorKind, Origin, Part, Reasoning, Request, Role, ToolCall,
    ToolResult,
};

/// The origin of an exchange; its provider has the name that requests of these tests go to.
fn origin(exchange: &Exchange) -> Origin {
    let model = exchange.request["model"].as_str().unwrap().to_owned();
    Origin { provider: "claude".to_owned(), model, api: Api::Anthropic }
}

fn is_stream(exchange: &Exchange) -> bool {
    exchange.content_type.starts_with("text/event-stream")
}

fn answer(exchange: &Exchange) -> Answer {
    let origin = origin(exchange);
    let read = if is_stream(exchange) {
        decode(&Anthropic, &origin, Framing::Events, &exchange.body)
    } else {
        Anthropic.whole(&origin, exchange.body.as_bytes())
    };
    read.unwrap_or_else(|error| panic!("{}: {error}", exchange.file))
}

/// Data of the events of a stream.
fn events(exchange: &Exchange) -> Vec<Value> {
    let data = exchange.body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// The message as it would have come without streaming.
fn message(exchange: &Exchange) -> Value {
    if !is_stream(exchange) {
        return serde_json::from_str(&exchange.body).unwrap();
    }
    let mut message = Value::Null;
    for event in events(exchange) {
        match event["type"].as_str().unwrap() {
            "message_start" => message = event["message"].clone(),
            "content_block_start" => {
                message["content"].as_array_mut().unwrap().push(event["content_block"].clone());
            }
            "content_block_delta" => {
                let block = &mut message["content"][usize::try_from(event["index"].as_u64().unwrap()).unwrap()];
                let (member, from) = match event["delta"]["type"].as_str().unwrap() {
                    "text_delta" => ("text", "text"),
                    "thinking_delta" => ("thinking", "thinking"),
                    "signature_delta" => ("signature", "signature"),
                    "input_json_delta" => ("json", "partial_json"),
                    other => panic!("{}: {other}", exchange.file),
                };
                let so_far = block[member].as_str().unwrap_or_default();
                block[member] = json!(format!("{so_far}{}", event["delta"][from].as_str().unwrap()));
            }
            "message_delta" => {
                message["stop_reason"] = event["delta"]["stop_reason"].clone();
                message["usage"] = event["usage"].clone();
            }
            _ => {}
        }
    }
    message
}

/// The blocks of a message, without what we do not keep.
fn blocks(message: &Value) -> Vec<Value> {
    let kept = |block: &Value| match block["type"].as_str().unwrap() {
        "text" => json!({"type": "text", "text": block["text"]}),
        "tool_use" => {
            let input = match block["json"].as_str() {
                Some("") | None => block["input"].clone(),
                Some(text) => serde_json::from_str(text).unwrap(),
            };
            json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": input})
        }
        _ => block.clone(),
    };
    message["content"].as_array().unwrap().iter().map(kept).collect()
}

/// A part as the block that it came from.
fn block(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::ToolCall(ToolCall { id, name, arguments: Arguments::Object(input), .. }) => {
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        Part::Reasoning(Reasoning { text, data: Some(data), .. }) => {
            let mut block = data.clone();
            if block["type"] == "thinking" {
                block["thinking"] = json!(text);
            }
            block
        }
        other => panic!("not of these answers: {other:?}"),
    }
}

#[test]
fn answers_hold_what_was_recorded() {
    let Some(exchanges) = exchanges("anthropic") else { return };
    let answered: Vec<&Exchange> = exchanges.iter().filter(|exchange| exchange.status == 200).collect();
    assert!(answered.iter().any(|exchange| is_stream(exchange)));
    for exchange in answered {
        let (answer, message) = (answer(exchange), message(exchange));
        let file = &exchange.file;
        assert_eq!(answer.parts.iter().map(block).collect::<Vec<_>>(), blocks(&message), "{file}");
        assert_eq!(answer.model.as_deref(), message["model"].as_str(), "{file}");
        let finish = match message["stop_reason"].as_str().unwrap() {
            "end_turn" => Finish::Stop,
            "tool_use" => Finish::ToolCalls,
            other => panic!("{file}: {other}"),
        };
        assert_eq!(answer.finish, finish, "{file}");

        let count = |name: &str| message["usage"][name].as_u64().unwrap();
        let (read, written) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
        assert_eq!(answer.usage.input_tokens, count("input_tokens") + read + written, "{file}");
        assert_eq!((answer.usage.cached_tokens, answer.usage.cache_write_tokens), (read, written), "{file}");
        assert_eq!(answer.usage.output_tokens, count("output_tokens"), "{file}");
        let thinking = message["usage"]["output_tokens_details"]["thinking_tokens"].as_u64().unwrap_or(0);
        assert_eq!(answer.usage.reasoning_tokens, thinking, "{file}");
    }
}

#[test]
fn streams_are_read_the_same_however_they_are_cut() {
    let Some(exchanges) = exchanges("anthropic") else { return };
    for exchange in exchanges.iter().filter(|exchange| is_stream(exchange)) {
        decode_cut_everywhere(&Anthropic, &origin(exchange), Framing::Events, &exchange.body);
    }
}

#[test]
fn streams_without_their_last_events_are_cut() {
    let Some(exchanges) = exchanges("anthropic") else { return };
    for exchange in exchanges.iter().filter(|exchange| is_stream(exchange)) {
        let events: Vec<&str> = exchange.body.split_inclusive("\n\n").filter(|event| event.contains("data:")).collect();
        assert!(events.len() > 3, "{}", exchange.file);
        for kept in 0..events.len() {
            let error = decode(&Anthropic, &origin(exchange), Framing::Events, &events[..kept].concat()).unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Cut, "{}: {kept} events", exchange.file);
        }
    }
}

#[test]
fn refusals_are_read() {
    let Some(exchanges) = exchanges("anthropic") else { return };
    let refused: Vec<&Exchange> = exchanges.iter().filter(|exchange| exchange.status != 200).collect();
    assert!(!refused.is_empty());
    for exchange in refused {
        let error = &message(exchange)["error"];
        let refusal = Anthropic.refusal(exchange.body.as_bytes());
        assert_eq!(refusal.message.as_deref(), error["message"].as_str(), "{}", exchange.file);
        assert_eq!(refusal.code.as_deref(), error["type"].as_str(), "{}", exchange.file);
    }
}

/// A recorded message of a conversation as ours.
fn recalled(message: &Value, origin: &Origin) -> Message {
    let content = message["content"].as_array().unwrap();
    let text = |block: &Value| block["text"].as_str().unwrap().to_owned();
    let id = |value: &Value| value.as_str().unwrap().to_owned();
    let is_result = content.iter().any(|block| block["type"] == "tool_result");
    let role = match (message["role"].as_str().unwrap(), is_result) {
        ("assistant", _) => Role::Assistant,
        (_, true) => Role::Tool,
        _ => Role::User,
    };
    let part = |block: &Value| match block["type"].as_str().unwrap() {
        "text" => Part::Text(text(block)),
        "tool_use" => Part::ToolCall(ToolCall {
            id: id(&block["id"]),
            name: id(&block["name"]),
            arguments: Arguments::Object(object(block["input"].clone())),
            opaque: None,
        }),
        "tool_result" => Part::ToolResult(ToolResult {
            call_id: id(&block["tool_use_id"]),
            name: String::new(),
            text: block["content"].as_array().unwrap().iter().map(text).collect(),
            images: Vec::new(),
            is_error: block["is_error"] == true,
        }),
        "thinking" => Part::Reasoning(Reasoning {
            text: block["thinking"].as_str().unwrap().to_owned(),
            from: origin.clone(),
            data: Some(json!({"type": "thinking", "signature": block["signature"]})),
        }),
        _ => Part::Reasoning(Reasoning { text: String::new(), from: origin.clone(), data: Some(block.clone()) }),
    };
    Message { role, parts: content.iter().map(part).collect() }
}

#[test]
fn the_next_turn_is_written_as_it_was_recorded() {
    let Some(exchanges) = exchanges("anthropic") else { return };
    let mut compared = 0;
    for pair in exchanges.windows(2) {
        let [this, next] = pair else { continue };
        let (Some(before), Some(after)) = (this.request["messages"].as_array(), next.request["messages"].as_array())
        else {
            continue;
        };
        let goes_on = after.len() > before.len() && after[..before.len()] == before[..];
        if this.file != next.file || !goes_on {
            continue;
        }
        let origin = origin(this);
        let mut messages: Vec<Message> = before.iter().map(|message| recalled(message, &origin)).collect();
        messages.push(Message::assistant(answer(this).parts));
        messages.extend(after[before.len() + 1..].iter().map(|message| recalled(message, &origin)));
        let options = object(json!({"cache_control": null}));
        let request = Request { model: origin.model.clone(), messages, options, ..Request::default() };
        assert_eq!(body(&request)["messages"], next.request["messages"], "{}", this.file);
        compared += 1;
    }
    assert!(compared >= 10, "only {compared} turns were compared");
}
