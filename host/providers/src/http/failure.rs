//! Error responses worded for scripts.

use super::fill;
use crate::error::ProviderError;
use crate::run_failure::provider_code;
use agent_spaces_secrets::Redactor;
use agent_spaces_std::http::ExactAnswer;
use agent_spaces_types::code::Code;
use capability_gen::implementation::{HttpError, HttpOperation};
use http::StatusCode;
use http::header::RETRY_AFTER;
use serde_json::{Map, Value};

/// Shown bytes of an error body, enough for its first lines.
const MAX_BODY_BYTES: usize = 4 << 10;

/// Longest message.
const MAX_MESSAGE_CHARACTERS: usize = 1_000;

/// Longest `Retry-After`: a date.
const MAX_RETRY_AFTER: usize = 64;

/// Checks that a response is a success. An error body is redacted before it is truncated: a partial secret would not be
/// found.
pub(super) fn check(
    operation: &HttpOperation,
    answer: &ExactAnswer,
    params: &Value,
    redactor: &Redactor,
) -> Result<(), ProviderError> {
    let status = answer.status;
    if (200..300).contains(&status) {
        return Ok(());
    }
    let class = format!("{}xx", status / 100);
    let keys = [status.to_string(), class, "*".to_owned()];
    let rule = keys.iter().find_map(|key| operation.errors.get(key));
    let said = answer.json().ok();
    let message = rule.and_then(|rule| message(rule, said.as_ref(), params, redactor)).unwrap_or_else(|| {
        let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        format!("The server answered {status} {}", reason.unwrap_or_default()).trim_end().to_owned()
    });
    let is_passing = matches!(status, 408 | 429 | 502..=504);
    Err(ProviderError {
        code: rule.and_then(|rule| rule.code.clone()).map_or_else(|| Code::CallFailed.into(), provider_code),
        message,
        retryable: rule.and_then(|rule| rule.retryable).unwrap_or(is_passing),
        details: Some(details(answer, said, redactor)),
        refused: None,
    })
}

fn message(rule: &HttpError, said: Option<&Value>, params: &Value, redactor: &Redactor) -> Option<String> {
    let from = rule.from.as_ref().and_then(|pointer| said?.pointer(pointer)).and_then(fill::scalar);
    let own = || rule.message.as_ref().and_then(|template| fill::text(template, params, fill::MAX_MEMBER).ok()?);
    let message = from.filter(|text| !text.is_empty()).or_else(own)?;
    Some(redactor.text(&message).chars().take(MAX_MESSAGE_CHARACTERS).collect())
}

fn details(answer: &ExactAnswer, said: Option<Value>, redactor: &Redactor) -> Value {
    let mut details = Map::new();
    details.insert("status".to_owned(), answer.status.into());
    let body = match said {
        Some(value) if answer.body.len() <= MAX_BODY_BYTES => Some(value),
        Some(_) => Some(Value::String(shortened(&redactor.text(&answer.text())))),
        None if !answer.body.is_empty() && (answer.is_text() || !answer.is_typed()) => {
            Some(Value::String(shortened(&redactor.text(&answer.text()))))
        }
        None => None,
    };
    details.extend(body.map(|body| ("body".to_owned(), body)));
    details.extend(retry_after(answer).map(|after| ("retryAfter".to_owned(), after)));
    Value::Object(details)
}

fn shortened(text: &str) -> String {
    match text.char_indices().find(|(at, character)| at + character.len_utf8() > MAX_BODY_BYTES) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Returns seconds, or a date as the server writes it.
fn retry_after(answer: &ExactAnswer) -> Option<Value> {
    let text = answer.headers.get(RETRY_AFTER)?.to_str().ok().filter(|text| text.len() <= MAX_RETRY_AFTER)?;
    Some(text.parse::<u32>().map_or_else(|_| Value::from(text), Value::from))
}
