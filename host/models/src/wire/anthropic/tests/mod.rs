//! Tests of the whole wire.

mod answer;
mod recorded;
mod request;

use std::time::Duration;

use serde_json::{Map, Value};

use super::Anthropic;
use crate::wire::Wire;
use crate::{Api, Arguments, Origin, Part, Provider, Reasoning, Request, ToolCall};

fn origin() -> Origin {
    Origin { provider: "claude".to_owned(), model: "m".to_owned(), api: Api::Anthropic }
}

fn provider() -> Provider {
    Provider {
        name: "claude".to_owned(),
        api: Api::Anthropic,
        base_url: "https://api.anthropic.com/v1".parse().unwrap(),
        key: None,
        headers: Vec::new(),
        timeout: Duration::from_secs(1),
        openrouter: false,
    }
}

/// The body that is written for a request.
fn body(request: &Request) -> Value {
    Anthropic.request(&provider(), request).unwrap().body
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

fn call(id: &str, name: &str, arguments: Value) -> Part {
    let arguments = Arguments::Object(object(arguments));
    Part::ToolCall(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments, opaque: None })
}

fn thought(from: &Origin, text: &str, data: Value) -> Part {
    Part::Reasoning(Reasoning { text: text.to_owned(), from: from.clone(), data: Some(data) })
}
