//! Answers that are cut to what a model can read, and taken up again where they were cut.

use std::collections::BTreeSet;

/// Most characters of one answer: about five thousand tokens.
pub(super) const PAGE: usize = 20_000;

/// A part of a text, and what to say of the rest.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page<'a> {
    /// The part.
    pub(super) text: &'a str,
    /// What is left, where this is not all of it.
    pub(super) more: Option<More>,
}

/// What is left of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct More {
    /// Characters after this part.
    pub(super) characters: usize,
    /// The number of the next part, from one.
    pub(super) next: usize,
}

/// The part of a text with this number, from one. It ends at the end of a line where one is near.
pub(super) fn page(text: &str, number: usize, most: usize) -> Option<Page<'_>> {
    page_between(text, number, most, &BTreeSet::new())
}

/// The same, ending at one of these places where there is one: what stands between two of them is not cut in two unless it
/// is longer than a part.
pub(super) fn page_between<'a>(
    text: &'a str,
    number: usize,
    most: usize,
    places: &BTreeSet<usize>,
) -> Option<Page<'a>> {
    let mut begin = 0;
    for current in 1.. {
        let rest = text.get(begin..).unwrap_or_default();
        let (part, after) = split(rest, most, places.range(begin + 1..).map(|place| place - begin));
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

/// The beginning of a text, of at most so many characters, and the rest. The places are in order.
fn split(text: &str, most: usize, places: impl Iterator<Item = usize>) -> (&str, &str) {
    let Some((end, _)) = text.char_indices().nth(most.max(1)) else { return (text, "") };
    let place = places.take_while(|place| *place <= end).last();
    // A line is not cut in two where that costs no more than a quarter of the part.
    let line = text.get(..end).and_then(|part| part.rfind('\n')).map(|at| at + 1).filter(|line| *line >= end / 4 * 3);
    let end = place.or(line).filter(|place| text.is_char_boundary(*place)).unwrap_or(end);
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::{More, Page, page, page_between};
    use std::collections::BTreeSet;

    #[test]
    fn a_text_is_read_part_by_part_and_nothing_is_lost() {
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
    fn what_is_short_is_whole_and_what_has_no_lines_is_cut_anywhere() {
        assert_eq!(page("short", 1, 100), Some(Page { text: "short", more: None }));
        assert_eq!(page("", 1, 100), Some(Page { text: "", more: None }));
        assert_eq!(page("üüü", 1, 2), Some(Page { text: "üü", more: Some(More { characters: 1, next: 2 }) }));
        assert_eq!(page("x", 0, 2), None);
    }

    #[test]
    fn what_belongs_together_stays_together_where_it_fits() {
        let places = BTreeSet::from([4, 8, 30]);
        let text = "one\ntwo\nthree three three three\nend";
        let parts: Vec<&str> =
            (1..).map_while(|number| page_between(text, number, 10, &places)).map(|page| page.text).collect();
        assert_eq!(parts.concat(), text);
        assert_eq!(parts.first(), Some(&"one\ntwo\n"));
    }
}
