//! Headers and cookies.

use super::{fill, query};
use crate::error::ProviderError;
use agent_spaces_telemetry::context::TraceContext;
use agent_spaces_telemetry::names::{TRACEPARENT, TRACESTATE};
use capability_gen::implementation::{HttpMember, HttpOperation, HttpStyle};
use capability_gen::template::given;
use http::header::{ACCEPT, CONTENT_TYPE, COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;

/// Builds the headers of a request.
pub(super) fn fill(
    operation: &HttpOperation,
    params: &Value,
    media_type: Option<&str>,
    is_json: bool,
) -> Result<HeaderMap, ProviderError> {
    let mut headers = HeaderMap::new();
    let mut left = fill::MAX_MEMBER;
    headers.insert(ACCEPT, HeaderValue::from_static(if is_json { "application/json" } else { "*/*" }));
    if let Some(media_type) = media_type {
        headers.insert(CONTENT_TYPE, value(media_type, "The media type of the body")?);
    }
    for member in &operation.headers {
        let Some(text) = member_text(member, params, str::to_owned)? else { continue };
        left = less(left, &text, member)?;
        let name = HeaderName::try_from(&member.name)
            .map_err(|_| ProviderError::invalid("The definition has an invalid header name"))?;
        headers.insert(name, value(&text, &format!("The header {}", member.name))?);
    }
    let mut cookies = Vec::new();
    for member in &operation.cookies {
        if let Some(text) = member_text(member, params, fill::encoded)? {
            left = less(left, &text, member)?;
            cookies.push(format!("{}={text}", fill::encoded(&member.name)));
        }
    }
    if !cookies.is_empty() {
        headers.insert(COOKIE, value(&cookies.join("; "), "A cookie")?);
    }
    Ok(headers)
}

/// Header that tells a server which requests are the same.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Adds the idempotency key to a request whose method is not idempotent, unless the definition sets one.
pub(super) fn add_idempotency_key(headers: &mut HeaderMap, method: &Method, key: &str) {
    if !matches!(*method, Method::POST | Method::PATCH) || headers.contains_key(IDEMPOTENCY_KEY) {
        return;
    }
    // The value is a string of structured fields.
    if let Ok(key) = HeaderValue::try_from(format!("\"{key}\"")) {
        headers.insert(IDEMPOTENCY_KEY, key);
    }
}

/// Adds the trace context of the call, unless the definition sets one: a server then continues the trace.
pub(super) fn add_trace_context(headers: &mut HeaderMap, context: &TraceContext) {
    if headers.contains_key(TRACEPARENT) {
        return;
    }
    headers.remove(TRACESTATE);
    if let Ok(parent) = HeaderValue::try_from(context.traceparent()) {
        headers.insert(TRACEPARENT, parent);
    }
    if let Some(Ok(state)) = context.tracestate().map(HeaderValue::try_from) {
        headers.insert(TRACESTATE, state);
    }
}

/// Returns the remaining size budget.
fn less(left: usize, text: &str, member: &HttpMember) -> Result<usize, ProviderError> {
    left.checked_sub(text.len()).ok_or_else(|| {
        let most = fill::MAX_MEMBER;
        let message = format!("{} would make the headers longer than {most} bytes: pass less", member.name);
        ProviderError::invalid(message)
    })
}

/// Builds the text of a header or cookie; `None` if a parameter is missing.
fn member_text(
    member: &HttpMember,
    params: &Value,
    written: impl Fn(&str) -> String,
) -> Result<Option<String>, ProviderError> {
    let sole = member.value.only_parameter().and_then(|name| given(params, name));
    let items = match (sole, member.style) {
        (Some(value), HttpStyle::Json) => return Ok(Some(written(&value.to_string()))),
        (Some(Value::Array(items)), _) => items.clone(),
        (Some(Value::Object(members)), HttpStyle::Members) => {
            return Ok(Some(fill::named(members, &member.name, &written)?.join(",")));
        }
        (Some(Value::Object(members)), _) => query::alternating(members),
        _ => return Ok(fill::text(&member.value, params, fill::MAX_MEMBER)?.map(|text| written(&text))),
    };
    let items = items.iter().map(|item| fill::plain(item, &member.name).map(|text| written(&text)));
    Ok(Some(items.collect::<Result<Vec<_>, _>>()?.join(",")))
}

/// Converts text to a header value in Latin-1, as browsers do.
fn value(text: &str, what: &str) -> Result<HeaderValue, ProviderError> {
    let text = text.trim_matches([' ', '\t']);
    let bytes: Option<Vec<u8>> = text.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect();
    bytes.and_then(|bytes| HeaderValue::from_bytes(&bytes).ok()).ok_or_else(|| {
        let message = "cannot have line breaks, other control characters or characters above U+00FF";
        ProviderError::invalid(format!("{what} {message}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_context_is_added_unless_the_definition_sets_one() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = TraceContext::parse(parent, Some("vendor=1")).unwrap();
        let mut headers = HeaderMap::new();
        add_trace_context(&mut headers, &context);
        assert_eq!(headers[TRACEPARENT], parent);
        assert_eq!(headers[TRACESTATE], "vendor=1");

        let mut set = HeaderMap::from_iter([(HeaderName::from_static(TRACEPARENT), HeaderValue::from_static("own"))]);
        add_trace_context(&mut set, &context);
        assert_eq!(set.len(), 1);
        assert_eq!(set[TRACEPARENT], "own");
    }
}
