//! Stack traces mapped to the author's source: every position is in the author's own text, at the operation that failed
//! rather than at the last position that the engine recorded.

use crate::failure::ProgramSource;
use agent_spaces_sandbox::execution::stack::{Frame, FrameKind, FramePosition, sections};
use agent_spaces_sandbox::program::Program;
use agent_spaces_sandbox::program::source_info::Restored;
use agent_spaces_script::{EngineError, ErrorSites, FailedOperation};
use agent_spaces_secrets::Redactor;
use agent_spaces_types::run_error::{Cause, Location};
use std::collections::HashMap;

/// Maximum files of one stack that are parsed again: the error is in one of the first.
const MAX_FILES: usize = 4;

/// Maps every position of a stack back to the author's own text.
pub(super) fn restore(source: &ProgramSource, program: &Program, stack: &str, class: &str, message: &str) -> Restored {
    let mut sections = sections(stack);
    let frames: Vec<Frame<'_>> = sections.remove(0).1;
    let mut author = Author { source, program, error_sites: HashMap::new() };
    author.read(sections.iter().flat_map(|(_, frames)| frames).chain(&frames));
    let mut restored = Restored {
        function: frames.first().filter(|top| top.kind == FrameKind::Capability).map(|top| top.name.to_owned()),
        ..Restored::default()
    };
    let mut lines = Vec::new();
    // An error is located where it was constructed, not in the constructor of its class.
    let own = author.own_constructors(&frames, EngineError::parse(class, message));
    for (index, frame) in frames.iter().enumerate().skip(own) {
        let above = index.checked_sub(1).and_then(|above| frames.get(above));
        let (shown, location, failed) = author.locate(frame, error_of(above, class, message));
        let is_first = restored.location.is_none() && above.is_none_or(|above| above.kind == FrameKind::Native);
        if let Some(failed) = failed.filter(|_| is_first) {
            restored.message = author.message_with_name(frame, &failed, above.is_none(), message);
        }
        restored.location = restored.location.or(location);
        lines.extend(shown);
    }
    restored.stack = lines.join("\n");
    restored.causes = sections.into_iter().map(|(title, frames)| author.cause(title, &frames)).collect();
    restored
}

/// The error of a frame: in a function that it called, or in the frame itself.
fn error_of<'f>(above: Option<&Frame<'f>>, class: &'f str, message: &'f str) -> Option<EngineError<'f>> {
    match above {
        Some(above) => Some(EngineError::InCallee(above.name)),
        None => EngineError::parse(class, message),
    }
}

/// The author's texts of a program, with the error sites of its code by file.
struct Author<'p> {
    source: &'p ProgramSource,
    program: &'p Program,
    error_sites: HashMap<&'p str, ErrorSites<'p>>,
}

impl<'p> Author<'p> {
    /// Finds the error sites of the first files that these frames name.
    fn read<'s: 'f, 'f>(&mut self, frames: impl Iterator<Item = &'f Frame<'s>>) {
        let mut offsets: Vec<(&'p str, Vec<u32>)> = Vec::new();
        for (_, place, _) in frames.filter_map(|frame| frame.place.as_ref()) {
            let Some((file, offset)) = self.offset(place) else { continue };
            let has_room = offsets.len() < MAX_FILES;
            match offsets.iter_mut().find(|(known, _)| *known == file) {
                Some((_, offsets)) => offsets.push(offset),
                None if has_room => offsets.push((file, vec![offset])),
                None => {}
            }
        }
        for (file, offsets) in offsets {
            let sites = self.program.code_of(file).and_then(|code| ErrorSites::new(code, &offsets));
            self.error_sites.extend(sites.map(|sites| (file, sites)));
        }
    }

    /// The file as the program names it, and the offset in its code.
    fn offset(&self, place: &FramePosition<'_>) -> Option<(&'p str, u32)> {
        let (file, source) = self.source.sources.0.get_key_value(place.file)?;
        Some((file.as_str(), source.positions.offset_in_code(place.line, place.column)))
    }

    /// Returns a frame as it is shown, its location, and the operation that failed there.
    fn locate(
        &self,
        frame: &Frame<'_>,
        error: Option<EngineError<'_>>,
    ) -> (Option<String>, Option<Location>, Option<FailedOperation>) {
        if frame.kind == FrameKind::Native {
            return (None, None, None);
        }
        let found = frame.place.as_ref().and_then(|place| Some((place, self.offset(&place.1)?)));
        let Some(((before, place, after), (file, offset))) = found else {
            return (Some(frame.line.to_owned()), None, None);
        };
        let failed = error.and_then(|error| self.error_sites.get(file)?.failed_operation(offset, error));
        let offset = failed.as_ref().map_or(offset, |failed| failed.offset);
        let source = self.source.sources.0.get(file);
        let Some(position) = source.map(|source| source.positions.at_offset(offset)) else {
            return (Some(frame.line.to_owned()), None, None);
        };
        let location = Location::new(place.file, position);
        let shown = format!("{before}{}:{}:{}{after}", location.file, location.line, location.column);
        (Some(shown), Some(location), failed)
    }

