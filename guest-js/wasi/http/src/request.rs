//! What the script is given.

use crate::bindings::wasi::http::types::{ErrorCode, Method, Request, Scheme};
use crate::bindings::wit_future;
use crate::{handler, header_value};
use alloc::{string::String, vec::Vec};
use wit_bindgen::StreamResult;

/// A script takes a body as a whole, so a larger one is refused before it fills the instance's memory.
const MAX_BODY_BYTES: usize = 16 << 20;
/// A body's buffer doubles between these two: a short body costs little and a long one few copies.
const MIN_GROWTH_BYTES: usize = 4 << 10;
const MAX_GROWTH_BYTES: usize = 1 << 20;

/// The request with all of its body; nothing, where that is too large.
pub(crate) async fn read(request: Request) -> Result<Option<handler::Request>, ErrorCode> {
    let method = method(request.get_method());
    let headers = request.get_headers().copy_all();
    let headers = headers.into_iter().map(|(name, value)| (name, header_value::decode(&value))).collect();
    let url = url(&request);
    let body = body(request).await?;
    Ok(body.map(|body| handler::Request { method, url, headers, body }))
}

async fn body(request: Request) -> Result<Option<Vec<u8>>, ErrorCode> {
    // Dropped when this function ends, it tells the sender that all is well.
    let (_received, received) = wit_future::new::<Result<(), ErrorCode>>(|| Ok(()));
    let (mut stream, end) = Request::consume_body(request, received);
    let mut body = Vec::new();
    loop {
        if body.len() == body.capacity() {
            body.reserve(body.len().clamp(MIN_GROWTH_BYTES, MAX_GROWTH_BYTES));
        }
        let result;
        (result, body) = stream.read(body).await;
        if body.len() > MAX_BODY_BYTES {
            return Ok(None);
        }
        if !matches!(result, StreamResult::Complete(_)) {
            break;
        }
    }
    // A body that was cut off must not look like a short one.
    end.await?;
    Ok(Some(body))
}

fn method(method: Method) -> String {
    let name = match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
        Method::Connect => "CONNECT",
        Method::Options => "OPTIONS",
        Method::Trace => "TRACE",
        Method::Patch => "PATCH",
        Method::Other(name) => return name,
    };
    name.into()
}

fn url(request: &Request) -> String {
    let mut url = match request.get_scheme() {
        Some(Scheme::Https) => String::from("https"),
        Some(Scheme::Other(name)) => name,
        Some(Scheme::Http) | None => String::from("http"),
    };
    url.push_str("://");
    // `wasmtime serve` does not tell which host was asked for, and withholds the `host` header too.
    url.push_str(request.get_authority().as_deref().unwrap_or("localhost"));
    // `OPTIONS *` asks about the server as a whole and names no path.
    let path = request.get_path_with_query().filter(|path| path.starts_with('/'));
    url.push_str(path.as_deref().unwrap_or("/"));
    url
}
