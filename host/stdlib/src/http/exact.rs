//! Requests of the host itself: sent as given, with the whole response returned. All limits of scripts' requests apply.

use super::answer::{Media, Wanted, parse_json};
use super::exchange::{self, Received};
use super::request::{Request, check_size};
use super::{Client, headers, target};
use crate::error::StdError;
use bytes::Bytes;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// Request. Not `Debug`: its URL and headers may contain credentials.
pub struct ExactRequest {
    /// The method.
    pub method: Method,
    /// The full URL.
    pub url: Url,
    /// All headers, except those of the connection.
    pub headers: HeaderMap,
    /// The body.
    pub body: Option<Bytes>,
    /// Redirect policy.
    pub redirects: Redirects,
    /// Timeout, if shorter than the policy's.
    pub timeout: Duration,
}

/// Redirect policy. The network policy applies to every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirects {
    /// Any origin; headers that look like secrets are dropped.
    Anywhere,
    /// Only the request's origin, because it carries credentials for it.
    SameOrigin,
}

/// Whole response.
pub struct ExactAnswer {
    /// The status: 200.
    pub status: u16,
    /// Final URL, after redirects.
    pub url: Url,
    /// All headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
}

impl Client {
    /// Sends a request and reads the whole response, whatever its status.
    ///
    /// # Errors
    /// If the policy forbids it, the host is unreachable, or the response is too large or too slow.
    pub async fn send(&self, request: ExactRequest) -> Result<ExactAnswer, StdError> {
        check_size(request.body.as_ref(), &self.policy)?;
        headers::check_size(&request.headers)?;
        let timeout = request.timeout.min(self.policy.timeout);
        let request = Request {
            method: request.method,
            url: target::read(request.url.as_str(), None)?,
            headers: request.headers,
            body: request.body,
            timeout,
            wanted: Wanted::Bytes,
            redirects: request.redirects,
        };
        let received = self.in_time(timeout, exchange::run(self, request)).await?;
        let Received { status, url, headers, body } = received;
        Ok(ExactAnswer { status: status.as_u16(), url, headers, body })
    }
}

impl ExactAnswer {
    /// True if the media type is JSON.
    pub fn is_json(&self) -> bool {
        Media::of(&self.headers).is_json()
    }

    /// True if the media type is text.
    pub fn is_text(&self) -> bool {
        Media::of(&self.headers).is_text()
    }

    /// True if there is a media type.
    pub fn is_typed(&self) -> bool {
        !Media::of(&self.headers).essence.is_empty()
    }

    /// Parses the body as JSON.
    ///
    /// # Errors
    /// If it is not valid JSON.
    pub fn json(&self) -> Result<Value, String> {
        if Media::of(&self.headers).is_packed {
            return Err("it is compressed".to_owned());
        }
        parse_json(&self.body)
    }

    /// Decodes the body as text. Invalid bytes become U+FFFD.
    pub fn text(&self) -> String {
        Media::of(&self.headers).decode(&self.body)
    }
}
