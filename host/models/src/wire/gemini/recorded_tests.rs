//! Recorded answers of Gemini, against a plain reading of their JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Gemini, kept};
use crate::wire::recordings::{Exchange, decode, decode_cut_everywhere, exchanges};
use crate::wire::{Framing, Wire};
use crate::{
    Answer, Api, Arguments, Finish, Message, ModelError, ModelErrorKind, Origin, Part, Provider, Request, ToolCall,
    ToolResult,
};

fn origin(model: &str) -> Origin {
    Origin { provider: "google".to_owned(), model: model.to_owned(), api: Api::Gemini }
}

fn provider() -> Provider {
    Provider {
        name: "google".to_owned(),
        api: Api::Gemini,
        base_url: url::Url::parse("https://generativelanguage.googleapis.com/v1beta").unwrap(),
        key: None,
        headers: Vec::new(),
        timeout: Duration::from_secs(1),
        openrouter: false,
    }
}

fn model_of(exchange: &Exchange) -> &str {
    exchange.path.rsplit('/').next().and_then(|name| name.split(':').next()).unwrap()
}

fn is_stream(exchange: &Exchange) -> bool {
    exchange.path.ends_with(":streamGenerateContent")
}

/// Answered requests of this wire, by file.
fn recorded() -> Option<BTreeMap<String, Vec<Exchange>>> {
    let mut files: BTreeMap<String, Vec<Exchange>> = BTreeMap::new();
    for exchange in exchanges("gemini")? {
        if exchange.status == 200 && (is_stream(&exchange) || exchange.path.ends_with(":generateContent")) {
            files.entry(exchange.file.clone()).or_default().push(exchange);
        }
    }
    Some(files)
}

fn read(exchange: &Exchange) -> Result<Answer, ModelError> {
    let origin = origin(model_of(exchange));
    if is_stream(exchange) {
        decode(&Gemini, &origin, Framing::Events, &exchange.body)
    } else {
        Gemini.whole(&origin, exchange.body.as_bytes())
    }
}

/// The JSON of an answer's events.
fn events(exchange: &Exchange) -> Vec<Value> {
    if !is_stream(exchange) {
        return vec![serde_json::from_str(&exchange.body).unwrap()];
    }
    exchange
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn recorded_parts(exchange: &Exchange) -> Vec<Value> {
    let mut parts = Vec::new();
    for event in events(exchange) {
        parts.extend(event["candidates"][0]["content"]["parts"].as_array().cloned().unwrap_or_default());
    }
    parts
}

fn joined(parts: &[Value], is_thought: bool) -> String {
    let wanted = parts.iter().filter(|part| (part["thought"] == json!(true)) == is_thought);
    wanted.filter_map(|part| part["text"].as_str()).collect()
}

fn signatures(answer: &Answer) -> Vec<String> {
    let mut found = Vec::new();
    for part in &answer.parts {
        match part {
            Part::Reasoning(reasoning) => match reasoning.data.as_ref().and_then(kept::Kept::from_value) {
                Some(kept::Kept::Thought(signature) | kept::Kept::Text(signature)) => found.push(signature),
                Some(kept::Kept::Part(part)) => found.extend(part["thoughtSignature"].as_str().map(str::to_owned)),
                None => {}
            },
            Part::ToolCall(call) => {
                found.extend(
                    call.opaque
                        .as_ref()
                        .and_then(|opaque| opaque.value["thoughtSignature"].as_str())
                        .map(str::to_owned),
                );
            }
            _ => {}
        }
    }
    found
}

fn calls(answer: &Answer) -> Vec<&ToolCall> {
    answer.parts.iter().filter_map(|part| if let Part::ToolCall(call) = part { Some(call) } else { None }).collect()
}

#[test]
fn answers_equal_their_json() {
    let Some(files) = recorded() else { return };
    let (mut streams, mut thoughts) = (0, 0);
    for exchange in files.values().flatten() {
        let answer = read(exchange).unwrap_or_else(|error| panic!("{}: {error}", exchange.file));
        let parts = recorded_parts(exchange);
        let file = &exchange.file;
        assert_eq!(Message::assistant(answer.parts.clone()).text(), joined(&parts, false), "{file}");
        let reasoning: String = answer
            .parts
            .iter()
            .filter_map(|part| if let Part::Reasoning(reasoning) = part { Some(reasoning.text.as_str()) } else { None })
            .collect();
        assert_eq!(reasoning, joined(&parts, true), "{file}");
        let found: Vec<Value> = calls(&answer)
            .into_iter()
            .map(|call| match &call.arguments {
                Arguments::Object(arguments) => json!({"name": call.name, "args": arguments}),
                Arguments::Broken(text) => panic!("{file}: {text}"),
            })
            .collect();
        let expected: Vec<Value> =
            parts.iter().map(|part| part["functionCall"].clone()).filter(|call| !call.is_null()).collect();
        assert_eq!(found, expected, "{file}");
        let signed: Vec<String> =
            parts.iter().filter_map(|part| part["thoughtSignature"].as_str().map(str::to_owned)).collect();
        assert_eq!(signatures(&answer), signed, "{file}");
        let last = events(exchange).pop().unwrap();
        let counts = &last["usageMetadata"];
        let count = |name: &str| counts[name].as_u64().unwrap_or(0);
        assert_eq!(answer.usage.total(), count("totalTokenCount"), "{file}");
        assert_eq!(answer.usage.output_tokens, count("candidatesTokenCount") + count("thoughtsTokenCount"), "{file}");
        assert_eq!(answer.usage.cached_tokens, count("cachedContentTokenCount"), "{file}");
        assert_eq!(answer.model.as_deref(), last["modelVersion"].as_str(), "{file}");
        assert_eq!(last["candidates"][0]["finishReason"], "STOP", "{file}");
        assert_eq!(answer.finish, if expected.is_empty() { Finish::Stop } else { Finish::ToolCalls }, "{file}");
        streams += usize::from(is_stream(exchange));
        thoughts += usize::from(!reasoning.is_empty());
    }
    assert!(streams >= 10 && thoughts >= 3, "{streams} streams, {thoughts} with thoughts");
}

#[test]
fn streams_may_be_cut_anywhere_and_need_their_end() {
    let Some(files) = recorded() else { return };
    for exchange in files.values().flatten().filter(|exchange| is_stream(exchange)) {
        let origin = origin(model_of(exchange));
        decode_cut_everywhere(&Gemini, &origin, Framing::Events, &exchange.body);
        let last = exchange.body.rfind("data: ").unwrap();
        // Without the last event, and within it.
        for end in [last, last + 40] {
            let error = decode(&Gemini, &origin, Framing::Events, &exchange.body[..end]).unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Cut, "{}: {error}", exchange.file);
        }
    }
}

