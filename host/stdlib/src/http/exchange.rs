//! Request with its redirects, up to the last byte of the response.

use super::request::Request;
use super::{Client, failure, headers, redirect, target};
use crate::error::StdError;
use reqwest::header::{CONTENT_LENGTH, HeaderMap, LOCATION};
use reqwest::{Method, Response, StatusCode};
use url::Url;

/// Most redirects of one call.
const MAX_REDIRECTS: usize = 5;

/// Whole response.
pub(super) struct Received {
    pub(super) status: StatusCode,
    /// Final URL, after redirects.
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// Sends a request, follows redirects with the same checks, and reads the response.
pub(super) async fn run(client: &Client, mut request: Request) -> Result<Received, StdError> {
    for _ in 0..=MAX_REDIRECTS {
        let response = send(client, &request).await?;
        match redirect::next(&request, response.status(), response.headers().get(LOCATION))? {
            Some(next) => request = next,
            None => return receive(response, request.url, client.policy.max_response_bytes).await,
        }
    }
    Err(StdError::failed(format!("There were more than {MAX_REDIRECTS} redirects")))
}

async fn send(client: &Client, request: &Request) -> Result<Response, StdError> {
    target::check(&client.policy, &request.method, &request.url)?;
    let host = target::host(&request.url);
    let mut builder =
        client.connector()?.request(request.method.clone(), request.url.clone()).headers(request.headers.clone());
    match &request.body {
        Some(body) if !body.is_empty() => builder = builder.body(body.clone()),
        // Servers expect a length where a body is usual.
        _ if matches!(request.method, Method::POST | Method::PUT | Method::PATCH) => {
            builder = builder.header(CONTENT_LENGTH, 0);
        }
        _ => {}
    }
    let response = builder.send().await.map_err(|error| failure::of(&error, host))?;
    if headers::is_too_large(response.headers()) {
        return Err(StdError::failed(format!("The headers of the answer of \"{host}\" are too large")));
    }
    Ok(response)
}

async fn receive(mut response: Response, url: Url, most: u64) -> Result<Received, StdError> {
    let too_large =
        || StdError::failed(format!("The answer has more than {most} bytes, the most that may be received"));
    if response.content_length().is_some_and(|length| length > most) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failure::of(&error, target::host(&url)))? {
        if (body.len() + chunk.len()) as u64 > most {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    let headers = std::mem::take(response.headers_mut());
    Ok(Received { status: response.status(), url, headers, body })
}