    /// A message that names the value that is no function, or cannot be iterated over.
    fn message_with_name(
        &self,
        frame: &Frame<'_>,
        failed: &FailedOperation,
        is_here: bool,
        message: &str,
    ) -> Option<String> {
        let what = match message {
            "not a function" | "not a constructor" if is_here && failed.is_new => "is not a constructor",
            "not a function" | "not a constructor" => "is not a function",
            "value is not iterable" => "is not iterable",
            _ => return None,
        };
        let source = self.source.sources.0.get(frame.place.as_ref()?.1.file)?;
        let redactor = self.program.sandbox().redactor();
        let text = |(start, end)| shown_expression(source.positions.text_of_code(start, end), redactor);
        let names: Vec<String> = failed.subjects.iter().take(3).map(|subject| text(*subject)).collect();
        let name = Some(names.join(" or ")).filter(|name| !name.is_empty())?;
        Some(if is_here { format!("{name} {what}") } else { format!("an argument of {name} {what}") })
    }

    /// Counts the frames from the top that are constructors of the error itself.
    fn own_constructors(&self, frames: &[Frame<'_>], error: Option<EngineError<'_>>) -> usize {
        if !matches!(error, Some(EngineError::Thrown(_))) {
            return 0;
        }
        let is_own = |frame: &&Frame<'_>| {
            let found = frame.place.as_ref().and_then(|(_, place, _)| self.offset(place));
            found.is_some_and(|(file, offset)| {
                self.error_sites.get(file).is_some_and(|sites| sites.is_own_constructor(offset))
            })
        };
        let own = frames.iter().take_while(is_own).count();
        // At least one frame must have constructed it.
        if own < frames.len() { own } else { 0 }
    }

    fn cause(&self, title: &str, frames: &[Frame<'_>]) -> Cause {
        let (class, message) = title.split_once(": ").unwrap_or_default();
        // One of several has its number before it.
        let class = class.rsplit_once("] ").map_or(class, |(_, class)| class);
        let own = self.own_constructors(frames, EngineError::parse(class, message));
        let location = frames.iter().enumerate().skip(own).find_map(|(index, frame)| {
            let above = index.checked_sub(1).and_then(|above| frames.get(above));
            let error = match error_of(above, class, message) {
                Some(EngineError::Thrown(class)) => Some(EngineError::Cause(class)),
                error => error,
            };
            self.locate(frame, error).1
        });
        Cause { message: title.to_owned(), location }
    }
}

/// The longest expression that is shown in a message, in characters: what fits beside the rest of a line.
const MAX_EXPRESSION: usize = 80;

/// An expression on one line: what is in parentheses is left out, as is the beginning of a long one. Secrets are
/// redacted first: half of one would not be found later.
fn shown_expression(text: &str, redactor: &Redactor) -> String {
    let text = redactor.text(text);
    let mut shown = String::new();
    let mut depth = 0_u32;
    // The quote of a string, and whether the next character is escaped in it.
    let mut string = None;
    let (mut is_escaped, mut is_blank, mut is_empty) = (false, false, true);
    for character in text.chars() {
        if let Some(quote) = string {
            string = Some(quote).filter(|_| is_escaped || character != quote);
            is_escaped = !is_escaped && character == '\\';
        } else if character.is_whitespace() {
            is_blank = true;
            continue;
        } else if matches!(character, '\'' | '"' | '`') {
            string = Some(character);
        } else if character == ')' && depth > 0 {
            depth -= 1;
            if depth == 0 && !is_empty {
                shown.push('…');
            }
        }
        if depth == 0 {
            // Blanks count between words alone: `new Thing`.
            if is_blank && is_word(character) && shown.ends_with(is_word) {
                shown.push(' ');
            }
            shown.push(if character.is_control() { ' ' } else { character });
            is_empty = true;
        } else {
            is_empty = false;
        }
        depth += u32::from(character == '(' && string.is_none());
        is_blank = false;
    }
    let count = shown.chars().count();
    match count > MAX_EXPRESSION {
        true => std::iter::once('…').chain(shown.chars().skip(count - MAX_EXPRESSION)).collect(),
        false => shown,
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::failure::stack::shown_expression;
    use agent_spaces_secrets::{Redactor, Secret};

    #[test]
    fn an_expression_is_shown_on_one_line() {
        let shown_expression = |text: &str| shown_expression(text, &Redactor::default());
        assert_eq!(shown_expression("rows\n  .filter((r) => r.ok(1))\n  .mapp"), "rows.filter(…).mapp");
        assert_eq!(shown_expression("f().g"), "f().g");
        assert_eq!(shown_expression("new  Thing( ).run"), "new Thing().run");
        assert_eq!(shown_expression("o[ 'a (b' ]"), "o['a (b']");
        assert_eq!(shown_expression("o['\\' \n(']"), "o['\\'  (']");
        assert_eq!(shown_expression("f((1), ')').g"), "f(…).g");
        let long = shown_expression(&format!("{}.end", "a".repeat(500)));
        assert!(long.starts_with('…') && long.ends_with(".end") && long.chars().count() == 81, "{long}");
    }

    #[test]
    fn secrets_are_redacted_before_an_expression_is_cut() {
        let secret = "Zq7vK2mX9wR4tB8nL1cY6hJ3pD5sF0gA2eU7iO4k";
        let redactor = Redactor::default();
        redactor.add(&Secret::new(secret));
        let members = "a".repeat(60);
        // Cut at 80 characters, the second half of the secret would be left.
        let shown = shown_expression(&format!("o['{secret}'].{members}"), &redactor);
        assert_eq!(shown, format!("o['[redacted]'].{members}"));
    }
}
