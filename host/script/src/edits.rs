//! Text edits from a source to its generated code, applied in one pass.

use std::borrow::Cow;

use super::position_map::Segment;

/// New text for a range of the source.
#[derive(Debug)]
enum Change {
    /// Spaces, with newlines kept; the first and the last byte may become something else.
    Blank {
        first: u8,
        last: u8,
    },
    Text(Cow<'static, str>),
    /// The literal of a resolved import, by the index of its site.
    Specifier(usize),
}

#[derive(Debug)]
struct Edit {
    start: u32,
    end: u32,
    change: Change,
}

/// Edits of one source, in any order; those at one offset apply in the order they were added.
#[derive(Debug, Default)]
pub(super) struct Edits {
    list: Vec<Edit>,
}

impl Edits {
    /// Blanks a range.
    pub(super) fn blank(&mut self, start: u32, end: u32) {
        self.blank_but(start, end, b' ', b' ');
    }

    /// Blanks a range and starts it with `first`: a semicolon where the erased text separated two statements.
    pub(super) fn blank_from(&mut self, start: u32, end: u32, first: u8) {
        self.blank_but(start, end, first, b' ');
    }

    /// Blanks a range and ends it with `last`.
    pub(super) fn blank_to(&mut self, start: u32, end: u32, last: u8) {
        self.blank_but(start, end, b' ', last);
    }

    fn blank_but(&mut self, start: u32, end: u32, first: u8, last: u8) {
        if start < end {
            self.list.push(Edit { start, end, change: Change::Blank { first, last } });
        }
    }

    /// Inserts text before the byte at `at`.
    pub(super) fn insert(&mut self, at: u32, text: impl Into<Cow<'static, str>>) {
        self.replace(at, at, text);
    }

    /// Replaces a range by text; neither has a newline.
    pub(super) fn replace(&mut self, start: u32, end: u32, text: impl Into<Cow<'static, str>>) {
        self.list.push(Edit { start, end, change: Change::Text(text.into()) });
    }

    /// Replaces a range by a resolved import's literal.
    pub(super) fn specifier(&mut self, start: u32, end: u32, site: usize) {
        self.list.push(Edit { start, end, change: Change::Specifier(site) });
    }

    /// Applies the edits; returns the generated code and the segments that moved.
    pub(super) fn apply(mut self, source: &str, specifiers: &[String]) -> (String, Vec<Segment>) {
        // Stable, so insertions keep their order; an insertion comes before what replaces the text after it.
        self.list.sort_by_key(|edit| (edit.start, edit.start != edit.end));
        let mut writer = Writer { source, code: Vec::with_capacity(source.len() + 256), read: 0, segments: Vec::new() };
        for edit in &self.list {
            match &edit.change {
                Change::Blank { first, last } => writer.blank(edit.start, edit.end, *first, *last),
                Change::Text(text) => writer.text(edit.start, edit.end, text),
                Change::Specifier(site) => {
                    writer.text(edit.start, edit.end, specifiers.get(*site).map_or("\"\"", String::as_str));
                }
            }
        }
        writer.copy_to(source.len() as u32);
        (String::from_utf8(writer.code).unwrap_or_default(), writer.segments)
    }
}

struct Writer<'s> {
    source: &'s str,
    code: Vec<u8>,
    /// Bytes of the source that are already written or skipped.
    read: u32,
    segments: Vec<Segment>,
}

impl Writer<'_> {
    fn copy_to(&mut self, end: u32) {
        if let Some(bytes) = self.source.as_bytes().get(self.read as usize..end as usize) {
            self.code.extend_from_slice(bytes);
            self.read = end;
        }
    }

    fn blank(&mut self, start: u32, end: u32, first: u8, last: u8) {
        self.copy_to(start);
        let from = self.code.len();
        let bytes = self.source.as_bytes().get(self.read as usize..end as usize).unwrap_or_default();
        self.code.extend(bytes.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { *byte } else { b' ' }));
        // An edit that overlaps an earlier one has lost its first byte, and needs no mark.
        if first != b' '
            && self.read == start
            && let Some(byte) = self.code.get_mut(from)
        {
            *byte = first;
        }
        if last != b' '
            && self.code.len() > from
            && let Some(byte) = self.code.last_mut()
        {
            *byte = last;
        }
        self.read = self.read.max(end);
    }

    fn text(&mut self, start: u32, end: u32, text: &str) {
        self.copy_to(start);
        let moved = text.len() != end.saturating_sub(self.read.max(start)) as usize;
        if moved {
            self.segments.push(Segment { generated: self.code.len() as u32, original: start, copied: false });
        }
        self.code.extend_from_slice(text.as_bytes());
        self.read = self.read.max(end);
        if moved {
            self.segments.push(Segment { generated: self.code.len() as u32, original: self.read, copied: true });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::edits::*;

    #[test]
    fn blanks_keep_bytes_and_newlines() {
        let source = "a é\r\nb c";
        let mut edits = Edits::default();
        edits.blank_from(2, 7, b';');
        let (code, segments) = edits.apply(source, &[]);
        assert_eq!(code, "a ; \r\n  c");
        assert_eq!(code.len(), source.len());
        assert!(segments.is_empty());
    }

    #[test]
    fn insertions_at_one_offset_keep_their_order_and_move_what_follows() {
        let mut edits = Edits::default();
        edits.insert(1, "1");
        edits.replace(1, 2, "xyz");
        edits.insert(1, "2");
        let (code, segments) = edits.apply("abc", &[]);
        assert_eq!(code, "a12xyzc");
        assert_eq!(segments.last().map(|last| (last.generated, last.original)), Some((6, 2)));
    }

    #[test]
    fn overlapping_blanks_write_each_byte_once() {
        let mut edits = Edits::default();
        edits.blank(1, 4);
        edits.blank_from(2, 6, b';');
        assert_eq!(edits.apply("abcdefg", &[]).0, "a     g");
    }
}
