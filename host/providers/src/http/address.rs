//! URL of a request: scheme, host, port and path structure come from the definition, whatever the parameters are.

use super::{fill, query};
use crate::error::ProviderError;
use agent_spaces_types::code::Code;
use capability_gen::implementation::{HttpOperation, HttpPathStyle, HttpStyle};
use capability_gen::template::{Part, given};
use serde_json::Value;
use url::Url;

/// Returns the origin of an operation; `None` if its definition names no server.
pub fn origin(operation: &HttpOperation) -> Option<Url> {
    let Some(Part::Text(text)) = operation.url.parts().first() else { return None };
    let url = Url::parse(text).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    Url::parse(&url.origin().ascii_serialization()).ok()
}

/// Builds the URL up to the query.
pub(super) fn fill(operation: &HttpOperation, params: &Value) -> Result<Url, ProviderError> {
    let template = &operation.url;
    let unnamed = || {
        let message = "The definition of this function has no server URL";
        ProviderError::new(Code::CallUnavailable, message)
    };
    let Some(Part::Text(first)) = template.parts().first() else { return Err(unnamed()) };
    let base = Url::parse(first).ok().filter(|url| matches!(url.scheme(), "http" | "https")).ok_or_else(unnamed)?;
    let mut text = String::new();
    let mut segment = Segment::default();
    for part in template.parts() {
        match part {
            Part::Text(literal) => {
                let mut pieces = literal.split('/');
                segment.text.push_str(pieces.next().unwrap_or_default());
                for piece in pieces {
                    segment.finish(&mut text)?;
                    text.push('/');
                    segment.text.push_str(piece);
                }
            }
            Part::Parameter(name) => {
                segment.text.push_str(&component(params, name, operation.path.get(name))?);
                segment.parameter = Some(name);
            }
        }
        if text.len().saturating_add(segment.text.len()) > fill::MAX_MEMBER {
            return Err(ProviderError::invalid("URL too long: pass less"));
        }
    }
    segment.finish(&mut text)?;
    let url = Url::parse(&text).ok().filter(|url| {
        let is_bare = url.username().is_empty() && url.password().is_none();
        let is_path = url.query().is_none() && url.fragment().is_none();
        // Refuse a URL that parses differently from how it was written.
        is_bare && is_path && url.origin() == base.origin() && url.path() == path(&text)
    });
    url.ok_or_else(|| ProviderError::invalid("These parameters make an invalid URL"))
}

/// Returns the literal path of a URL.
fn path(text: &str) -> &str {
    let after = text.split_once("://").map_or("", |(_, after)| after);
    after.find('/').and_then(|at| after.get(at..)).unwrap_or("/")
}

/// Path segment under construction.
#[derive(Default)]
struct Segment<'a> {
    text: String,
    /// A parameter in it.
    parameter: Option<&'a str>,
}

impl Segment<'_> {
    /// Appends the segment. A parameter must not make it empty, `.` or `..`, which would change the path.
    fn finish(&mut self, address: &mut String) -> Result<(), ProviderError> {
        let plain = self.text.to_ascii_lowercase().replace("%2e", ".");
        if let (Some(name), "" | "." | "..") = (self.parameter, plain.as_str()) {
            let message = format!("{name} is a part of the URL: it cannot be empty, \".\" or \"..\"");
            return Err(ProviderError::invalid(message));
        }
        address.push_str(&std::mem::take(&mut self.text));
        self.parameter = None;
        Ok(())
    }
}

/// Encodes a parameter as part of a segment. By default list elements are joined by commas, and objects are refused.
fn component(params: &Value, name: &str, style: Option<&HttpPathStyle>) -> Result<String, ProviderError> {
    let value = given(params, name)
        .ok_or_else(|| ProviderError::invalid(format!("{name} is missing: it is a part of the URL")))?;
    let all = |items: &[Value]| {
        let items = items.iter().map(|item| fill::plain(item, name).map(|text| fill::encoded(&text)));
        items.collect::<Result<Vec<_>, _>>()
    };
    let parts = match (value, style.map(|style| style.style)) {
        (value, Some(HttpStyle::Json)) => return Ok(fill::encoded(&value.to_string())),
        (Value::Array(items), _) => all(items)?,
        (Value::Object(members), Some(HttpStyle::Members)) => fill::named(members, name, fill::encoded)?,
        (Value::Object(members), Some(HttpStyle::Comma)) => all(&query::alternating(members))?,
        (value, _) => return Ok(fill::encoded(&fill::plain(value, name)?)),
    };
    Ok(parts.join(style.map_or(",", |style| style.between.as_str())))
}
