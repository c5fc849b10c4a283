//! The rest of a list: one request to a page, all to one origin, in the time and size of one call.

use super::query::Pair;
use super::{Deadline, HttpProvider, Prepared, answer, failure, fill};
use crate::error::ProviderError;
use agent_spaces_std::http::ExactAnswer;
use capability_gen::implementation::{HttpNext, HttpPages};
use http::header::LINK;
use serde_json::Value;
use std::collections::HashSet;
use url::Url;

/// The longest cursor.
const MAX_CURSOR_BYTES: usize = 8 << 10;

/// The items of all pages.
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
        failure::check(request.operation, &found, params)?;
        left = left.checked_sub(found.body.len() as u64).ok_or_else(|| {
            let most = provider.max_bytes;
            let message = format!("The pages have more than {most} bytes together, the most that may be received");
            ProviderError::new("call.failed", message)
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
            return Err(answer::unexpected(&found, "The pages of the answer lead in a circle".to_owned()));
        }
        page = next;
    }
    Ok(Value::Array(items))
}

/// Where a page is.
struct Page {
    url: Url,
    query: Vec<Pair>,
}

/// The next page, and what tells it apart from others.
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
    let unreadable = || answer::unexpected(found, "The address of the next page cannot be read".to_owned());
    let mut url = page.url.join(&address).map_err(|_| unreadable())?;
    if url.origin() != page.url.origin() || !url.username().is_empty() || url.password().is_some() {
        let message = "The next page is on another server, which is not asked";
        return Err(ProviderError::new("call.denied", message));
    }
    let query = url.query_pairs().map(|(name, value)| Pair::new(&name, &value)).collect();
    let key = url.to_string();
    url.set_query(None);
    url.set_fragment(None);
    Ok(Some((key, Page { url, query })))
}

/// A cursor or address; null, false and nothing say that there is no more.
fn said(value: &Value) -> Option<String> {
    fill::scalar(value).filter(|text| !text.is_empty() && !value.is_boolean())
}

/// The address of `rel="next"` in a header `Link`.
fn next_link(header: &str) -> Option<String> {
    let mut rest = header;
    while let Some((_, after)) = rest.split_once('<') {
        let (address, after) = after.split_once('>')?;
        let (parameters, after) = after
            .split_once(',')
            .map_or((after, ""), |(parameters, _)| (parameters, after.get(parameters.len()..).unwrap_or_default()));
        let is_next = parameters.split(';').filter_map(|parameter| parameter.split_once('=')).any(|(name, value)| {
            let mut relations = value.trim().trim_matches('"').split_ascii_whitespace();
            name.trim().eq_ignore_ascii_case("rel") && relations.any(|relation| relation.eq_ignore_ascii_case("next"))
        });
        if is_next {
            return Some(address.to_owned());
        }
        rest = after;
    }
    None
}
