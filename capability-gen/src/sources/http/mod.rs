//! `http`: a function that is answered by a request to a web server.
//!
//! ```text
//! address     scheme, host, port and path; nothing of a parameter gets before the path
//! headers     which headers a definition may set
//! members     queries, headers and forms
//! names       parameters in templates
//! answer      what of the answer is the value: pointers, errors, pages
//! ```
//!
//! Documents of APIs become the same: see `openapi/http`.

pub(super) mod address;
mod answer;
pub(super) mod headers;
mod members;
mod names;

use super::error::{SourceError, quoted};
use super::node::Node;
use crate::implementation::{HttpBody, HttpContent, HttpMember, HttpOperation, HttpResponse, Template};
use names::Names;
use serde_json::Value;

/// The methods that are sent. `CONNECT` and `TRACE` are for proxies.
pub(super) const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// The longest text with parameters in it. Servers take addresses of about this size.
const MAX_TEMPLATE_BYTES: usize = 8 * 1024;

/// The largest body as it stands in a definition: it is filled in at every call.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// The deepest body: it is walked through at every call.
const MAX_BODY_DEPTH: usize = 32;

const TOOL_KEYS: [&str; 2] = ["baseUrl", "headers"];
const FUNCTION_KEYS: [&str; 12] =
    ["method", "path", "url", "query", "headers", "body", "form", "text", "response", "result", "errors", "pages"];

/// What holds for all functions of a tool.
#[derive(Default)]
pub(super) struct Defaults {
    base: Option<String>,
    headers: Vec<HttpMember>,
}

/// What a tool says of the requests of its functions.
pub(super) fn defaults(node: Option<&Node<'_>>) -> Result<Defaults, SourceError> {
    let Some(node) = node else { return Ok(Defaults::default()) };
    node.object("\"http\"")?;
    node.check_keys(&TOOL_KEYS, "tool's http")?;
    let base = node.get("baseUrl").map(|node| address::base(&node)).transpose()?;
    let headers = members::headers(node.get("headers").as_ref(), &Names::none())?;
    Ok(Defaults { base, headers })
}

/// The request of a function with these parameters.
pub(super) fn read(
    node: &Node<'_>,
    defaults: &Defaults,
    parameters: &Value,
) -> Result<Box<HttpOperation>, SourceError> {
    node.object("\"http\"")?;
    node.check_keys(&FUNCTION_KEYS, "function's http")?;
    let names = Names::of(parameters);
    let method = method(node)?;
    let own = members::headers(node.get("headers").as_ref(), &names)?;
    let is_own = |name: &str| own.iter().any(|header| header.name.eq_ignore_ascii_case(name));
    let shared = defaults.headers.iter().filter(|header| !is_own(&header.name)).cloned();
    let pages = answer::pages(node.get("pages").as_ref())?;
    let result = node.get("result").map(|node| answer::pointer(&node)).transpose()?;
    if let (Some(_), Some(place)) = (&result, node.get("pages")) {
        return Err(place.error("there is a \"result\" too", "Leave that out: \"items\" says where the list is."));
    }
    if let (Some(_), Some(place), true) = (&pages, node.get("pages"), method != "GET") {
        return Err(place.error(format!("pages of a {method} request cannot be asked for"), "Use GET."));
    }
    Ok(Box::new(HttpOperation {
        url: url(node, defaults, &names)?,
        query: members::query(node.get("query").as_ref(), &names)?,
        headers: shared.chain(own.iter().cloned()).collect(),
        cookies: Vec::new(),
        body: body(node, &method, &names)?,
        response: response(node)?,
        errors: answer::errors(node.get("errors").as_ref(), &names)?,
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
    Err(node.error(format!("{} is no method that can be sent", quoted(text)), format!("Use {}.", METHODS.join(", "))))
}

fn url(node: &Node<'_>, defaults: &Defaults, names: &Names<'_>) -> Result<Template, SourceError> {
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
            let fix = "Give the tool an \"http\" with a \"baseUrl\", or write a whole \"url\" here.";
            return Err(path.error("the path has no server", fix));
        }
        (None, None, _) => return Err(node.error("there is no address", "Give it a \"path\" or a \"url\".")),
    };
    let template = template(&at, &text)?;
    names.check_all_given(&at, &template)?;
    Ok(template)
}

fn response(node: &Node<'_>) -> Result<HttpResponse, SourceError> {
    let Some(node) = node.get("response") else { return Ok(HttpResponse::Auto) };
    match node.text("\"response\"")? {
        "auto" => Ok(HttpResponse::Auto),
        "json" => Ok(HttpResponse::Json),
        "text" => Ok(HttpResponse::Text),
        "bytes" => Ok(HttpResponse::Bytes),
        other => {
            Err(node
                .error(format!("{} is not known", quoted(other)), "Write \"auto\", \"json\", \"text\" or \"bytes\"."))
        }
    }
}

fn body(node: &Node<'_>, method: &str, names: &Names<'_>) -> Result<Option<HttpBody>, SourceError> {
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
            if at.value.to_string().len() > MAX_BODY_BYTES {
                return Err(at.error(format!("the body has more than {MAX_BODY_BYTES} bytes"), "Shorten it."));
            }
            check_json(at, names, 0)?;
            ("application/json", HttpContent::Json(at.value.clone()))
        }
        "form" => ("application/x-www-form-urlencoded", HttpContent::Form(members::query(Some(at), names)?)),
        _ => {
            let template = template(at, at.text("\"text\"")?)?;
            names.check(at, &template)?;
            ("text/plain; charset=utf-8", HttpContent::Text(template))
        }
    };
    Ok(Some(HttpBody { media_type: media_type.to_owned(), content, is_optional: false }))
}

fn check_json(node: &Node<'_>, names: &Names<'_>, depth: usize) -> Result<(), SourceError> {
    if depth > MAX_BODY_DEPTH {
        return Err(node.error(format!("the body is nested more than {MAX_BODY_DEPTH} deep"), "Flatten it."));
    }
    if let Value::String(text) = node.value {
        names.check(node, &parsed(node, text)?)?;
    }
    let inner = node.members().map(|(_, node)| node).chain(node.items());
    inner.into_iter().try_for_each(|node| check_json(&node, names, depth + 1))
}

/// A text with parameters in it.
fn template(node: &Node<'_>, text: &str) -> Result<Template, SourceError> {
    if text.len() > MAX_TEMPLATE_BYTES {
        let message = format!("this has {} bytes, more than {MAX_TEMPLATE_BYTES}", text.len());
        return Err(node.error(message, "Shorten it."));
    }
    parsed(node, text)
}

fn parsed(node: &Node<'_>, text: &str) -> Result<Template, SourceError> {
    Template::parse(text).map_err(|error| node.error(error.to_string(), "Write a parameter as \"{{name}}\"."))
}
