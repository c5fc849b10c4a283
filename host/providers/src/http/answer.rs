//! Value of a response.

use crate::error::ProviderError;
use agent_spaces_std::http::ExactAnswer;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use capability_gen::implementation::{HttpOperation, HttpResponse};
use serde_json::{Value, json};

/// Extracts the value of a response. An empty body is null.
pub(super) fn value(operation: &HttpOperation, answer: &ExactAnswer) -> Result<Value, ProviderError> {
    if answer.body.is_empty() && operation.result.is_none() {
        return Ok(Value::Null);
    }
    match &operation.result {
        Some(pointer) => {
            let mut value = json(answer)?;
            value.pointer_mut(pointer).map(Value::take).ok_or_else(|| missing(answer, pointer))
        }
        None => read(operation.response, answer),
    }
}

fn read(response: HttpResponse, answer: &ExactAnswer) -> Result<Value, ProviderError> {
    match response {
        HttpResponse::Json => json(answer),
        HttpResponse::Text => Ok(Value::String(answer.text())),
        HttpResponse::Bytes => Ok(Value::String(BASE64_STANDARD.encode(&answer.body))),
        HttpResponse::Auto if answer.is_json() => json(answer),
        HttpResponse::Auto if !answer.is_typed() => match answer.json() {
            Ok(value) => Ok(value),
            Err(_) => read(HttpResponse::Text, answer),
        },
        HttpResponse::Auto if answer.is_text() => read(HttpResponse::Text, answer),
        HttpResponse::Auto => read(HttpResponse::Bytes, answer),
    }
}

/// Parses a response that must be JSON.
pub(super) fn json(answer: &ExactAnswer) -> Result<Value, ProviderError> {
    answer.json().map_err(|why| unexpected(answer, format!("The answer is not JSON: {why}")))
}

/// Error for a missing value that the definition requires.
pub(super) fn missing(answer: &ExactAnswer, pointer: &str) -> ProviderError {
    unexpected(answer, format!("The answer has nothing at {pointer:?}"))
}

pub(super) fn unexpected(answer: &ExactAnswer, message: String) -> ProviderError {
    let details = json!({ "status": answer.status });
    ProviderError { details: Some(details), ..ProviderError::protocol(message) }
}
