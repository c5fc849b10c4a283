//! Refusals by the server itself, not by its routes.

use crate::body::BodyFault;
use crate::responses::{HttpResponse, text_response};
use http::StatusCode;
use http::header::{CONNECTION, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use std::fmt;

/// Error with which the server refuses a request. `Display` is the text for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The headers are too large.
    HeadTooLarge,
    /// The `Host` header is not allowed.
    Host,
    /// The `Origin` header is not allowed.
    Origin,
    /// No part of the server has this path.
    NotFound,
    /// The bearer token is missing or unknown.
    Token,
    /// Only the operator may do this.
    Operator,
    /// The caller, or the server, has too many connections.
    Connections,
    /// The token is unknown, and so were too many others from the same address: it may try again after these seconds.
    Attempts(u64),
    /// The body was not received.
    Body(BodyFault),
}

impl Refusal {
    /// Returns the status of the response.
    pub fn status(&self) -> StatusCode {
        match self {
            Refusal::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Refusal::Host | Refusal::Origin | Refusal::Operator => StatusCode::FORBIDDEN,
            Refusal::NotFound => StatusCode::NOT_FOUND,
            Refusal::Token => StatusCode::UNAUTHORIZED,
            Refusal::Connections | Refusal::Attempts(_) => StatusCode::TOO_MANY_REQUESTS,
            Refusal::Body(fault) => fault.status(),
        }
    }

    /// Builds a plain-text response.
    pub fn text_response(&self) -> HttpResponse {
        text_response(self.status(), &self.to_string())
    }

    /// Adds the headers that HTTP asks for, whatever the body is.
    pub(crate) fn add_headers(&self, response: &mut HttpResponse) {
        match self {
            Refusal::Token => {
                response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            // Otherwise this connection would exceed the limit.
            Refusal::Connections => {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            // A connection for each attempt makes guessing slow: the next token is compared all the same.
            Refusal::Attempts(seconds) => {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(*seconds));
            }
            _ => {}
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Refusal::HeadTooLarge => "Request headers too large (at most 64 KiB)",
            Refusal::Host => "Host header not allowed (use --allow-host)",
            Refusal::Origin => "Origin header not allowed (use --allow-origin)",
            Refusal::NotFound => "Not found",
            Refusal::Token => "Missing or unknown bearer token (send `Authorization: Bearer …`)",
            Refusal::Operator => "Not allowed for this caller (use the token of the operator)",
            Refusal::Connections => "Too many connections (close some of them first)",
            Refusal::Attempts(seconds) => {
                return write!(formatter, "Too many wrong tokens from this address (try again in {seconds} seconds)");
            }
            Refusal::Body(fault) => return write!(formatter, "{fault}"),
        };
        formatter.write_str(text)
    }
}
