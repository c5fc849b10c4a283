//! Tests of the format.

mod answers;
mod recorded;
mod requests;
mod streams;

use std::time::Duration;

use serde_json::Value;
use url::Url;

use super::OpenaiResponses;
use crate::answer::Delta;
use crate::frames::Frame;
use crate::wire::Wire;
use crate::{Answer, Api, Message, ModelError, Origin, Provider, Request};

fn provider() -> Provider {
    Provider {
        name: "openai".to_owned(),
        api: Api::OpenaiResponses,
        base_url: Url::parse("https://api.openai.com/v1").unwrap(),
        key: None,
        headers: Vec::new(),
        timeout: Duration::from_secs(1),
        openrouter: false,
    }
}

fn origin(model: &str) -> Origin {
    Origin { provider: "openai".to_owned(), model: model.to_owned(), api: Api::OpenaiResponses }
}

/// The body of a request to `gpt-5.6`.
fn body(request: Request) -> Value {
    let request = Request { model: "gpt-5.6".to_owned(), ..request };
    OpenaiResponses.request(&provider(), &request).unwrap().body
}

/// The input items of a conversation with `gpt-5.6`.
fn input(messages: Vec<Message>) -> Value {
    body(Request { messages, ..Request::default() })["input"].take()
}

/// Reads a stream of `gpt-5.6`.
fn read(events: &[Value]) -> Result<Answer, ModelError> {
    let mut told = Vec::new();
    read_and_tell(events, &mut told)
}

/// Reads a stream, and keeps what is told of it: kind of delta, id, text.
fn read_and_tell(events: &[Value], told: &mut Vec<(&'static str, String, String)>) -> Result<Answer, ModelError> {
    let mut decoder = OpenaiResponses.decoder(&origin("gpt-5.6"));
    let mut watch = |delta: Delta<'_>| {
        told.push(match delta {
            Delta::Text(text) => ("text", String::new(), text.to_owned()),
            Delta::Reasoning(text) => ("reasoning", String::new(), text.to_owned()),
            Delta::CallStarted { id, name } => ("call", id.to_owned(), name.to_owned()),
            Delta::CallArguments { id, text } => ("arguments", id.to_owned(), text.to_owned()),
        });
    };
    for event in events {
        let data = event.to_string();
        if decoder.event(Frame { name: "", data: &data }, &mut watch)? {
            break;
        }
    }
    decoder.finish()
}

/// Reads an answer of `gpt-5.6` that is not streamed.
fn whole(response: &Value) -> Result<Answer, ModelError> {
    OpenaiResponses.whole(&origin("gpt-5.6"), response.to_string().as_bytes())
}
