//! Pages of lists, with opaque cursors.

use crate::problem::Problem;
use crate::query::Query;
use data_encoding::BASE64URL_NOPAD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

/// Default and maximum number of items of a page.
const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 100;

/// Longest cursor: ids and a time.
const MAX_CURSOR: usize = 2_048;

/// One page of a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// Items.
    pub(crate) items: Vec<T>,
    /// Cursor of the next page; missing on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// Part of a list that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageRequest<C> {
    /// Maximum number of items.
    pub(crate) limit: usize,
    /// Position after which the page starts.
    pub(crate) after: Option<C>,
}

impl<C: DeserializeOwned> PageRequest<C> {
    /// Reads `limit` and `cursor`.
    pub(crate) fn read(query: &Query) -> Result<PageRequest<C>, Problem> {
        let limit = query.count("limit", 1, MAX_LIMIT)?.unwrap_or(DEFAULT_LIMIT);
        // An empty one asks for the first page.
        let after = match query.text("cursor")?.filter(|text| !text.is_empty()) {
            None => None,
            Some(text) => {
                let wrong = || Problem::invalid("cursor", "unknown cursor: use `next` of an earlier page");
                let bytes = Some(text)
                    .filter(|text| text.len() <= MAX_CURSOR)
                    .and_then(|text| BASE64URL_NOPAD.decode(text.as_bytes()).ok());
                Some(serde_json::from_slice(&bytes.ok_or_else(wrong)?).map_err(|_| wrong())?)
            }
        };
        Ok(PageRequest { limit, after })
    }
}

impl<C> PageRequest<C> {
    /// Returns the number of items to read: one more shows whether there is another page.
    pub(crate) fn read_limit(&self) -> usize {
        self.limit.saturating_add(1)
    }

    /// Cuts a list of at most [`read_limit`](PageRequest::read_limit) items to a page.
    pub(crate) fn page<T, V>(&self, mut items: Vec<T>, cursor: impl Fn(&T) -> C, view: impl FnMut(T) -> V) -> Page<V>
    where
        C: Serialize,
    {
        let has_more = items.len() > self.limit;
        items.truncate(self.limit);
        let next = items.last().filter(|_| has_more).map(|last| encode(&cursor(last)));
        Page { items: items.into_iter().map(view).collect(), next }
    }
}

/// Encodes a cursor.
pub(crate) fn encode(cursor: &impl Serialize) -> String {
    BASE64URL_NOPAD.encode(&serde_json::to_vec(cursor).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::PageRequest;
    use crate::query::Query;

    fn request(text: &str) -> Result<PageRequest<(i64, String)>, crate::problem::Problem> {
        PageRequest::read(&Query::parse(Some(text), &["limit", "cursor"])?)
    }

    #[test]
    fn pages_follow_one_another_without_gaps() {
        let all: Vec<(i64, String)> = (0..7).map(|number| (number, format!("id{number}"))).collect();
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let request = request(&format!("limit=3{cursor}")).unwrap();
            let rest = all.iter().filter(|item| request.after.as_ref().is_none_or(|after| *item > after));
            let items: Vec<_> = rest.take(request.read_limit()).cloned().collect();
            let page = request.page(items, Clone::clone, |item| item);
            seen.extend(page.items);
            match page.next {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn wrong_limits_and_cursors_are_refused() {
        for text in
            ["limit=0", "limit=101", "limit=x", "limit=-1", "cursor=%F0", "cursor=abc", "limit=1&limit=2", "size=3"]
        {
            assert!(request(text).is_err(), "{text}");
        }
        assert_eq!(request("").unwrap().limit, 20);
    }
}