#[test]
fn refusals_are_read() {
    let Some(all) = exchanges("gemini") else { return };
    let mut seen = 0;
    for exchange in all.iter().filter(|exchange| exchange.status >= 400) {
        let expected: Value = serde_json::from_str(&exchange.body).unwrap();
        let refusal = Gemini.refusal(exchange.body.as_bytes());
        assert_eq!(refusal.message.as_deref(), expected["error"]["message"].as_str());
        assert_eq!(refusal.code.as_deref(), expected["error"]["status"].as_str());
        seen += 1;
    }
    assert!(seen > 0);
}

/// A conversation of decoded answers, with the user's part of the recorded one. `None`, if the recorded program changed
/// the calls.
fn rebuilt(contents: &[Value], answers: &[Answer]) -> Option<Vec<Message>> {
    let mut answers = answers.iter();
    let mut last: Option<&Answer> = None;
    let mut messages = Vec::new();
    for content in contents {
        let parts = content["parts"].as_array()?;
        if content["role"] == "model" {
            let answer = answers.next()?;
            let names: Vec<&str> = parts.iter().filter_map(|part| part["functionCall"]["name"].as_str()).collect();
            if names != calls(answer).iter().map(|call| call.name.as_str()).collect::<Vec<_>>() {
                return None;
            }
            last = Some(answer);
            messages.push(Message::assistant(answer.parts.clone()));
        } else if let Some(text) = parts[0]["text"].as_str() {
            messages.push(Message::user(text));
        } else {
            let asked = calls(last?);
            let results = parts.iter().zip(&asked).map(|(part, call)| ToolResult {
                call_id: call.id.clone(),
                name: call.name.clone(),
                text: plain(&part["functionResponse"]["response"]["result"]),
                images: Vec::new(),
                is_error: false,
            });
            messages.push(Message::results(results.collect()));
        }
    }
    answers.next().is_none().then_some(messages)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Content that has to be equal. The recorded program gave back thoughts without a signature, and moved signatures of
/// text.
fn substance(contents: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    for content in contents.as_array().unwrap() {
        for part in content["parts"].as_array().unwrap() {
            let role = &content["role"];
            if part["thought"] == json!(true) {
                continue;
            }
            if let Some(text) = part["text"].as_str() {
                found.push(json!([role, "text", text]));
            } else if let Some(response) = part.get("functionResponse") {
                found.push(json!([role, response["name"], response["id"], plain(&response["response"]["result"])]));
            } else {
                found.push(json!([role, part["functionCall"], part["thoughtSignature"]]));
            }
        }
    }
    found
}

#[test]
fn conversations_are_given_back() {
    let Some(files) = recorded() else { return };
    let mut compared = 0;
    for (file, exchanges) in &files {
        let Some((last, before)) = exchanges.split_last() else { continue };
        let answers: Vec<Answer> = before.iter().map(|exchange| read(exchange).unwrap()).collect();
        let recorded = &last.request["contents"];
        if before.is_empty() {
            continue;
        }
        let Some(messages) = rebuilt(recorded.as_array().unwrap(), &answers) else { continue };
        let request = Request { model: model_of(last).to_owned(), messages, ..Request::default() };
        let written = Gemini.request(&provider(), &request).unwrap();
        assert_eq!(substance(&written.body["contents"]), substance(recorded), "{file}");
        // Every signature goes back on the part that it came with.
        let given: Vec<Value> =
            before.iter().flat_map(recorded_parts).filter(|part| part["thoughtSignature"].is_string()).collect();
        let contents = written.body["contents"].as_array().unwrap();
        let signed: Vec<Value> = contents
            .iter()
            .flat_map(|content| content["parts"].as_array().unwrap().clone())
            .filter(|part| part["thoughtSignature"].is_string())
            .collect();
        assert_eq!(signed, given, "{file}");
        compared += 1;
    }
    assert!(compared >= 15, "only {compared} conversations");
}
