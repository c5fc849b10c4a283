//! What a request hears that reaches no service, and what is said to browsers.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, CONNECTION, CONTENT_TYPE,
    HeaderName, HeaderValue, VARY, WWW_AUTHENTICATE,
};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use serde_json::json;
use std::convert::Infallible;

/// What is sent back.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// A refusal in plain words.
pub(super) fn refusal(status: StatusCode, text: &str) -> Answer {
    let mut answer = with_body(status, format!("{text}\n"));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

/// The token is missing, or is nobody's.
pub(super) fn unauthorized() -> Answer {
    let mut answer = refusal(StatusCode::UNAUTHORIZED, "a token is needed: `Authorization: Bearer …`");
    answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    answer
}

/// The caller has as many connections as they may have.
pub(super) fn too_many_connections() -> Answer {
    let mut answer = refusal(StatusCode::TOO_MANY_REQUESTS, "there are too many connections: close some of them first");
    // Otherwise this one would be one more.
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// A body that is no message.
pub(super) fn no_message(code: i32, message: &str) -> Answer {
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    let mut answer = with_body(StatusCode::BAD_REQUEST, body.to_string());
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// What a browser asks before it lets a page call, with what it wants to send.
pub(super) fn preflight(asked: &HeaderMap) -> Answer {
    let mut answer = with_body(StatusCode::NO_CONTENT, String::new());
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    // `*` would not stand for `Authorization`.
    let mut allowed = REQUEST_HEADERS.to_owned();
    parameters(asked).for_each(|name| allowed.extend([", ", name.as_str()]));
    // A header can say every name of one.
    let allowed = HeaderValue::try_from(allowed).unwrap_or(HeaderValue::from_static(REQUEST_HEADERS));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    answer
}

const REQUEST_HEADERS: &str =
    "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name";

/// What the names of headers begin with that repeat parameters of a tool. Nobody can list them: tools choose the rest.
const PARAMETER: &str = "mcp-param-";

/// Most of them and the longest, which is more than tools have: what a stranger asks for is sent back.
const MAX_PARAMETERS: usize = 64;
const MAX_PARAMETER: usize = 128;

/// The headers for parameters of a tool that a browser asks for.
fn parameters(asked: &HeaderMap) -> impl Iterator<Item = HeaderName> {
    let lines = asked.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter();
    let names = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    // Whatever is no name of a header is none here, so that nothing else can be made to stand in the answer.
    let names = names.filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok());
    let is_parameter = |name: &HeaderName| {
        let rest = name.as_str().strip_prefix(PARAMETER);
        rest.is_some_and(|rest| !rest.is_empty()) && name.as_str().len() <= MAX_PARAMETER
    };
    names.filter(is_parameter).take(MAX_PARAMETERS)
}

/// Lets a page of this origin read an answer.
pub(super) fn open_to(answer: &mut Answer, origin: HeaderValue) {
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate"));
    headers.append(VARY, HeaderValue::from_static("Origin"));
}

fn with_body(status: StatusCode, text: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text)).boxed());
    *answer.status_mut() = status;
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(lines: &[&str]) -> Vec<String> {
        let mut asked = HeaderMap::new();
        for line in lines {
            asked.append(ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue::from_str(line).unwrap());
        }
        let answer = preflight(&asked);
        let line = answer.headers()[ACCESS_CONTROL_ALLOW_HEADERS].to_str().unwrap();
        line.split(", ").map(str::to_owned).collect()
    }

    #[test]
    fn a_page_may_send_parameters_of_tools_and_no_other_header_that_it_names() {
        let always: Vec<&str> = REQUEST_HEADERS.split(", ").collect();
        assert_eq!(allowed(&[]), always);
        let asked = ["authorization,mcp-param-region, Mcp-Param-Tenant_1", "mcp-param-x!"];
        let named = ["mcp-param-region", "mcp-param-tenant_1", "mcp-param-x!"];
        assert_eq!(allowed(&asked), [&always[..], &named].concat());
        let others =
            "x-other,cookie,mcp-param-,mcp-parameter,x-mcp-param-a,mcp-param-a b,mcp-param-a:b,mcp-param-\"a\",,*";
        assert_eq!(allowed(&[others]), always);
    }

    #[test]
    fn what_is_sent_back_of_a_question_is_bounded() {
        let always = allowed(&[]).len();
        let many: Vec<String> = (0..1000).map(|number| format!("mcp-param-{number}")).collect();
        assert_eq!(allowed(&[&many.join(",")]).len(), always + MAX_PARAMETERS);
        let longest = format!("{PARAMETER}{}", "x".repeat(MAX_PARAMETER - PARAMETER.len()));
        assert_eq!(allowed(&[&longest]).len(), always + 1);
        assert_eq!(allowed(&[&format!("{longest}x")]).len(), always);
    }
}
