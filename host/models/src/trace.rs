//! Trace of the traffic: requests, answers and events as redacted text.

use std::borrow::Cow;
use std::fmt::Write;

use agent_spaces_secrets::{MASK, Redactor, looks_secret};
use agent_spaces_types::shown::Shown;
use http::{HeaderMap, HeaderName};
use serde_json::Value;
use url::Url;

use crate::frames::Frame;

/// Characters of one traced text. Longer ones are cut: images and files in a request are of no use to a reader.
const MAX_TEXT: usize = 64 << 10;

/// Bytes of a body that is pretty-printed. A longer one is cut anyway, and its values may take a multiple of its text.
const MAX_PRETTY: usize = 1 << 20;

/// Receives the traffic of a [`crate::Client`]. Its texts have no keys and no control characters but line feeds and tabs.
pub trait Trace: Send + Sync {
    /// A request: method, URL, headers and body.
    fn request(&self, text: &str);

    /// A part of an answer: status and headers, then its body, or each of its events.
    fn response(&self, text: &str);
}

/// A request. Headers whose values are marked sensitive are masked.
pub(crate) fn request(redactor: &Redactor, url: &Url, headers: &HeaderMap, body: &Value) -> Shown {
    let mut text = format!("POST {}\n", address(url));
    write_headers(&mut text, headers);
    text.push('\n');
    text.push_str(&pretty(body));
    shown(redactor, &text)
}

/// Status and headers of an answer.
pub(crate) fn head(redactor: &Redactor, status: u16, headers: &HeaderMap) -> Shown {
    let mut text = format!("HTTP {status}\n");
    write_headers(&mut text, headers);
    shown(redactor, &text)
}

/// The body of an answer that is not streamed.
pub(crate) fn body(redactor: &Redactor, body: &[u8]) -> Shown {
    let value = if body.len() <= MAX_PRETTY { serde_json::from_slice::<Value>(body).ok() } else { None };
    match value {
        Some(value) => shown(redactor, &pretty(&value)),
        None => shown(redactor, &String::from_utf8_lossy(body)),
    }
}

/// One event of a stream.
pub(crate) fn event(redactor: &Redactor, frame: Frame<'_>) -> Shown {
    match frame.name {
        "" => shown(redactor, frame.data),
        name => shown(redactor, &format!("{name}: {}", frame.data)),
    }
}

/// The URL without values of its query that look secret.
fn address(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_fragment(None);
    if url.query().is_some() {
        let mut pairs = shown.query_pairs_mut();
        pairs.clear();
        for (name, value) in url.query_pairs() {
            pairs.append_pair(&name, if looks_secret(&name) { MASK } else { &value });
        }
    }
    shown.into()
}

fn write_headers(text: &mut String, headers: &HeaderMap) {
    for (name, value) in headers {
        let is_masked = value.is_sensitive() || is_secret(name);
        let value = if is_masked { Cow::Borrowed(MASK) } else { String::from_utf8_lossy(value.as_bytes()) };
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{name}: {value}");
    }
}

/// Headers that count tokens of the rate limit look secret by their names, and help most when requests are refused.
fn is_secret(name: &HeaderName) -> bool {
    let name = name.as_str();
    looks_secret(name) && !name.contains("ratelimit")
}

fn pretty(value: &Value) -> String {
    // A JSON value can always be written.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Redacted first: a secret that is cut is not found.
fn shown(redactor: &Redactor, text: &str) -> Shown {
    Shown::text(&redactor.text(text), MAX_TEXT)
}

#[cfg(test)]
mod tests {
    use agent_spaces_secrets::Secret;
    use http::HeaderValue;
    use serde_json::json;

    use super::*;

    const KEY: &str = "sk-very-secret-1234";

    fn redactor() -> Redactor {
        let redactor = Redactor::default();
        redactor.add(&Secret::new(KEY));
        redactor
    }

    #[test]
    fn a_request_shows_everything_but_keys() {
        let url = Url::parse("https://a.example/v1/x%20y?alt=sse&api_key=abc").unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_static("Bearer short"));
        headers.insert("x-goog-api-key", HeaderValue::from_static("short"));
        let mut own = HeaderValue::from_static("mine");
        own.set_sensitive(true);
        headers.insert("x-own", own);
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        let body = json!({"model": "m", "text": format!("my key is {KEY}")});
        assert_eq!(
            request(&redactor(), &url, &headers, &body).as_str(),
            "POST https://a.example/v1/x%20y?alt=sse&api_key=%5Bredacted%5D\n\
             authorization: [redacted]\n\
             x-goog-api-key: [redacted]\n\
             x-own: [redacted]\n\
             anthropic-version: 2023-06-01\n\
             \n{\n  \"model\": \"m\",\n  \"text\": \"my key is [redacted]\"\n}"
        );
    }

    #[test]
    fn an_answer_shows_its_head_and_events() {
        let mut headers = HeaderMap::new();
        headers.insert("set-cookie", HeaderValue::from_static("a=b"));
        headers.insert("x-ratelimit-remaining-tokens", HeaderValue::from_static("7"));
        assert_eq!(
            head(&redactor(), 200, &headers),
            "HTTP 200\nset-cookie: [redacted]\nx-ratelimit-remaining-tokens: 7\n"
        );
        let data = format!("\u{1b}[2J{KEY}");
        assert_eq!(event(&redactor(), Frame { name: "", data: &data }), "<U+001B>[2J[redacted]");
        assert_eq!(event(&redactor(), Frame { name: "ping", data: "{}" }), "ping: {}");
        assert_eq!(body(&redactor(), b"{\"a\":1}"), "{\n  \"a\": 1\n}");
        assert_eq!(body(&redactor(), b"<p>\xFF"), "<p>\u{fffd}");
    }

    #[test]
    fn a_key_at_the_end_of_a_long_text_is_not_cut_apart() {
        let data = format!("{}{KEY}", "x".repeat(MAX_TEXT - 10));
        let text = event(&redactor(), Frame { name: "", data: &data });
        assert_eq!(text.chars().count(), MAX_TEXT);
        assert!(!text.contains("sk-"), "{}", &text[MAX_TEXT - 20..]);
    }
}
