//! CORS headers of responses and preflight requests.

use crate::responses::{HttpResponse, response};
use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HeaderName, HeaderValue,
    VARY,
};
use http::{HeaderMap, StatusCode};

/// Answers a CORS preflight request.
pub(crate) fn preflight(asked: &HeaderMap) -> HttpResponse {
    let mut answer = response(StatusCode::NO_CONTENT, Bytes::new());
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    // `*` does not cover `Authorization`.
    let mut allowed = REQUEST_HEADERS.to_owned();
    prefixed_headers(asked).for_each(|name| allowed.extend([", ", name.as_str()]));
    // Header names are valid header values, so this never falls back.
    let allowed = HeaderValue::try_from(allowed).unwrap_or(HeaderValue::from_static(REQUEST_HEADERS));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    answer
}

/// Methods and headers that any part of the server reads.
const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE";
const REQUEST_HEADERS: &str = "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, \
                               Mcp-Protocol-Version, Mcp-Method, Mcp-Name, If-Match, If-None-Match, Idempotency-Key, \
                               Prefer, traceparent, tracestate, X-Api-Key, Anthropic-Version, Anthropic-Beta, \
                               Anthropic-Dangerous-Direct-Browser-Access, A2A-Version, A2A-Extensions";

/// Response headers that a page may read.
const EXPOSED_HEADERS: &str = "Mcp-Session-Id, WWW-Authenticate, ETag, Location, Retry-After, X-Should-Retry, Link";

/// Prefixes of headers whose names are not known: those that repeat parameters of a tool, and those with which SDKs of
/// models describe themselves.
const PREFIXES: [&str; 2] = ["mcp-param-", "x-stainless-"];

/// Maximum number and length of such headers, since the response repeats what an unauthenticated client sends.
const MAX_PARAMETERS: usize = 64;
const MAX_PARAMETER: usize = 128;

/// Returns the headers with a known prefix that a preflight request names.
fn prefixed_headers(asked: &HeaderMap) -> impl Iterator<Item = HeaderName> {
    let lines = asked.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter();
    let names = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    // Anything that is not a header name is dropped, so that nothing can be injected into the response.
    let names = names.filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok());
    let is_known = |name: &HeaderName| {
        let rest = PREFIXES.iter().find_map(|prefix| name.as_str().strip_prefix(prefix));
        rest.is_some_and(|rest| !rest.is_empty()) && name.as_str().len() <= MAX_PARAMETER
    };
    names.filter(is_known).take(MAX_PARAMETERS)
}

/// Adds the CORS headers that let a page of this origin read a response.
pub(crate) fn allow_origin(response: &mut HttpResponse, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED_HEADERS));
    headers.append(VARY, HeaderValue::from_static("Origin"));
}

#[cfg(test)]
mod tests {
    use crate::cors::*;

    fn allowed(lines: &[&str]) -> Vec<String> {
        let mut asked = HeaderMap::new();
        for line in lines {
            asked.append(ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue::from_str(line).unwrap());
        }
        let response = preflight(&asked);
        let line = response.headers()[ACCESS_CONTROL_ALLOW_HEADERS].to_str().unwrap();
        line.split(", ").map(str::to_owned).collect()
    }

    #[test]
    fn preflight_allows_headers_with_known_prefixes_and_no_other_named_header() {
        let always: Vec<&str> = REQUEST_HEADERS.split(", ").collect();
        assert_eq!(allowed(&[]), always);
        let asked = ["authorization,mcp-param-region, Mcp-Param-Tenant_1", "mcp-param-x!"];
        let named = ["mcp-param-region", "mcp-param-tenant_1", "mcp-param-x!"];
        assert_eq!(allowed(&asked), [&always[..], &named].concat());
        assert_eq!(allowed(&["X-Stainless-Lang"]), [&always[..], &["x-stainless-lang"]].concat());
        let others = [
            "x-other,x-stainless-,x-stainless,cookie,mcp-param-,mcp-parameter,x-mcp-param-a",
            "mcp-param-a b,mcp-param-a:b,mcp-param-\"a\",,*",
            // Sessions count only with it, so that pages of other origins cannot use them.
            "x-agent-spaces-console",
        ];
        assert_eq!(allowed(&others), always);
    }

    #[test]
    fn preflight_echo_is_bounded() {
        let always = allowed(&[]).len();
        let many: Vec<String> = (0..1000).map(|number| format!("mcp-param-{number}")).collect();
        assert_eq!(allowed(&[&many.join(",")]).len(), always + MAX_PARAMETERS);
        let longest = format!("mcp-param-{}", "x".repeat(MAX_PARAMETER - "mcp-param-".len()));
        assert_eq!(allowed(&[&longest]).len(), always + 1);
        assert_eq!(allowed(&[&format!("{longest}x")]).len(), always);
    }
}
