//! Parser of the engine's stack traces.

use crate::program::source_info::Restored;
use agent_spaces_types::run_error::{Cause, MAX_CAUSES};

/// Prefix of a cause's line in the engine's format.
const CAUSE: &str = "Caused by: ";

/// Position of a capability function in the engine's format.
const CAPABILITY: &str = "(capability)";
/// Position of an engine function in the engine's format.
const NATIVE: &str = "(native)";

/// Parses a stack into sections: the frames of the error, then the title and frames of each cause. Causes beyond
/// [`MAX_CAUSES`] are not read: a hostile guest may send any number of them.
pub fn sections(stack: &str) -> Vec<(&str, Vec<Frame<'_>>)> {
    let mut sections = vec![("", Vec::new())];
    for line in stack.lines() {
        if let Some(title) = line.strip_prefix(CAUSE) {
            // The first section is the error's own.
            if sections.len() > MAX_CAUSES {
                break;
            }
            sections.push((title, Vec::new()));
        } else if let Some((_, frames)) = sections.last_mut() {
            frames.push(Frame::of(line));
        }
    }
    sections
}

/// Owner of a frame's function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A file of the script.
    Own,
    /// A capability.
    Capability,
    /// The engine; the frame has a name only.
    Native,
}

/// Stack frame.
pub struct Frame<'s> {
    /// Line in the engine's format.
    pub line: &'s str,
    /// Function name.
    pub name: &'s str,
    /// Owner of the function.
    pub kind: FrameKind,
    /// Position, with the text before and after it.
    pub place: Option<(&'s str, FramePosition<'s>, &'s str)>,
}

impl<'s> Frame<'s> {
    fn of(line: &'s str) -> Frame<'s> {
        let kind = match line {
            line if line.ends_with(NATIVE) => FrameKind::Native,
            line if line.ends_with(CAPABILITY) => FrameKind::Capability,
            _ => FrameKind::Own,
        };
        let name = line.trim_start().strip_prefix("at ").unwrap_or_default();
        let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
        Frame { line, name, kind, place: parse_position(line) }
    }
}

/// Position of a stack frame.
pub struct FramePosition<'a> {
    /// File name in the engine.
    pub file: &'a str,
    /// Line, 1-based.
    pub line: u32,
    /// Column, 1-based.
    pub column: u32,
}

/// Finds `file:line:column` in `    at name (file:line:column)` or `    at file:line:column`.
fn parse_position(line: &str) -> Option<(&str, FramePosition<'_>, &str)> {
    let (start, end) = match (line.rfind('('), line.ends_with(')')) {
        (Some(open), true) => (open + 1, line.len() - 1),
        _ => (line.find("at ")? + 3, line.len()),
    };
    let text = line.get(start..end)?;
    let (rest, column) = text.rsplit_once(':')?;
    let (file, row) = rest.rsplit_once(':')?;
    let position = FramePosition { file, line: row.parse().ok()?, column: column.parse().ok()? };
    Some((&line[..start], position, &line[end..]))
}

/// Converts a stack without source information: positions are those in the executed JavaScript.
pub(super) fn unmapped(stack: &str) -> Restored {
    let mut sections = sections(stack);
    let frames = sections.remove(0).1;
    let own = |frame: &&Frame<'_>| frame.kind != FrameKind::Native;
    let lines: Vec<&str> = frames.iter().filter(own).map(|frame| frame.line).collect();
    let cause = |(title, _): (&str, Vec<Frame<'_>>)| Cause { message: title.to_owned(), location: None };
    Restored {
        stack: lines.join("\n"),
        function: frames.first().filter(|top| top.kind == FrameKind::Capability).map(|top| top.name.to_owned()),
        causes: sections.into_iter().map(cause).collect(),
        ..Restored::default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{MAX_CAUSES, parse_position, sections};

    #[test]
    fn positions_are_parsed_in_both_forms() {
        let (before, found, after) = parse_position("    at f (lib/a.ts:3:14)").unwrap();
        assert_eq!((before, found.file, found.line, found.column, after), ("    at f (", "lib/a.ts", 3, 14, ")"));
        let (_, found, after) = parse_position("    at agent.ts:1:2").unwrap();
        assert_eq!((found.file, found.line, found.column, after), ("agent.ts", 1, 2, ""));
        assert!(parse_position("    at f (native)").is_none());
    }

    #[test]
    fn causes_beyond_the_bound_are_not_read() {
        let causes: String = (0..5_000).map(|number| format!("Caused by: {number}\n    at f (a.ts:1:2)\n")).collect();
        let stack = format!("    at g (a.ts:3:4)\n{causes}");
        let sections = sections(&stack);
        let shapes: Vec<_> = sections.iter().map(|(title, frames)| (*title, frames.len())).collect();
        assert_eq!((shapes.len(), shapes[0], shapes[MAX_CAUSES]), (MAX_CAUSES + 1, ("", 1), ("15", 1)));
    }
}
