//! HTTP responses.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use std::convert::Infallible;

/// HTTP response with a boxed body, which may be a stream.
pub type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

/// Builds a response with a whole body and no headers.
pub fn response(status: StatusCode, body: impl Into<Bytes>) -> HttpResponse {
    let mut response = Response::new(Full::new(body.into()).boxed());
    *response.status_mut() = status;
    response
}

/// Builds a plain-text response of one line.
pub fn text_response(status: StatusCode, text: &str) -> HttpResponse {
    let mut response = response(status, format!("{text}\n"));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// Holds a guard until the last byte of a response is sent or its client disconnects.
pub fn until_sent(response: HttpResponse, held: impl Send + Sync + 'static) -> HttpResponse {
    response.map(|body| {
        let keeping = move |frame| {
            let _until_the_end = &held;
            frame
        };
        body.map_frame(keeping).boxed()
    })
}
