//! Next request of a redirect.

use super::exact::Redirects;
use super::request::Request;
use super::{headers, target};
use crate::error::StdError;
use reqwest::header::HeaderValue;
use reqwest::{Method, StatusCode};

/// Returns the next request if the response is a redirect. The policy is checked by the caller.
pub(super) fn next(
    request: &Request,
    status: StatusCode,
    location: Option<&HeaderValue>,
) -> Result<Option<Request>, StdError> {
    let (true, Some(location)) = (is_redirect(status), location) else { return Ok(None) };
    let refused = |why: &str| StdError::denied(format!("A redirect was not followed. {why}"));
    let location = str::from_utf8(location.as_bytes()).map_err(|_| refused("Its address is not UTF-8"))?;
    let url = target::read(location, Some(&request.url)).map_err(|error| refused(&error.message))?;
    if request.url.scheme() == "https" && url.scheme() == "http" {
        return Err(refused("It leads from https: to unencrypted http:"));
    }
    let mut next = Request { url, ..request.clone() };
    if next.url.origin() != request.url.origin() {
        if request.redirects == Redirects::SameOrigin {
            return Err(refused("It leads to another server than the one that the request's credentials are for"));
        }
        headers::remove_secrets(&mut next.headers);
    }
    if becomes_get(status, &request.method) {
        next.method = Method::GET;
        next.body = None;
        headers::remove_content(&mut next.headers);
    }
    Ok(Some(next))
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    )
}

/// Method change of the fetch standard.
fn becomes_get(status: StatusCode, method: &Method) -> bool {
    match status {
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => method == Method::POST,
        StatusCode::SEE_OTHER => !matches!(*method, Method::GET | Method::HEAD),
        _ => false,
    }
}
