//! Code frames: a position in a source, shown on a terminal.

use super::position::LineIndex;
use agent_spaces_types::hidden::is_hidden;
use agent_spaces_types::position::Position;
use agent_spaces_types::shown::mark;

/// Lines shown before and after the one in question.
const CONTEXT: usize = 2;
/// Width of a shown line, in terminal cells; a line number and a bar still fit beside it on 100 columns.
const WIDTH: usize = 90;
/// Cells of a cut line that are shown before the position.
const LEAD: usize = 30;
/// Replacement of a tab: source is often indented by tabs, and a caret cannot follow tab stops.
const TAB: &str = "    ";

/// Renders the lines around a position, with line numbers and a caret under it, followed by `label` if there is one.
///
/// Control, bidi and zero-width characters are written as `<U+202E>`, so that a source cannot control the terminal or
/// display code that differs from its content. A position outside of the source gives the nearest line.
pub fn code_frame(source: &str, position: Position, label: Option<&str>) -> String {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let lines = LineIndex::new(source);
    let length = source.len() as u32;
    let target = lines.clamp((position.line as usize).saturating_sub(1));
    let first = target.saturating_sub(CONTEXT);
    let last = lines.clamp(target + CONTEXT);
    let number_width = (last + 1).to_string().len();

    let text = |line: usize| {
        let (start, end) = lines.range(line, length);
        source.get(start as usize..end as usize).unwrap_or_default().trim_end_matches(['\n', '\r'])
    };
    // One window for all lines keeps them aligned. Lines that end before it are shown from their beginning, because
    // they would look empty otherwise.
    let shown = Shown::new(text(target), Some((position.column as usize).saturating_sub(1)));
    let window = Window::around(&shown);
    let mut frame = String::new();
    for line in first..=last {
        let mark = if line == target { '>' } else { ' ' };
        let context = Shown::new(text(line), None);
        let content =
            if context.cells() <= window.start { Window { start: 0 }.cut(&context) } else { window.cut(&context) };
        frame.push_str(format!("{mark} {:>number_width$} | {content}", line + 1).trim_end());
        frame.push('\n');
        if line == target {
            let pad = " ".repeat(window.column(shown.caret));
            let carets = "^".repeat(shown.caret_width.clamp(1, WIDTH));
            let label = label.map(|label| format!(" {}", Shown::new(label, None).text())).unwrap_or_default();
            frame.push_str(format!("  {:number_width$} | {pad}{carets}{label}", "").trim_end());
            frame.push('\n');
        }
    }
    frame
}

/// A line as it appears: pieces with their width in cells.
struct Shown {
    pieces: Vec<(String, usize)>,
    /// The cell the caret points at, and the width of the character there.
    caret: usize,
    caret_width: usize,
}

impl Shown {
    fn new(line: &str, caret_at: Option<usize>) -> Self {
        let mut shown = Self { pieces: Vec::new(), caret: 0, caret_width: 1 };
        let mut cells = 0;
        for (index, character) in line.chars().enumerate() {
            let (text, width) = piece(character);
            if caret_at == Some(index) {
                (shown.caret, shown.caret_width) = (cells, width);
            }
            cells += width;
            shown.pieces.push((text, width));
        }
        if caret_at.is_some_and(|at| at >= shown.pieces.len()) {
            shown.caret = cells;
        }
        shown
    }

    fn cells(&self) -> usize {
        self.pieces.iter().map(|(_, width)| width).sum()
    }

    fn text(&self) -> String {
        self.pieces.iter().map(|(text, _)| text.as_str()).collect()
    }
}

/// The cells that are shown of every line.
struct Window {
    start: usize,
}

impl Window {
    fn around(shown: &Shown) -> Self {
        let start = if shown.caret + shown.caret_width <= WIDTH { 0 } else { shown.caret.saturating_sub(LEAD) };
        Self { start }
    }

    /// The column of a cell, counted from the left edge of the window.
    fn column(&self, cell: usize) -> usize {
        let dots = usize::from(self.start > 0);
        (cell + dots).saturating_sub(self.start)
    }

