//! Pagination of long texts for a model.

use std::collections::BTreeSet;

/// Maximum length of a page: about five thousand tokens.
pub(super) const PAGE: usize = 20_000;

/// Page of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page<'a> {
    /// Text of the page.
    pub(super) text: &'a str,
    /// Remainder, if this is not the last page.
    pub(super) more: Option<More>,
}

/// Remainder of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct More {
    /// Characters after this page.
    pub(super) characters: usize,
    /// Number of the next page, from one.
    pub(super) next: usize,
}

/// Returns a page of a text by number, from one. It ends at a line end if one is near.
pub(super) fn page(text: &str, number: usize, most: usize) -> Option<Page<'_>> {
    page_breaking_at(text, number, most, &BTreeSet::new())
}

/// As [`page`], ending at one of these offsets if possible: text between two of them is split only if it is longer than
/// a page.
pub(super) fn page_breaking_at<'a>(
    text: &'a str,
    number: usize,
    most: usize,
    breaks: &BTreeSet<usize>,
) -> Option<Page<'a>> {
    let mut begin = 0;
    for current in 1.. {
        let rest = text.get(begin..).unwrap_or_default();
        let (part, after) = split(rest, most, breaks.range(begin + 1..).map(|offset| offset - begin));
        if current == number {
            let more = (!after.is_empty()).then(|| More { characters: after.chars().count(), next: number + 1 });
            return Some(Page { text: part, more });
        }
        if after.is_empty() {
            return None;
        }
        begin += part.len();
    }
    None
}

/// Splits off at most `most` characters. `breaks` are sorted.
fn split(text: &str, most: usize, breaks: impl Iterator<Item = usize>) -> (&str, &str) {
    let Some((end, _)) = text.char_indices().nth(most.max(1)) else { return (text, "") };
    let offset = breaks.take_while(|offset| *offset <= end).last();
    // Prefer a line end if that costs at most a quarter of the page.
    let line = text.get(..end).and_then(|part| part.rfind('\n')).map(|at| at + 1).filter(|line| *line >= end / 4 * 3);
    let end = offset.or(line).filter(|offset| text.is_char_boundary(*offset)).unwrap_or(end);
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::{More, Page, page, page_breaking_at};
    use std::collections::BTreeSet;

    #[test]
    fn pages_together_are_the_whole_text() {
        let text: String = (0..100).map(|line| format!("line {line} ü\n")).collect();
        let mut read = String::new();
        let mut number = 1;
        loop {
            let part = page(&text, number, 100).unwrap();
            assert!(part.text.chars().count() <= 100 && part.text.ends_with('\n'), "{part:?}");
            read.push_str(part.text);
            match part.more {
                Some(More { characters, next }) => {
                    assert_eq!(characters, text.chars().count() - read.chars().count());
                    number = next;
                }
                None => break,
            }
        }
        assert_eq!(read, text);
        assert_eq!(page(&text, number + 1, 100), None);
    }

    #[test]
    fn short_texts_are_one_page_and_long_lines_are_split() {
        assert_eq!(page("short", 1, 100), Some(Page { text: "short", more: None }));
        assert_eq!(page("", 1, 100), Some(Page { text: "", more: None }));
        assert_eq!(page("üüü", 1, 2), Some(Page { text: "üü", more: Some(More { characters: 1, next: 2 }) }));
        assert_eq!(page("x", 0, 2), None);
    }

    #[test]
    fn pages_end_at_the_given_offsets_if_possible() {
        let breaks = BTreeSet::from([4, 8, 30]);
        let text = "one\ntwo\nthree three three three\nend";
        let parts: Vec<&str> =
            (1..).map_while(|number| page_breaking_at(text, number, 10, &breaks)).map(|page| page.text).collect();
        assert_eq!(parts.concat(), text);
        assert_eq!(parts.first(), Some(&"one\ntwo\n"));
    }
}
