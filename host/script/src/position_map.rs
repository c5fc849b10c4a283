//! Position map from generated code to source.

use super::position::LineIndex;
use agent_spaces_types::position::Position;
use serde::{Deserialize, Serialize};

/// A stretch of the generated code.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Segment {
    pub(super) generated: u32,
    pub(super) original: u32,
    /// True if it is byte for byte as in the source (or blanked); otherwise all of it maps to `original`.
    pub(super) copied: bool,
}

/// Maps positions that the engine reports to positions in the author's source.
///
/// Lines are the same in both texts; columns differ only on lines with an insertion.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PositionMap {
    source: String,
    source_lines: LineIndex,
    code_lines: LineIndex,
    code_length: u32,
    /// Needed to undo the engine's miscount on it.
    first_code_line: String,
    segments: Vec<Segment>,
}

impl PositionMap {
    /// Builds the map. `engine_lines` are offsets in the source of characters after which QuickJS starts a line and an
    /// editor does not.
    pub(super) fn new(
        source: &str,
        source_lines: LineIndex,
        code: &str,
        segments: Vec<Segment>,
        engine_lines: &[u32],
    ) -> Self {
        let starts: Vec<u32> =
            engine_lines.iter().filter_map(|offset| separator_end(source, code, &segments, *offset)).collect();
        Self {
            source: source.to_owned(),
            source_lines,
            code_lines: LineIndex::new(code).with_extra(&starts),
            code_length: code.len() as u32,
            first_code_line: code.lines().next().unwrap_or_default().to_owned(),
            segments,
        }
    }

    /// Maps a position in the generated code to the source.
    ///
    /// `line` and `column` are as quickjs-ng reports them in a stack: 1-based, the column in UTF-8 bytes.
    /// Positions that do not exist are clamped to the nearest one that does.
    pub fn original(&self, line: u32, column: u32) -> Position {
        self.at_offset(self.offset_in_code(line, column))
    }

    /// Returns the offset in the generated code of a position that quickjs-ng reports.
    pub fn offset_in_code(&self, line: u32, column: u32) -> u32 {
        let line = (line as usize).saturating_sub(1);
        let (start, end) = self.code_lines.range(line, self.code_length);
        let mut generated = start.saturating_add(column.saturating_sub(1)).min(end);
        if line == 0 && column > 1 {
            generated = self.after_first_line_slip(generated);
        }
        generated
    }

    /// Maps an offset in the generated code to a position in the source.
    pub fn at_offset(&self, generated: u32) -> Position {
        self.source_lines.position(&self.source, self.offset(generated))
    }

    /// Returns the author's text of a span of the generated code.
    pub fn text_of_code(&self, start: u32, end: u32) -> &str {
        let last = end.max(start + 1) - 1;
        let end = if end > start { self.offset(last) + 1 } else { self.offset(start) };
        self.source.get(self.offset(start) as usize..end as usize).unwrap_or_default()
    }

    /// On its first line quickjs-ng counts most tokens (not all) from 0, so the column it reports may be that of the
    /// character before the token. A reported token begins with a word character or after a blank; if neither is there,
    /// the next character is the right one.
    fn after_first_line_slip(&self, generated: u32) -> u32 {
        let bytes = self.first_code_line.as_bytes();
        let at = generated as usize;
        let slipped = bytes.get(at).is_some_and(|byte| !is_word_byte(*byte)) && at + 1 < bytes.len();
        generated + u32::from(slipped)
    }

    fn offset(&self, generated: u32) -> u32 {
        let next = self.segments.partition_point(|segment| segment.generated <= generated);
        let Some(segment) = next.checked_sub(1).and_then(|at| self.segments.get(at)) else {
            return generated;
        };
        let offset = if segment.copied { segment.original + (generated - segment.generated) } else { segment.original };
        offset.min(self.source.len() as u32)
    }
}

/// Returns where the separator at `offset` in the source ends in the code, unless it was erased.
fn separator_end(source: &str, code: &str, segments: &[Segment], offset: u32) -> Option<u32> {
    let next = segments.partition_point(|segment| segment.original <= offset);
    let moved = segments.get(..next)?.iter().rfind(|segment| segment.copied);
    let generated = moved.map_or(offset, |segment| segment.generated + (offset - segment.original));
    let separator = source.get(offset as usize..)?.chars().next()?;
    code.get(generated as usize..)?.starts_with(separator).then_some(generated + separator.len_utf8() as u32)
}

/// ASCII letters, digits, `_`, `$`, and every byte of a non-ASCII character.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}
