//! Pagination: one request per page, all to one origin, within the time and size of one call.

use super::query::Pair;
use super::{Deadline, HttpProvider, Prepared, answer, failure, fill};
use crate::error::ProviderError;
use agent_spaces_std::http::ExactAnswer;
use agent_spaces_types::code::Code;
use capability_gen::implementation::{HttpNext, HttpPages};
use http::header::LINK;
use serde_json::Value;
use std::collections::HashSet;
use url::Url;

/// Longest cursor.
const MAX_CURSOR_BYTES: usize = 8 << 10;

/// Reads the items of all pages.
pub(super) async fn read(
    provider: &HttpProvider,
    request: &Prepared<'_>,
    pages: &HttpPages,
    params: &Value,
    deadline: &Deadline,
) -> Result<Value, ProviderError> {
    let mut items = Vec::new();
    let mut seen = HashSet::new();
    let mut page = Page { url: request.url.clone(), query: request.query.clone() };
    let mut left = provider.max_bytes;
    for _ in 0..pages.max {
        let found = provider.send(request, &page.url, &page.query, deadline).await?;
        failure::check(request.operation, &found, params, &provider.redactor)?;
        left = left.checked_sub(found.body.len() as u64).ok_or_else(|| {
            let most = provider.max_bytes;
            let message = format!("The pages together exceed the maximum of {most} bytes");
            ProviderError::new(Code::CallFailed, message)
        })?;
        if found.body.is_empty() {
            break;
        }
        let mut value = answer::json(&found)?;
        let next = next(&pages.next, &page, &value, &found)?;
        match value.pointer_mut(&pages.items).map(Value::take) {
            Some(Value::Array(more)) => items.extend(more),
            Some(_) => {
                let message = format!("The answer has no list at {:?}", pages.items);
                return Err(answer::unexpected(&found, message));
            }
            None => return Err(answer::missing(&found, &pages.items)),
        }
        let Some((key, next)) = next else { break };
        if !seen.insert(key) {
            return Err(answer::unexpected(&found, "Pagination loop: a page of the answer repeats".to_owned()));
        }
        page = next;
    }
    Ok(Value::Array(items))
}

/// Location of a page.
struct Page {
    url: Url,
    query: Vec<Pair>,
}

/// Returns the next page and its identity, for loop detection.
fn next(
    next: &HttpNext,
    page: &Page,
    value: &Value,
    found: &ExactAnswer,
) -> Result<Option<(String, Page)>, ProviderError> {
    let text = |pointer: &str| value.pointer(pointer).and_then(said);
    let address = match next {
        HttpNext::Cursor { at, parameter } => {
            let Some(cursor) = text(at) else { return Ok(None) };
            if cursor.len() > MAX_CURSOR_BYTES {
                return Err(answer::unexpected(found, "The answer's cursor is too long".to_owned()));
            }
            let mut query: Vec<Pair> = page.query.iter().filter(|pair| &pair.name != parameter).cloned().collect();
            query.push(Pair::new(parameter, &cursor));
            return Ok(Some((cursor, Page { url: page.url.clone(), query })));
        }
        HttpNext::Url(at) => text(at),
        HttpNext::Link => found.headers.get_all(LINK).iter().find_map(|link| next_link(link.to_str().ok()?)),
    };
    let Some(address) = address else { return Ok(None) };
    let unreadable = || answer::unexpected(found, "The URL of the next page is invalid".to_owned());
    // Relative to the URL of the response; its query has the credentials.
    let mut base = found.url.clone();
    base.set_query(None);
    let mut url = base.join(&address).map_err(|_| unreadable())?;
    if url.origin() != page.url.origin() || !url.username().is_empty() || url.password().is_some() {
        let message = "The next page is on another server, which is not allowed";
        return Err(ProviderError::new(Code::CallDenied, message));
    }
    let query = url.query_pairs().map(|(name, value)| Pair::new(&name, &value)).collect();
    let key = url.to_string();
    url.set_query(None);
    url.set_fragment(None);
    Ok(Some((key, Page { url, query })))
}

/// Returns a cursor or URL; null, false and empty mean the end.
fn said(value: &Value) -> Option<String> {
    fill::scalar(value).filter(|text| !text.is_empty() && !value.is_boolean())
}

/// Returns the URL of `rel="next"` in a `Link` header.
fn next_link(header: &str) -> Option<String> {
    let mut rest = header;
    while let Some((_, after)) = rest.split_once('<') {
        let (address, after) = after.split_once('>')?;
        let (parameters, after) = split_unquoted(after, ',');
        if has_next(parameters) {
            return Some(address.to_owned());
        }
        rest = after;
    }
    None
}

/// True if the parameters of a link have `rel="next"`.
fn has_next(mut parameters: &str) -> bool {
    while !parameters.is_empty() {
        let (parameter, after) = split_unquoted(parameters, ';');
        if let Some((name, value)) = parameter.split_once('=') {
            let mut relations = value.trim().trim_matches('"').split_ascii_whitespace();
            let is_next = relations.any(|relation| relation.eq_ignore_ascii_case("next"));
            // Of several only the first counts.
            if name.trim().eq_ignore_ascii_case("rel") {
                return is_next;
            }
        }
        parameters = after;
    }
    false
}

/// Splits at a separator outside of quotation marks.
fn split_unquoted(text: &str, separator: char) -> (&str, &str) {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if character == separator && !is_quoted => {
                let (before, after) = text.split_at(at);
                return (before, after.strip_prefix(separator).unwrap_or_default());
            }
            _ => {}
        }
    }
    (text, "")
}
