//! What becomes of the script's answer, or of its failure.

use crate::bindings::wasi::http::types::{ErrorCode, Fields, HeaderError, Response};
use crate::bindings::{wit_future, wit_stream};
use crate::{handler, header_value};
use alloc::string::{String, ToString};
use alloc::{format, vec::Vec};

/// The script's answer, on its way.
pub(crate) fn send(answer: handler::Response) -> Result<Response, ErrorCode> {
    // An interim answer (1xx) cannot be the last one.
    if !(200..=599).contains(&answer.status) {
        return failed(&format!("error: the script answered with the status {}, not 200 to 599\n", answer.status));
    }
    match headers(&answer.headers) {
        Ok(headers) => start(answer.status, headers, answer.body),
        Err(name) => failed(&format!("error: the script answered with an invalid header: `{name}`\n")),
    }
}

/// What went wrong is for the operator's log, not for the client.
pub(crate) fn failed(reason: &str) -> Result<Response, ErrorCode> {
    rt::say(reason);
    start(500, Fields::new(), b"internal server error\n".to_vec())
}

pub(crate) fn too_large() -> Result<Response, ErrorCode> {
    start(413, Fields::new(), b"request body too large\n".to_vec())
}

/// The headers as WASI has them, or the name of one that it refuses.
fn headers(headers: &[(String, String)]) -> Result<Fields, &str> {
    let fields = Fields::new();
    // The body's length is known here, and a wrong one would cut the answer off.
    let headers = headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("content-length"));
    for (name, value) in headers {
        let value = header_value::encode(value).ok_or(name.as_str())?;
        match fields.append(name, &value) {
            // `connection`, `transfer-encoding`: the server's own business.
            Ok(()) | Err(HeaderError::Forbidden) => {}
            Err(_) => return Err(name),
        }
    }
    Ok(fields)
}

fn start(status: u16, headers: Fields, body: Vec<u8>) -> Result<Response, ErrorCode> {
    let may_have_body = !matches!(status, 204 | 304);
    let (writer, contents) = if may_have_body && !body.is_empty() {
        let _ = headers.append("content-length", body.len().to_string().as_bytes());
        let (writer, contents) = wit_stream::new::<u8>();
        (Some(writer), Some(contents))
    } else {
        (None, None)
    };
    // Dropped, it says that there are none.
    let (trailers, no_trailers) = wit_future::new(|| Ok(None));
    let (response, _sent) = Response::new(headers, contents, no_trailers);
    response.set_status_code(status).map_err(|()| ErrorCode::InternalError(None))?;
    wit_bindgen::spawn_local(async move {
        if let Some(mut writer) = writer {
            writer.write_all(body).await;
        }
        drop(trailers);
    });
    Ok(response)
}
