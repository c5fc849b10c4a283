//! Lines and columns of a source.

use agent_spaces_types::position::Position;
use serde::{Deserialize, Serialize};

/// Offsets of line starts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    pub(super) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = Vec::with_capacity(bytes.len() / 32 + 1);
        starts.push(0);
        for (at, byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                starts.push(at as u32 + 1);
            }
        }
        Self { starts }
    }

    /// Adds line starts that the rule above does not find.
    pub(super) fn with_extra(mut self, extra: &[u32]) -> Self {
        if !extra.is_empty() {
            self.starts.extend_from_slice(extra);
            self.starts.sort_unstable();
        }
        self
    }

    /// The 0-based line that holds `offset`.
    pub(super) fn line_of(&self, offset: u32) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The nearest 0-based line that exists.
    pub(super) fn clamp(&self, line: usize) -> usize {
        line.min(self.starts.len().saturating_sub(1))
    }

    /// Returns the start of a 0-based line and of the next. Lines past the end are clamped to the last.
    pub(super) fn range(&self, line: usize, length: u32) -> (u32, u32) {
        let line = self.clamp(line);
        let start = self.starts.get(line).copied().unwrap_or(0);
        (start, self.starts.get(line + 1).copied().unwrap_or(length))
    }

    /// Converts a byte offset to a position.
    pub(super) fn position(&self, text: &str, offset: u32) -> Position {
        let line = self.line_of(offset);
        let (start, _) = self.range(line, text.len() as u32);
        let before = text.as_bytes().get(start as usize..offset as usize).unwrap_or_default();
        let mut points = code_points(before);
        if start == 0 && before.starts_with("\u{feff}".as_bytes()) {
            points -= 1;
        }
        Position { line: line as u32 + 1, column: points + 1 }
    }
}

/// Positions of many byte offsets, found in one pass: a source may have a hundred thousand imports on one line.
#[derive(Debug, Default)]
pub(super) struct Positions {
    known: Vec<(u32, Position)>,
}

impl Positions {
    pub(super) fn new(text: &str, lines: &LineIndex, mut offsets: Vec<u32>) -> Self {
        offsets.sort_unstable();
        offsets.dedup();
        let mut known: Vec<(u32, Position)> = Vec::with_capacity(offsets.len());
        for offset in offsets {
            let position = match known.last() {
                Some((before, position)) if lines.line_of(*before) == lines.line_of(offset) => {
                    let between = text.as_bytes().get(*before as usize..offset as usize).unwrap_or_default();
                    Position { column: position.column + code_points(between), ..*position }
                }
                _ => lines.position(text, offset),
            };
            known.push((offset, position));
        }
        Self { known }
    }

    /// The position of one of the offsets.
    pub(super) fn of(&self, offset: u32) -> Position {
        let found = self.known.binary_search_by_key(&offset, |(known, _)| *known);
        found.ok().and_then(|at| self.known.get(at)).map_or(Position { line: 1, column: 1 }, |(_, position)| *position)
    }
}

/// Counts the code points that start in some bytes of UTF-8.
fn code_points(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count() as u32
}

#[cfg(test)]
mod tests {
    use crate::position::*;

    fn at(text: &str, offset: usize) -> (u32, u32) {
        let position = LineIndex::new(text).position(text, offset as u32);
        (position.line, position.column)
    }

    #[test]
    fn lines_end_at_any_newline() {
        let text = "a\nb\r\nc\rd";
        assert_eq!(at(text, 0), (1, 1));
        assert_eq!(at(text, 2), (2, 1));
        assert_eq!(at(text, 5), (3, 1));
        assert_eq!(at(text, 7), (4, 1));
        assert_eq!(at(text, 8), (4, 2));
    }

    #[test]
    fn columns_count_code_points_and_skip_the_byte_order_mark() {
        assert_eq!(at("é😀x", 6), (1, 3));
        assert_eq!(at("\u{feff}x", 3), (1, 1));
        assert_eq!(at("\u{feff}", 0), (1, 1));
        assert_eq!(at("é", 99), (1, 1));
    }

    #[test]
    fn many_offsets_give_the_same_positions_as_one() {
        let text = "\u{feff}é b\nc 😀 d";
        let lines = LineIndex::new(text);
        // No token starts at the byte order mark.
        let offsets: Vec<u32> = text.char_indices().map(|(at, _)| at as u32).skip(1).collect();
        let positions = Positions::new(text, &lines, offsets.iter().rev().copied().collect());
        for offset in offsets {
            assert_eq!(positions.of(offset), lines.position(text, offset));
        }
    }
}
