//! Requests that the host makes for others than scripts: nothing of a call's parameters is read here, and the whole
//! answer is given. All that holds for scripts' requests holds for these.

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

/// A request. It cannot be printed: its address and its headers may hold credentials.
pub struct ExactRequest {
    /// The method.
    pub method: Method,
    /// The whole address.
    pub url: Url,
    /// All headers, but for those of the connection.
    pub headers: HeaderMap,
    /// The body.
    pub body: Option<Bytes>,
    /// Where it may be redirected to.
    pub redirects: Redirects,
    /// The longest wait, if it is shorter than the policy's.
    pub timeout: Duration,
}

/// Where a request may be redirected to. The policy holds for every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirects {
    /// Anywhere; headers that look like secrets stay behind.
    Anywhere,
    /// Within the origin of the request, because it carries what is meant for that alone.
    SameOrigin,
}

/// A whole answer.
pub struct ExactAnswer {
    /// The status: 200.
    pub status: u16,
    /// Where it came from, after redirects.
    pub url: Url,
    /// All headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
}

impl Client {
    /// Sends a request and reads the whole answer, whatever its status.
    ///
    /// # Errors
    /// What the policy does not allow, what cannot be reached, and what is too large or takes too long.
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
    /// Whether the headers say that the body is JSON.
    pub fn is_json(&self) -> bool {
        Media::of(&self.headers).is_json()
    }

    /// Whether the headers say that the body is text.
    pub fn is_text(&self) -> bool {
        Media::of(&self.headers).is_text()
    }

    /// Whether the headers say what the body is.
    pub fn is_typed(&self) -> bool {
        !Media::of(&self.headers).essence.is_empty()
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// Why it is none.
    pub fn json(&self) -> Result<Value, String> {
        if Media::of(&self.headers).is_packed {
            return Err("it is compressed".to_owned());
        }
        parse_json(&self.body)
    }

    /// The body as text. What is not in its character set becomes U+FFFD.
    pub fn text(&self) -> String {
        Media::of(&self.headers).decode(&self.body)
    }
}
