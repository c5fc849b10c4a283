//! Normalization of line ends, byte order mark and hashbang, which the engine and editors treat differently.

use oxc_ast::ast::{Comment, Program};

use super::edits::Edits;
use super::tokens::Tokens;

const BYTE_ORDER_MARK: &str = "\u{feff}";
const SEPARATORS: [char; 2] = ['\u{2028}', '\u{2029}'];

/// Normalizes the source by edits; returns the remaining offsets where QuickJS starts a line and an editor does not.
pub(super) fn normalize(program: &Program<'_>, tokens: Tokens<'_>, edits: &mut Edits) -> Vec<u32> {
    let source = program.source_text;
    if source.starts_with(BYTE_ORDER_MARK) {
        edits.blank(0, BYTE_ORDER_MARK.len() as u32);
    }
    if let Some(hashbang) = &program.hashbang {
        edits.replace(hashbang.span.start, hashbang.span.start + 2, "//");
    }
    let blocks: Vec<&Comment> = program.comments.iter().filter(|comment| comment.is_block()).collect();
    for comment in &blocks {
        let text = comment.span.source_text(source);
        for (at, _) in text.match_indices('\r').filter(|(at, _)| !text[at + 1..].starts_with('\n')) {
            // QuickJS does not count a lone carriage return in a comment.
            let start = comment.span.start + at as u32;
            edits.replace(start, start + 1, "\n");
        }
    }
    if !SEPARATORS.iter().any(|separator| source.contains(*separator)) {
        return Vec::new();
    }
    // QuickJS counts U+2028 and U+2029 as line ends, but not inside comments and literals.
    let in_comment = |offset: u32| {
        let next = blocks.partition_point(|comment| comment.span.start <= offset);
        next.checked_sub(1).and_then(|at| blocks.get(at)).is_some_and(|comment| comment.span.end > offset)
    };
    source
        .match_indices(SEPARATORS)
        .map(|(at, _)| at as u32)
        .filter(|offset| !tokens.cover(*offset) && !in_comment(*offset))
        .collect()
}
