//! Errors in a source file, and conversion of offsets to lines and columns.

use crate::definition::Place;
use crate::sources::SourceError;

/// Error at a byte offset, without file and line.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: u32,
    pub(super) message: String,
    pub(super) fix: String,
    /// Place, if already known.
    place: Option<Place>,
    /// True if the code is valid but unsupported, so that a type may become any value instead.
    pub(super) is_unsupported: bool,
}

impl Fault {
    pub(super) fn new(at: u32, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { at, message: message.into(), fix: fix.into(), place: None, is_unsupported: false }
    }

    /// Creates an error for valid but unsupported code.
    pub(super) fn unsupported(at: u32, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { is_unsupported: true, ..Self::new(at, message, fix) }
    }

    /// Creates an error from one whose place is known.
    pub(super) fn placed(error: SourceError) -> Self {
        Self { place: Some(error.place), ..Self::new(0, error.message, error.fix) }
    }

    /// Shifts the error to a file whose offsets start at `base`.
    pub(super) fn moved(self, base: u32) -> Self {
        Self { at: self.at.saturating_add(base), ..self }
    }

    pub(super) fn at_place(self, place: Place) -> SourceError {
        SourceError { place: self.place.unwrap_or(place), message: self.message, fix: self.fix }
    }
}

/// Bytes between two entries of the character index. Bounds the cost of finding a column, also in a file of one long
/// line.
const STRIDE: usize = 1024;

/// Index of line starts.
pub(super) struct Lines<'t> {
    file: &'t str,
    text: &'t str,
    starts: Vec<usize>,
    /// Number of characters before each multiple of [`STRIDE`].
    counts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(super) fn new(file: &'t str, text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        let ends = |at: usize| match bytes.get(at) {
            Some(b'\n') => true,
            Some(b'\r') => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        starts.extend((0..bytes.len()).filter(|at| ends(*at)).map(|at| at + 1));
        let mut count = 0;
        let mut counts = vec![0];
        for chunk in bytes.chunks(STRIDE) {
            count += characters(chunk);
            counts.push(count);
        }
        Self { file, text, starts, counts }
    }

    /// The place of a byte offset: its path is `line:column`, both from 1, columns in characters.
    pub(super) fn place(&self, offset: u32) -> Place {
        let offset = (offset as usize).min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index)).copied().unwrap_or(0);
        let has_mark = start == 0 && offset > 0 && self.text.starts_with('\u{feff}');
        let column = self.characters_before(offset) - self.characters_before(start) + 1 - usize::from(has_mark);
        Place { file: self.file.to_owned(), path: format!("{line}:{column}") }
    }

    /// Length of the text in bytes.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.text.len()).unwrap_or(u32::MAX)
    }

    /// Converts an error of this file, whose offsets start at `base`.
    pub(super) fn error(&self, fault: Fault, base: u32) -> SourceError {
        let place = self.place(fault.at.saturating_sub(base));
        fault.at_place(place)
    }

    fn characters_before(&self, offset: usize) -> usize {
        let chunk = offset / STRIDE;
        let before = self.text.as_bytes().get(chunk * STRIDE..offset).unwrap_or_default();
        self.counts.get(chunk).copied().unwrap_or(0) + characters(before)
    }
}

fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters_and_lines_end_at_any_newline() {
        let text = format!("\u{feff}é x\r\n{}é😀y\rz", "a".repeat(3000));
        let lines = Lines::new("a.ts", &text);
        let at = |needle: char| lines.place(text.find(needle).unwrap() as u32).path;
        assert_eq!(at('x'), "1:3");
        assert_eq!(at('y'), "2:3003");
        assert_eq!(at('z'), "3:1");
        assert_eq!(lines.place(u32::MAX).path, "3:2");
        assert_eq!(Lines::new("a.ts", "").place(0).path, "1:1");
    }
}
