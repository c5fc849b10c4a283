//! Parser of queries, headers and forms: objects of names and values.

use super::super::error::{SourceError, quoted};
use super::super::node::Node;
use super::super::parameters::Parameters;
use super::headers::{self, Refused};
use crate::implementation::{HttpMember, HttpStyle};
use crate::template::Template;
use serde_json::Value;

/// Maximum number of members of a query, a form, or the headers. Servers accept about a hundred headers.
const MAX_MEMBERS: usize = 100;

/// Maximum length of a name.
const MAX_NAME_BYTES: usize = 1024;

const STYLES: [(&str, HttpStyle); 7] = [
    ("repeat", HttpStyle::Repeat),
    ("comma", HttpStyle::Comma),
    ("space", HttpStyle::Space),
    ("pipe", HttpStyle::Pipe),
    ("brackets", HttpStyle::Brackets),
    ("members", HttpStyle::Members),
    ("json", HttpStyle::Json),
];

/// Parses a query or a form. A value is text, a number, a boolean, or `{ "value", "style" }`.
pub(super) fn query(node: Option<&Node<'_>>, parameters: &Parameters<'_>) -> Result<Vec<HttpMember>, SourceError> {
    read(node, |name, node| {
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            return Err(node.error("invalid name", "Write the name that the server expects."));
        }
        let (value, style) = match node.value {
            Value::Object(_) => {
                node.check_keys(&["value", "style"], "member")?;
                let Some(value) = node.get("value") else {
                    return Err(node.error("no \"value\"", "Give it one, such as \"{{name}}\"."));
                };
                let style = node.get("style").map(|node| style(&node)).transpose()?;
                (text(&value, parameters)?, style.unwrap_or_default())
            }
            _ => (text(node, parameters)?, HttpStyle::default()),
        };
        Ok(HttpMember { name: name.to_owned(), value, style })
    })
}

/// Parses headers; refuses those of the connection and those that carry credentials.
pub(super) fn headers(node: Option<&Node<'_>>, parameters: &Parameters<'_>) -> Result<Vec<HttpMember>, SourceError> {
    let headers = read(node, |name, node| {
        check(name, node)?;
        let value = text(node, parameters)?;
        let is_control = |character: char| character.is_control() && character != '\t';
        if value.text().contains(is_control) {
            return Err(node.error("control character in a header value", "Remove it."));
        }
        Ok(HttpMember { name: name.to_owned(), value, style: HttpStyle::default() })
    })?;
    for (index, header) in headers.iter().enumerate() {
        if let (Some(node), true) =
            (node, headers.iter().skip(index + 1).any(|other| other.name.eq_ignore_ascii_case(&header.name)))
        {
            let message = format!("duplicate header {} (header names are case-insensitive)", quoted(&header.name));
            return Err(node.error(message, "Leave one of the two out."));
        }
    }
    Ok(headers)
}

fn check(name: &str, node: &Node<'_>) -> Result<(), SourceError> {
    let Err(refused) = headers::check(name) else { return Ok(()) };
    let name = quoted(name);
    Err(match refused {
        Refused::Name => node.error(format!("invalid header name {name}"), "Use letters, digits and \"-\"."),
        Refused::Connection => node.error(format!("the header {name} is set by the connection"), "Leave it out."),
        Refused::Credentials => node.error(
            format!("the header {name} carries credentials, which a definition may not set"),
            "Put it into the configuration: \"providers\", this module, \"origins\", the server's origin, \"headers\".",
        ),
    })
}

fn read(
    node: Option<&Node<'_>>,
    member: impl Fn(&str, &Node<'_>) -> Result<HttpMember, SourceError>,
) -> Result<Vec<HttpMember>, SourceError> {
    let Some(node) = node else { return Ok(Vec::new()) };
    let members = node.object("this")?;
    if members.len() > MAX_MEMBERS {
        let message = format!("{} members, more than {MAX_MEMBERS}", members.len());
        return Err(node.error(message, "Leave some out."));
    }
    node.members().map(|(name, node)| member(name, &node)).collect()
}

/// Parses a template; numbers and booleans are read as text.
fn text(node: &Node<'_>, parameters: &Parameters<'_>) -> Result<Template, SourceError> {
    let text = match node.value {
        Value::Number(number) => number.to_string(),
        Value::Bool(is_set) => is_set.to_string(),
        _ => node.text("the value")?.to_owned(),
    };
    parameters.template(node, &text)
}

fn style(node: &Node<'_>) -> Result<HttpStyle, SourceError> {
    let text = node.text("\"style\"")?;
    let style = STYLES.iter().find(|(name, _)| *name == text).map(|(_, style)| *style);
    style.ok_or_else(|| {
        let known: Vec<_> = STYLES.iter().map(|(name, _)| *name).collect();
        node.error(format!("unknown style {}", quoted(text)), format!("Use one of {}.", known.join(", ")))
    })
}
