//! Recorded answers of Ollama, against a plain reading of their JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::Ollama;
use crate::wire::recordings::{Exchange, decode, decode_cut_everywhere, exchanges};
use crate::wire::{Framing, Wire};
use crate::{
    Answer, Api, Arguments, Finish, Message, ModelError, ModelErrorKind, Origin, Part, Provider, Request, ToolCall,
    ToolResult,
};

fn origin() -> Origin {
    Origin { provider: "local".to_owned(), model: "qwen3:4b".to_owned(), api: Api::Ollama }
}

fn provider() -> Provider {
    Provider {
        name: "local".to_owned(),
        api: Api::Ollama,
        base_url: super::base_url("http://localhost:11434").unwrap(),
        key: None,
        headers: Vec::new(),
        timeout: Duration::from_secs(1),
        openrouter: false,
    }
}

/// Answered requests of this wire, by file.
fn recorded() -> Option<BTreeMap<String, Vec<Exchange>>> {
    let mut files: BTreeMap<String, Vec<Exchange>> = BTreeMap::new();
    for exchange in exchanges("ollama")? {
        if exchange.status == 200 && exchange.path == "/api/chat" {
            files.entry(exchange.file.clone()).or_default().push(exchange);
        }
    }
    Some(files)
}

fn is_stream(exchange: &Exchange) -> bool {
    exchange.request["stream"] == json!(true)
}

fn read(exchange: &Exchange) -> Result<Answer, ModelError> {
    if is_stream(exchange) {
        decode(&Ollama, &origin(), Framing::Lines, &exchange.body)
    } else {
        Ollama.whole(&origin(), exchange.body.as_bytes())
    }
}

fn lines(exchange: &Exchange) -> Vec<Value> {
    exchange.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn joined(lines: &[Value], member: &str) -> String {
    lines.iter().filter_map(|line| line["message"][member].as_str()).collect()
}

fn recorded_calls(lines: &[Value]) -> Vec<Value> {
    let calls = lines.iter().filter_map(|line| line["message"]["tool_calls"].as_array()).flatten();
    calls.map(|call| json!([call["id"], call["function"]["name"], call["function"]["arguments"]])).collect()
}

fn calls(answer: &Answer) -> Vec<&ToolCall> {
    answer.parts.iter().filter_map(|part| if let Part::ToolCall(call) = part { Some(call) } else { None }).collect()
}

#[test]
fn answers_equal_their_json() {
    let Some(files) = recorded() else { return };
    let (mut streams, mut called, mut thought) = (0, 0, 0);
    for exchange in files.values().flatten() {
        let file = &exchange.file;
        let answer = read(exchange).unwrap_or_else(|error| panic!("{file}: {error}"));
        let lines = lines(exchange);
        assert_eq!(Message::assistant(answer.parts.clone()).text(), joined(&lines, "content"), "{file}");
        let reasoning: String = answer
            .parts
            .iter()
            .filter_map(|part| if let Part::Reasoning(reasoning) = part { Some(reasoning.text.as_str()) } else { None })
            .collect();
        assert_eq!(reasoning, joined(&lines, "thinking"), "{file}");
        let found: Vec<Value> = calls(&answer)
            .into_iter()
            .map(|call| match &call.arguments {
                Arguments::Object(arguments) => json!([call.id, call.name, arguments]),
                Arguments::Broken(text) => panic!("{file}: {text}"),
            })
            .collect();
        assert_eq!(found, recorded_calls(&lines), "{file}");
        let last = lines.last().unwrap();
        assert_eq!(answer.usage.input_tokens, last["prompt_eval_count"].as_u64().unwrap(), "{file}");
        assert_eq!(answer.usage.output_tokens, last["eval_count"].as_u64().unwrap(), "{file}");
        assert_eq!(answer.model.as_deref(), Some("qwen3:4b"), "{file}");
        let expected = match last["done_reason"].as_str().unwrap() {
            "length" => Finish::Length,
            "stop" if found.is_empty() => Finish::Stop,
            "stop" => Finish::ToolCalls,
            other => panic!("{file}: {other}"),
        };
        assert_eq!(answer.finish, expected, "{file}");
        streams += usize::from(is_stream(exchange));
        called += usize::from(!found.is_empty());
        thought += usize::from(!reasoning.is_empty());
    }
    assert!(streams >= 5 && called >= 3 && thought >= 2, "{streams} {called} {thought}");
}

#[test]
fn streams_may_be_cut_anywhere_and_need_their_end() {
    let Some(files) = recorded() else { return };
    for exchange in files.values().flatten().filter(|exchange| is_stream(exchange)) {
        decode_cut_everywhere(&Ollama, &origin(), Framing::Lines, &exchange.body);
        let last = exchange.body.trim_end().rfind('\n').unwrap() + 1;
        // Without the last line, and within it.
        for end in [last, last + 60] {
            let error = decode(&Ollama, &origin(), Framing::Lines, &exchange.body[..end]).unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Cut, "{}: {error}", exchange.file);
        }
        // The line without its line end is whole.
        let answer = decode(&Ollama, &origin(), Framing::Lines, exchange.body.trim_end());
        assert_eq!(answer, read(exchange), "{}", exchange.file);
    }
}

