//! Parser of `http`: the HTTP request of a function.
//!
//! ```text
//! address     scheme, host, port and path; parameters only in the path
//! headers     headers that a definition may set
//! members     queries, headers and forms
//! response    JSON pointers, error mapping, pagination
//! ```
//!
//! OpenAPI operations become the same type: see `openapi/http`.

pub(super) mod address;
pub(super) mod headers;
mod members;
mod response;

use super::error::{SourceError, quoted};
use super::node::Node;
use super::parameters::Parameters;
use crate::implementation::{HttpBody, HttpContent, HttpMember, HttpOperation, HttpResponse};
use crate::template::Template;
use serde_json::Value;
use std::collections::BTreeMap;

/// Supported methods. `CONNECT` and `TRACE` are for proxies.
pub(super) const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

const TOOL_KEYS: [&str; 2] = ["baseUrl", "headers"];
const FUNCTION_KEYS: [&str; 12] =
    ["method", "path", "url", "query", "headers", "body", "form", "text", "response", "result", "errors", "pages"];

/// Settings of all functions of a tool.
#[derive(Default)]
pub(super) struct Defaults {
    base: Option<String>,
    headers: Vec<HttpMember>,
}

/// Parses the `http` settings of a tool.
pub(super) fn defaults(node: Option<&Node<'_>>) -> Result<Defaults, SourceError> {
    let Some(node) = node else { return Ok(Defaults::default()) };
    node.object("\"http\"")?;
    node.check_keys(&TOOL_KEYS, "tool's http")?;
    let base = node.get("baseUrl").map(|node| address::base(&node)).transpose()?;
    let headers = members::headers(node.get("headers").as_ref(), &Parameters::none())?;
    Ok(Defaults { base, headers })
}

/// Parses the request of a function with these parameters.
pub(super) fn read(
    node: &Node<'_>,
    defaults: &Defaults,
    parameters: &Value,
) -> Result<Box<HttpOperation>, SourceError> {
    node.object("\"http\"")?;
    node.check_keys(&FUNCTION_KEYS, "function's http")?;
    let parameters = Parameters::of(parameters);
    let method = method(node)?;
    let own = members::headers(node.get("headers").as_ref(), &parameters)?;
    let is_own = |name: &str| own.iter().any(|header| header.name.eq_ignore_ascii_case(name));
    let shared = defaults.headers.iter().filter(|header| !is_own(&header.name)).cloned();
    let pages = response::pages(node.get("pages").as_ref())?;
    let result = node.get("result").map(|node| response::pointer(&node)).transpose()?;
    if let (Some(_), Some(place)) = (&result, node.get("pages")) {
        return Err(place.error("there is a \"result\" too", "Leave it out: \"items\" locates the list."));
    }
    if let (Some(_), Some(place), true) = (&pages, node.get("pages"), method != "GET") {
        return Err(place.error(format!("no pagination for {method} requests"), "Use GET."));
    }
    Ok(Box::new(HttpOperation {
        url: url(node, defaults, &parameters)?,
        path: BTreeMap::new(),
        query: members::query(node.get("query").as_ref(), &parameters)?,
        headers: shared.chain(own.iter().cloned()).collect(),
        cookies: Vec::new(),
        body: body(node, &method, &parameters)?,
        response: response(node)?,
        errors: response::errors(node.get("errors").as_ref(), &parameters)?,
        method,
        result,
        pages,
    }))
}

fn method(node: &Node<'_>) -> Result<String, SourceError> {
    let Some(node) = node.get("method") else { return Ok("GET".to_owned()) };
    let text = node.text("\"method\"")?;
    let method = text.to_ascii_uppercase();
    if METHODS.contains(&method.as_str()) {
        return Ok(method);
    }
    Err(node.error(format!("unsupported HTTP method {}", quoted(text)), format!("Use {}.", METHODS.join(", "))))
}

fn url(node: &Node<'_>, defaults: &Defaults, parameters: &Parameters<'_>) -> Result<Template, SourceError> {
    let (at, text) = match (node.get("url"), node.get("path"), &defaults.base) {
        (Some(url), Some(_), _) => return Err(url.error("there is a \"path\" too", "Leave one of the two out.")),
        (Some(url), None, _) => {
            let text = address::whole(&url)?;
            (url, text)
        }
        (None, Some(path), Some(base)) => {
            let text = address::path(&path)?;
            (path, format!("{base}{text}"))
        }
        (None, Some(path), None) => {
            let fix = "Give the tool an \"http\" with a \"baseUrl\", or write a full \"url\" here.";
            return Err(path.error("the path has no server", fix));
        }
        (None, None, _) => return Err(node.error("no URL", "Give it a \"path\" or a \"url\".")),
    };
    parameters.given_template(&at, &text)
}

fn response(node: &Node<'_>) -> Result<HttpResponse, SourceError> {
    let Some(node) = node.get("response") else { return Ok(HttpResponse::Auto) };
    match node.text("\"response\"")? {
        "auto" => Ok(HttpResponse::Auto),
        "json" => Ok(HttpResponse::Json),
        "text" => Ok(HttpResponse::Text),
        "bytes" => Ok(HttpResponse::Bytes),
        other => Err(node.error(
            format!("unknown response format {}", quoted(other)),
            "Write \"auto\", \"json\", \"text\" or \"bytes\".",
        )),
    }
}

fn body(node: &Node<'_>, method: &str, parameters: &Parameters<'_>) -> Result<Option<HttpBody>, SourceError> {
    let given: Vec<_> = ["body", "form", "text"].into_iter().filter_map(|key| Some((key, node.get(key)?))).collect();
    let (key, at) = match given.as_slice() {
        [] => return Ok(None),
        [one] => one,
        [.., (key, second)] => {
            return Err(second.error(format!("there is another body besides {key:?}"), "Leave all but one out."));
        }
    };
    if matches!(method, "GET" | "HEAD") {
        return Err(at.error(format!("a {method} request has no body"), "Use \"query\", or another method."));
    }
    let (media_type, content) = match *key {
        "body" => {
            parameters.check_json(at)?;
            ("application/json", HttpContent::Json(at.value.clone()))
        }
        "form" => ("application/x-www-form-urlencoded", HttpContent::Form(members::query(Some(at), parameters)?)),
        _ => {
            let template = parameters.template(at, at.text("\"text\"")?)?;
            ("text/plain; charset=utf-8", HttpContent::Text(template))
        }
    };
    Ok(Some(HttpBody { media_type: media_type.to_owned(), content, is_optional: false }))
}
