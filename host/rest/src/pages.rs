//! Pages of lists, with opaque cursors.

use crate::problem::Problem;
use crate::query::Query;
use data_encoding::BASE64URL_NOPAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Default and maximum number of items of a page.
const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 100;

/// Longest cursor: ids and a time.
const MAX_CURSOR: usize = 2_048;

/// Reads of the store for one page, and the least number of rows that each of them has: a filter that the store does not
/// have may pass few of many rows.
pub(crate) const MAX_READS: usize = 20;
const MIN_ROWS: usize = 100;

/// One page of a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// Items.
    pub(crate) items: Vec<T>,
    /// Cursor of the next page; missing on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// Order of a list that has two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ListOrder {
    #[default]
    Oldest,
    Newest,
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
                let wrong = || Problem::parameter("cursor", "unknown cursor: use `next` of an earlier page");
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

    /// Starts to read rows for a page; of a list that is filtered here, at least [`MIN_ROWS`] at once.
    pub(crate) fn scan(&self, is_filtered: bool) -> Scan<C>
    where
        C: Clone,
    {
        let wanted = self.read_limit();
        let limit = if is_filtered { wanted.max(MIN_ROWS) } else { wanted };
        Scan { limit, wanted, after: self.after.clone(), reads: 0, is_over: false }
    }

    /// As [`page`](PageRequest::page), for a list whose reading stopped after a position. There may be more behind it,
    /// so that a page without enough items goes on there.
    pub(crate) fn page_until<T, V>(
        &self,
        stopped: Option<C>,
        items: Vec<T>,
        cursor: impl Fn(&T) -> C,
        view: impl FnMut(T) -> V,
    ) -> Page<V>
    where
        C: Serialize,
    {
        let page = self.page(items, cursor, view);
        Page { next: page.next.or_else(|| stopped.as_ref().map(encode)), ..page }
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

/// Reads of the store for one page, of which there are [`MAX_READS`] at most.
pub(crate) struct Scan<C> {
    /// Rows that each read asks for.
    pub(crate) limit: usize,
    /// Items that are enough.
    wanted: usize,
    after: Option<C>,
    reads: usize,
    /// True once there are no more rows.
    is_over: bool,
}

impl<C: Clone> Scan<C> {
    /// Returns the position after which the next read starts, itself `None` for the first row; `None` if no read is
    /// needed with this many items, or may follow.
    pub(crate) fn next_after(&mut self, found: usize) -> Option<Option<C>> {
        if self.is_over || found >= self.wanted || self.reads >= MAX_READS {
            return None;
        }
        self.reads += 1;
        Some(self.after.clone())
    }

    /// Remembers what was read: a number of rows, and the position of the last.
    pub(crate) fn read(&mut self, rows: usize, last: Option<C>) {
        self.is_over = rows < self.limit;
        self.after = last;
    }

    /// Returns the position after which there may be more rows.
    pub(crate) fn stopped(self) -> Option<C> {
        if self.is_over { None } else { self.after }
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
    fn a_page_goes_on_where_reading_stopped() {
        let request = request("limit=2").unwrap();
        let item = |number: i64| (number, format!("id{number}"));
        let page = |items: Vec<(i64, String)>| request.page_until(Some(item(9)), items, Clone::clone, |item| item);
        let empty = page(Vec::new());
        assert_eq!((empty.items.len(), empty.next), (0, Some(super::encode(&item(9)))));
        assert_eq!(page(vec![item(1), item(2)]).next, Some(super::encode(&item(9))));
        // Whatever was read and is not on the page comes again.
        assert_eq!(page(vec![item(1), item(2), item(3)]).next, Some(super::encode(&item(2))));
        let last = request.page_until(None, vec![item(1)], Clone::clone, |item: (i64, String)| item);
        assert_eq!(last.next, None);
    }

    #[test]
    fn reading_stops_with_enough_items_the_last_row_or_too_many_reads() {
        let item = |number: usize| (i64::try_from(number).unwrap(), String::new());
        let request = request("limit=2").unwrap();
        let mut plain = request.scan(false);
        assert_eq!((plain.limit, plain.next_after(0)), (3, Some(None)));
        plain.read(3, Some(item(3)));
        assert_eq!(plain.next_after(3), None, "these are enough");
        assert_eq!((plain.next_after(2), plain.limit), (Some(Some(item(3))), 3), "some were left out");
        plain.read(2, Some(item(5)));
        assert_eq!((plain.next_after(2), plain.stopped()), (None, None), "there are no more");

        let mut filtered = request.scan(true);
        let mut reads = 0;
        while let Some(after) = filtered.next_after(0) {
            assert_eq!(after, (reads > 0).then(|| item(reads)));
            reads += 1;
            filtered.read(filtered.limit, Some(item(reads)));
        }
        assert_eq!((reads, filtered.stopped()), (super::MAX_READS, Some(item(super::MAX_READS))));
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