/// A conversation of decoded answers, with the user's part of the recorded one.
fn rebuilt(recorded: &[Value], answers: &[Answer]) -> Option<Request> {
    let mut answers = answers.iter();
    let mut asked = Vec::new();
    let mut request = Request { model: "qwen3:4b".to_owned(), ..Request::default() };
    for message in recorded {
        let text = message["content"].as_str().unwrap().to_owned();
        match message["role"].as_str().unwrap() {
            "system" => request.system = Some(text),
            "user" => request.messages.push(Message::user(text)),
            "assistant" => {
                let answer = answers.next()?;
                asked = calls(answer).into_iter().cloned().collect();
                request.messages.push(Message::assistant(answer.parts.clone()));
            }
            _ => {
                let call: ToolCall = asked.remove(0);
                let result =
                    ToolResult { call_id: call.id, name: call.name, text, images: Vec::new(), is_error: false };
                request.messages.push(Message::results(vec![result]));
            }
        }
    }
    answers.next().is_none().then_some(request)
}

/// Content that has to be equal. The recorded program moved text before a stray `</think>` into the thinking.
fn substance(messages: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    for message in messages.as_array().unwrap() {
        let said =
            format!("{}{}", message["thinking"].as_str().unwrap_or_default(), message["content"].as_str().unwrap());
        let said: String = said.replace("</think>", "").split_whitespace().collect();
        let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
        let calls: Vec<Value> =
            calls.iter().map(|call| json!([call["function"]["name"], call["function"]["arguments"]])).collect();
        found.push(json!([message["role"], said, calls, message["tool_name"]]));
    }
    found
}

#[test]
fn conversations_are_given_back() {
    let Some(files) = recorded() else { return };
    let (mut compared, mut thought) = (0, 0);
    for (file, exchanges) in &files {
        for (place, exchange) in exchanges.iter().enumerate().skip(1) {
            let answers: Vec<Answer> = exchanges[..place].iter().map(|exchange| read(exchange).unwrap()).collect();
            let recorded = &exchange.request["messages"];
            let request = rebuilt(recorded.as_array().unwrap(), &answers).unwrap_or_else(|| panic!("{file}: {place}"));
            let written = Ollama.request(&provider(), &request).unwrap();
            assert_eq!(substance(&written.body["messages"]), substance(recorded), "{file}");
            compared += 1;
            let thinking = |messages: &Value| messages[2]["thinking"].clone();
            if exchange.request["think"] == json!(true) {
                assert_eq!(thinking(&written.body["messages"]), thinking(recorded), "{file}");
                thought += 1;
            }
        }
    }
    assert!(compared >= 5 && thought >= 1, "{compared} {thought}");
}
