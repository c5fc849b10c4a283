//! HTTP errors: kind of failure and `retry-after`.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::RETRY_AFTER;

use crate::ModelErrorKind;
use crate::bounds::MAX_RETRY_AFTER;
use crate::wire::Refusal;

/// Substrings of error codes and messages that mean an exhausted account.
const QUOTA: [&str; 5] = [
    "insufficient_quota",
    "insufficient_credits",
    "billing_",
    "exceeded your current quota",
    "credit balance is too low",
];

/// The same for a conversation that exceeds the context window.
const CONTEXT: [&str; 9] = [
    "context_length_exceeded",
    "exceed_context_size",
    "prompt is too long",
    "input is too long",
    "maximum context length",
    "context window",
    "context size",
    "exceed context limit",
    "exceeds the maximum number of tokens",
];

/// The same for an invalid key, where the status is 400.
const KEY: [&str; 3] = ["invalid_api_key", "api_key_invalid", "api key not valid"];

/// Kind of failure of an HTTP error.
pub(super) fn kind(status: u16, refusal: &Refusal) -> ModelErrorKind {
    let said = [&refusal.code, &refusal.message].map(|text| text.as_deref().unwrap_or_default().to_ascii_lowercase());
    let says = |words: &[&str]| words.iter().any(|word| said.iter().any(|text| text.contains(word)));
    match status {
        300..=399 => ModelErrorKind::Configuration,
        402 => ModelErrorKind::Quota,
        401 | 403 => ModelErrorKind::Unauthorized,
        408 | 500.. => ModelErrorKind::Server,
        // Gemini says of each exceeded rate that the current quota is exceeded.
        429 if says(&QUOTA[..3]) => ModelErrorKind::Quota,
        429 => ModelErrorKind::RateLimited,
        _ if says(&KEY) => ModelErrorKind::Unauthorized,
        _ if says(&CONTEXT) => ModelErrorKind::ContextWindow,
        _ if says(&QUOTA) => ModelErrorKind::Quota,
        _ => ModelErrorKind::Invalid,
    }
}

/// Reads `retry-after-ms` (milliseconds) or `retry-after` (seconds or a date). At most [`MAX_RETRY_AFTER`].
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |value: &http::HeaderValue| value.to_str().ok().map(|text| text.trim().to_owned());
    let number = |text: &str, unit: f64| {
        let seconds = text.parse::<f64>().ok().filter(|number| *number >= 0.0)? * unit;
        Some(Duration::try_from_secs_f64(seconds).unwrap_or(MAX_RETRY_AFTER))
    };
    let exact = headers.get("retry-after-ms").and_then(text).and_then(|text| number(&text, 0.001));
    let wait = exact.or_else(|| {
        let text = headers.get(RETRY_AFTER).and_then(text)?;
        number(&text, 1.0).or_else(|| {
            let date = httpdate::parse_http_date(&text).ok()?;
            Some(date.duration_since(now).unwrap_or_default())
        })
    });
    wait.map(|wait| wait.min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_status_and_code() {
        use ModelErrorKind::{Configuration, ContextWindow, Invalid, Quota, RateLimited, Server, Unauthorized};
        for (status, code, message, expected) in [
            (400, "invalid_request_error", "unknown parameter", Invalid),
            (400, "context_length_exceeded", "", ContextWindow),
            (400, "invalid_request_error", "Prompt is too long: 5 tokens > 4 maximum", ContextWindow),
            (400, "", "This model's maximum context length is 8 tokens", ContextWindow),
            (
                400,
                "INVALID_ARGUMENT",
                "The input token count exceeds the maximum number of tokens allowed",
                ContextWindow,
            ),
            (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", Unauthorized),
            (400, "invalid_request_error", "Your credit balance is too low", Quota),
            (401, "", "", Unauthorized),
            (402, "", "", Quota),
            (403, "", "", Unauthorized),
            (404, "model_not_found", "", Invalid),
            (408, "", "", Server),
            (413, "request_too_large", "", Invalid),
            (422, "", "", Invalid),
            (429, "rate_limit_exceeded", "", RateLimited),
            (429, "insufficient_quota", "", Quota),
            (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", RateLimited),
            (500, "", "", Server),
            (503, "", "context window", Server),
            (504, "", "", Server),
            (529, "overloaded_error", "", Server),
            (307, "", "", Configuration),
        ] {
            let refusal = Refusal { message: Some(message.to_owned()), code: Some(code.to_owned()) };
            assert_eq!(kind(status, &refusal), expected, "{status} {code} {message}");
        }
        assert_eq!(kind(400, &Refusal::default()), Invalid);
    }

    #[test]
    fn waits_are_read_and_bounded() {
        let now = httpdate::parse_http_date("Fri, 15 May 2015 15:34:21 GMT").unwrap();
        for (name, value, expected) in [
            ("retry-after", "7", Some(7_000)),
            ("retry-after", " 1.5 ", Some(1_500)),
            ("retry-after", "0", Some(0)),
            ("retry-after", "Fri, 15 May 2015 15:34:31 GMT", Some(10_000)),
            ("retry-after", "Fri, 15 May 2015 15:34:11 GMT", Some(0)),
            ("retry-after", "Fri, 15 May 2065 15:34:11 GMT", Some(24 * 3600 * 1000)),
            ("retry-after", "99999999999999999999999999", Some(24 * 3600 * 1000)),
            ("retry-after", "inf", Some(24 * 3600 * 1000)),
            ("retry-after", "-1", None),
            ("retry-after", "NaN", None),
            ("retry-after", "soon", None),
            ("retry-after-ms", "250", Some(250)),
            ("x-other", "7", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            let expected = expected.map(Duration::from_millis);
            assert_eq!(retry_after(&headers, now), expected, "{name}: {value}");
        }
        let mut both = HeaderMap::new();
        both.insert("retry-after", "7".parse().unwrap());
        both.insert("retry-after-ms", "6500".parse().unwrap());
        assert_eq!(retry_after(&both, now), Some(Duration::from_millis(6_500)));
    }
}