    fn cut(&self, line: &Shown) -> String {
        let mut out = String::new();
        let end = self.start + WIDTH;
        let mut cell = 0;
        for (text, width) in &line.pieces {
            if cell >= self.start {
                if cell + width > end {
                    out.push('…');
                    break;
                }
                if out.is_empty() && self.start > 0 {
                    // A wide character may straddle the edge.
                    out.push('…');
                    out.push_str(&" ".repeat(cell - self.start));
                }
                out.push_str(text);
            }
            cell += width;
        }
        out
    }
}

/// Returns a character as it is shown, and its width in cells.
fn piece(character: char) -> (String, usize) {
    match character {
        '\t' => (TAB.to_owned(), TAB.len()),
        hidden if is_hidden(hidden) => {
            let text = mark(hidden);
            let width = text.len();
            (text, width)
        }
        other => (other.to_string(), width(other)),
    }
}

/// Cells of a visible character: two for East Asian wide ones and emoji, none for combining marks.
fn width(character: char) -> usize {
    match u32::from(character) {
        0x0300..=0x036F
        | 0x0483..=0x0489
        | 0x0591..=0x05BD
        | 0x0610..=0x061A
        | 0x064B..=0x065F
        | 0x1AB0..=0x1AFF
        | 0x1DC0..=0x1DFF
        | 0x20D0..=0x20FF
        | 0xFE20..=0xFE2F => 0,
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0x33FF
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xA000..=0xA4CF
        | 0xA960..=0xA97F
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1F64F
        | 0x1F680..=0x1F6FF
        | 0x1F900..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use crate::frame::*;

    fn frame(source: &str, line: u32, column: u32) -> String {
        code_frame(source, Position { line, column }, None)
    }

    #[test]
    fn two_lines_around_and_a_caret_under_the_position() {
        let source = "one\ntwo\nthree\nfour\nfive\nsix";
        assert_eq!(
            code_frame(source, Position { line: 4, column: 2 }, Some("here")),
            "  2 | two\n  3 | three\n> 4 | four\n    |  ^ here\n  5 | five\n  6 | six\n"
        );
    }

    #[test]
    fn tabs_wide_and_combining_characters_keep_the_caret_in_place() {
        assert_eq!(frame("\tx", 1, 2), "> 1 |     x\n    |     ^\n");
        assert_eq!(frame("日本x", 1, 3), "> 1 | 日本x\n    |     ^\n");
        assert_eq!(frame("日本x", 1, 2), "> 1 | 日本x\n    |   ^^\n");
        assert_eq!(frame("e\u{301}x", 1, 3), "> 1 | e\u{301}x\n    |  ^\n");
    }

    #[test]
    fn nothing_in_a_source_acts_on_the_terminal() {
        let shown = frame("a\u{1b}[31m\u{202e}b\u{200b}\0", 1, 2);
        assert!(shown.contains("a<U+001B>[31m<U+202E>b<U+200B><U+0000>"), "{shown}");
        assert!(shown.contains("|  ^^^^^^^^\n"), "{shown}");
        assert!(!shown.chars().any(|c| c != '\n' && c.is_control()));
    }

    #[test]
    fn long_lines_are_cut_on_both_sides() {
        let source = format!("{}HERE{}", "a".repeat(500), "b".repeat(500));
        let shown = frame(&source, 1, 501);
        let mut lines = shown.lines();
        let (code, caret) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        assert!(code.chars().count() < 105, "{code}");
        let at = caret.find('^').unwrap_or_default();
        assert_eq!(code.chars().skip(at).take(4).collect::<String>(), "HERE");
        assert!(code.contains('…') && code.ends_with('…'));
    }

    #[test]
    fn short_lines_beside_a_cut_one_are_shown() {
        let source = format!("short\n{}HERE\n{}", "a".repeat(500), "b".repeat(100));
        let shown = frame(&source, 2, 501);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "  1 | short");
        assert!(lines[1].contains("…aaa") && lines[3].starts_with("  3 | bbb") && lines[3].ends_with('…'), "{shown}");
    }

    #[test]
    fn positions_outside_of_the_source_give_the_nearest_line() {
        assert_eq!(frame("", 9, 9), "> 1 |\n    | ^\n");
        assert_eq!(frame("ab", 0, 0), "> 1 | ab\n    | ^\n");
        assert_eq!(frame("ab\n", 1, 99), "> 1 | ab\n    |   ^\n  2 |\n");
    }
}
