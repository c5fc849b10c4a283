//! Response handling: JSON pointers, error mapping, pagination.

use super::super::error::{SourceError, quoted};
use super::super::node::Node;
use super::super::parameters::Parameters;
use crate::implementation::{HttpError, HttpNext, HttpPages, RESERVED_CODES};
use std::collections::BTreeMap;

/// Maximum length of a JSON pointer.
const MAX_POINTER_BYTES: usize = 1024;

/// Maximum number of statuses that a function distinguishes.
const MAX_ERRORS: usize = 100;

/// Maximum length of an error code.
const MAX_CODE_BYTES: usize = 64;

/// Default and maximum number of pages; each is a request.
const PAGES: u32 = 10;
const MAX_PAGES: u32 = 100;

/// Parses a JSON pointer: empty, or segments each preceded by a `/`.
pub(super) fn pointer(node: &Node<'_>) -> Result<String, SourceError> {
    let text = node.text("a JSON pointer")?;
    let is_escaped = text.split('~').skip(1).all(|after| after.starts_with(['0', '1']));
    if text.len() <= MAX_POINTER_BYTES && (text.is_empty() || text.starts_with('/')) && is_escaped {
        return Ok(text.to_owned());
    }
    let message = format!("invalid JSON pointer {}", quoted(text));
    Err(node.error(message, "Write a path such as \"/data/items\", or \"\" for the whole response."))
}

/// Parses the errors reported to scripts, by status.
pub(super) fn errors(
    node: Option<&Node<'_>>,
    parameters: &Parameters<'_>,
) -> Result<BTreeMap<String, HttpError>, SourceError> {
    let Some(node) = node else { return Ok(BTreeMap::new()) };
    if node.object("\"errors\"")?.len() > MAX_ERRORS {
        return Err(node.error(format!("more than {MAX_ERRORS} errors"), "Use \"4xx\", \"5xx\" or \"*\"."));
    }
    let read = |(status, node): (&str, Node<'_>)| {
        let status = status.to_ascii_lowercase();
        if !is_status(&status) {
            let message = format!("invalid error status {}", quoted(&status));
            return Err(node.error(message, "Write a status such as \"404\", a class such as \"5xx\", or \"*\"."));
        }
        node.object("an error")?;
        node.check_keys(&["code", "message", "from", "retryable"], "error")?;
        let message = match node.get("message") {
            Some(node) => Some(parameters.template(&node, node.text("\"message\"")?)?),
            None => None,
        };
        let error = HttpError {
            code: node.get("code").map(|node| code(&node)).transpose()?,
            message,
            from: node.get("from").map(|node| pointer(&node)).transpose()?,
            retryable: node.get_bool("retryable")?,
        };
        Ok((status, error))
    };
    node.members().map(read).collect()
}

fn is_status(text: &str) -> bool {
    let is_number = text.len() == 3 && text.parse::<u16>().is_ok_and(|status| (300..600).contains(&status));
    is_number || matches!(text, "3xx" | "4xx" | "5xx" | "*")
}

fn code(node: &Node<'_>) -> Result<String, SourceError> {
    let text = node.text("\"code\"")?;
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let is_code = text.len() <= MAX_CODE_BYTES && text.contains('.') && text.split('.').all(is_word);
    if RESERVED_CODES.iter().any(|prefix| text.starts_with(prefix)) {
        let fix = "Use a code of your own, such as \"weather.no_such_city\".";
        return Err(node.error(format!("error code {} is reserved for the host", quoted(text)), fix));
    }
    if is_code {
        return Ok(text.to_owned());
    }
    let fix = "Write lower-case words separated by dots, such as \"weather.no_such_city\".";
    Err(node.error(format!("invalid error code {}", quoted(text)), fix))
}

/// Parses the pagination settings.
pub(super) fn pages(node: Option<&Node<'_>>) -> Result<Option<HttpPages>, SourceError> {
    let Some(node) = node else { return Ok(None) };
    node.object("\"pages\"")?;
    node.check_keys(&["items", "next", "parameter", "link", "max"], "list's pages")?;
    let Some(items) = node.get("items") else {
        let fix = "Say where the list is, such as \"/items\", or \"\" for the whole response.";
        return Err(node.error("no \"items\"", fix));
    };
    let next = node.get("next").map(|node| pointer(&node)).transpose()?;
    let next = match (next, node.get_text("parameter")?, node.get_bool("link")?.unwrap_or(false)) {
        (Some(at), Some(parameter), false) if !parameter.is_empty() => {
            HttpNext::Cursor { at, parameter: parameter.to_owned() }
        }
        (Some(at), None, false) => HttpNext::Url(at),
        (None, None, true) => HttpNext::Link,
        _ => {
            let fix = "Give \"next\" with \"parameter\" for a cursor, \"next\" for an address, or \"link\": true for \
                       the header Link.";
            return Err(node.error("no location of the next page", fix));
        }
    };
    let max = match node.get("max") {
        None => PAGES,
        Some(max) => {
            let number = max.value.as_u64().and_then(|number| u32::try_from(number).ok());
            number
                .filter(|number| (1..=MAX_PAGES).contains(number))
                .ok_or_else(|| max.error("invalid number of pages", format!("Write a number from 1 to {MAX_PAGES}.")))?
        }
    };
    Ok(Some(HttpPages { items: pointer(&items)?, next, max }))
}
