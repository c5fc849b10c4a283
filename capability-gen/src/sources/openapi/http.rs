//! Operation → HTTP request of the function.

use super::super::error::SourceError;
use super::super::http::{METHODS, address};
use super::operation::Operation;
use super::request::{Placed, Request};
use super::{Context, server};
use crate::definition::Note;
use crate::implementation::{
    HttpBody, HttpContent, HttpMember, HttpOperation, HttpPathStyle, HttpResponse, HttpStyle, Implementation,
};
use crate::template::{Template, placeholder};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Maximum length of a media type.
const MAX_MEDIA_TYPE_BYTES: usize = 256;

/// Builds the request; returns `None` and adds a note if that is impossible.
pub(super) fn implementation(
    context: &Context<'_>,
    operation: &Operation<'_>,
    request: &Request,
    is_json: bool,
    notes: &mut Vec<Note>,
) -> Result<Option<Implementation>, SourceError> {
    let node = &operation.node;
    let mut refuse = |why: &str| {
        notes.push(node.note(format!("{why}: it cannot be called")));
        Ok(None)
    };
    let method = operation.method.to_uppercase();
    if !METHODS.contains(&method.as_str()) {
        return refuse(&format!("unsupported HTTP method {method}"));
    }
    let own = match server::base(node)? {
        None => server::base(&operation.item)?,
        own => own,
    };
    let base = match own {
        Some(Ok(base)) => base,
        Some(Err(why)) => return refuse(&why),
        // An invalid base URL of the document was reported once.
        None => context.base.clone().unwrap_or_default(),
    };
    let (path, fixed) = path(operation.path, &request.parameters);
    let url = match address::plain_path(&path).map(|path| Template::parse(&(base + &path))) {
        Ok(Ok(url)) => url,
        Ok(Err(_)) => return refuse("malformed path"),
        Err(why) => return refuse(why),
    };
    let body = match body(request) {
        Ok(body) => body.filter(|_| !matches!(method.as_str(), "GET" | "HEAD")),
        Err(why) => return refuse(&why),
    };
    let members = |location: &'static str| {
        let placed = request.parameters.iter().filter(move |placed| placed.location == location);
        placed.map(member)
    };
    Ok(Some(Implementation::Http(Box::new(HttpOperation {
        method,
        url,
        path: styles(&request.parameters),
        query: fixed.into_iter().chain(members("query")).collect(),
        headers: members("header").collect(),
        cookies: members("cookie").collect(),
        body,
        response: if is_json { HttpResponse::Json } else { HttpResponse::Auto },
        result: None,
        errors: BTreeMap::new(),
        pages: None,
    }))))
}

/// Styles of path parameters.
fn styles(parameters: &[Placed]) -> BTreeMap<String, HttpPathStyle> {
    let styled = parameters.iter().filter(|placed| placed.location == "path");
    styled.filter_map(|placed| Some((placed.name.clone(), placed.path_style.clone()?))).collect()
}

fn member(placed: &Placed) -> HttpMember {
    HttpMember { name: placed.wire.clone(), value: Template::of_parameter(&placed.name), style: placed.style }
}

/// The path with templates for its parameters, and the query that some documents append to it.
fn path(text: &str, parameters: &[Placed]) -> (String, Vec<HttpMember>) {
    let text = text.split('#').next().unwrap_or_default();
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    let members = query.split('&').filter(|pair| !pair.is_empty()).filter_map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = Template::parse(&with_templates(value, parameters)).ok()?;
        Some(HttpMember { name: name.to_owned(), value, style: HttpStyle::default() })
    });
    let members = members.collect();
    (with_templates(path, parameters), members)
}

/// Replaces `{petId}` by `{{petId}}`, and percent-encodes other braces.
fn with_templates(text: &str, parameters: &[Placed]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(&before.replace('}', "%7D"));
        let known = after.split_once('}').and_then(|(name, after)| {
            let placed = parameters.iter().find(|placed| placed.location == "path" && placed.wire == name)?;
            Some((placed, after))
        });
        match known {
            Some((placed, after)) => {
                filled.push_str(&placed.prefix.replace(['{', '}'], "_"));
                filled.push_str(&placeholder(&placed.name));
                rest = after;
            }
            None => {
                filled.push_str("%7B");
                rest = after;
            }
        }
    }
    filled.push_str(&rest.replace('}', "%7D"));
    filled
}

fn body(request: &Request) -> Result<Option<HttpBody>, String> {
    let Some(body) = &request.body else { return Ok(None) };
    let essence = body.media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let whole = request.parameters.iter().find(|placed| placed.location == "whole-body");
    let parts = || request.parameters.iter().filter(|placed| placed.location == "body");
    let mut media_type = body.media_type.clone();
    let is_json = matches!(essence.as_str(), "application/json" | "text/json") || essence.ends_with("+json");
    let content = match (essence.as_str(), whole) {
        (_, Some(whole)) if is_json || essence.contains('*') => {
            HttpContent::Json(Value::String(placeholder(&whole.name)))
        }
        (_, None) if is_json || essence.contains('*') => {
            let members = parts().map(|placed| (placed.wire.clone(), Value::String(placeholder(&placed.name))));
            HttpContent::Json(Value::Object(Map::from_iter(members)))
        }
        ("application/x-www-form-urlencoded", Some(whole)) => {
            HttpContent::Form(vec![HttpMember { style: HttpStyle::Members, ..member(whole) }])
        }
        ("application/x-www-form-urlencoded", None) => HttpContent::Form(parts().map(member).collect()),
        (essence, Some(whole)) if !essence.starts_with("multipart/") && is_text(request, whole) => {
            HttpContent::Text(Template::of_parameter(&whole.name))
        }
        _ => return Err(format!("unsupported request body {essence:.64}")),
    };
    if essence.contains('*') {
        media_type = "application/json".to_owned();
    }
    let is_sendable = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    if media_type.len() > MAX_MEDIA_TYPE_BYTES || !media_type.bytes().all(is_sendable) {
        return Err("invalid media type of the body".to_owned());
    }
    Ok(Some(HttpBody { media_type, content, is_optional: !body.is_required }))
}

/// Returns true if a parameter is text by its schema.
fn is_text(request: &Request, placed: &Placed) -> bool {
    let schema = &request.schema["properties"][&placed.name];
    schema.get("type").is_none_or(|name| name == "string")
}
