//! Request from the parameters of a call.

use super::answer::Wanted;
use super::exact::Redirects;
use super::{headers, target};
use crate::error::StdError;
use crate::params::{self, Params};
use agent_spaces_policy::NetworkPolicy;
use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// Longest method; the longest in use has seventeen letters.
const MAX_METHOD: usize = 32;

const BODY_TYPES: [(&str, Wanted); 4] =
    [("auto", Wanted::Auto), ("json", Wanted::Json), ("text", Wanted::Text), ("bytes", Wanted::Bytes)];

/// Request: the script's own, or one of a redirect. Not `Debug`: its URL and headers may contain credentials.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
    /// Timeout up to the last byte, redirects included.
    pub(super) timeout: Duration,
    pub(super) wanted: Wanted,
    pub(super) redirects: Redirects,
}

impl Request {
    /// Parses the parameters of a function of the interface `http`.
    pub(super) fn read(function: &str, params: Value, policy: &NetworkPolicy) -> Result<Request, StdError> {
        let (method, takes_body) = match function {
            "get" => (Some(Method::GET), false),
            "delete" => (Some(Method::DELETE), false),
            "post" => (Some(Method::POST), true),
            "put" => (Some(Method::PUT), true),
            "patch" => (Some(Method::PATCH), true),
            "request" => (None, false),
            _ => return Err(StdError::unknown_function("http", function)),
        };
        params::read(params, |params| {
            let method = match method {
                Some(method) => method,
                None => read_method(&params.text("method")?)?,
            };
            let url = target::read(&params.text("url")?, None)?;
            let body = if takes_body { params.optional_value("body") } else { None };
            params.record("options", |options| Request::read_options(method, url, body, options, policy))
        })
    }

    fn read_options(
        method: Method,
        mut url: Url,
        body: Option<Value>,
        options: &mut Params,
        policy: &NetworkPolicy,
    ) -> Result<Request, StdError> {
        let mut headers = headers::read(options.optional_value("headers"))?;
        if let Some(query) = options.optional_value("query") {
            add_query(&mut url, query)?;
            // Check the length again.
            url = target::read(url.as_str(), None)?;
        }
        let body = read_body(body, options, &mut headers)?;
        if body.is_some() && matches!(method, Method::GET | Method::HEAD) {
            return Err(StdError::invalid(format!("A {method} request has no body: put data into the query")));
        }
        check_size(body.as_ref(), policy)?;
        let timeout = match options.optional_count("timeoutMs", u32::MAX.into())? {
            Some(milliseconds) => policy.timeout.min(Duration::from_millis(milliseconds)),
            None => policy.timeout,
        };
        let wanted = options.optional_choice("responseType", &BODY_TYPES)?.unwrap_or(Wanted::Auto);
        Ok(Request { method, url, headers, body, timeout, wanted, redirects: Redirects::Anywhere })
    }
}

/// Refuses a body over the size limit.
pub(super) fn check_size(body: Option<&Bytes>, policy: &NetworkPolicy) -> Result<(), StdError> {
    let most = policy.max_request_bytes;
    if body.is_some_and(|body| body.len() as u64 > most) {
        return Err(StdError::denied(format!("The body has more than {most} bytes, the most that may be sent")));
    }
    Ok(())
}

fn read_method(text: &str) -> Result<Method, StdError> {
    let method = Some(text)
        .filter(|text| text.len() <= MAX_METHOD)
        .and_then(|text| Method::from_bytes(text.to_ascii_uppercase().as_bytes()).ok())
        .ok_or_else(|| StdError::invalid("method must be a word such as GET"))?;
    // For proxies and for inspecting what they add.
    if matches!(method.as_str(), "CONNECT" | "TRACE" | "TRACK") {
        return Err(StdError::invalid(format!("{method} requests cannot be sent")));
    }
    Ok(method)
}

/// Adds query parameters. A list repeats its name; null is omitted.
fn add_query(url: &mut Url, query: Value) -> Result<(), StdError> {
    let Value::Object(members) = query else {
        return Err(StdError::invalid("options.query must be an object of names and values"));
    };
    let mut pairs = Vec::new();
    for (name, value) in members {
        let values = match value {
            Value::Array(items) => items,
            value => vec![value],
        };
        for value in values {
            let text = match value {
                Value::Null => continue,
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                Value::Bool(is_set) => is_set.to_string(),
                Value::Array(_) | Value::Object(_) => {
                    return Err(StdError::invalid(
                        "options.query: values must be strings, numbers, true or false, or lists of them",
                    ));
                }
            };
            pairs.push((name.clone(), text));
        }
    }
    // An empty list would leave a bare question mark.
    if !pairs.is_empty() {
        url.query_pairs_mut().extend_pairs(pairs);
    }
    Ok(())
}

/// Returns the body, and sets a media type if the script names none.
fn read_body(body: Option<Value>, options: &mut Params, headers: &mut HeaderMap) -> Result<Option<Bytes>, StdError> {
    let json = options.optional_value("json");
    let text = options.optional_text("text")?;
    let bytes = options.optional_bytes("bytes")?;
    let (body, media_type): (Vec<u8>, _) = match (body, json, text, bytes) {
        (None, None, None, None) => return Ok(None),
        (Some(value), None, None, None) | (None, Some(value), None, None) => {
            (value.to_string().into_bytes(), Some("application/json"))
        }
        (None, None, Some(text), None) => (text.into_bytes(), Some("text/plain; charset=utf-8")),
        (None, None, None, Some(bytes)) => (bytes, None),
        _ => return Err(StdError::invalid("More than one body: give one of body, json, text and bytes")),
    };
    if let Some(media_type) = media_type {
        headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static(media_type));
    }
    Ok(Some(body.into()))
}
