//! Stacks as the script's author wrote it: every place in the author's own text, where the error is rather than where
//! the engine noted something last.

use crate::error_report::{Cause, Location};
use crate::program::Program;
use crate::script::{Failing, Meant, Told};
use std::collections::HashMap;

/// How many files of one stack are looked at closely: an error is in one of the first.
const MAX_FILES: usize = 4;

/// What begins the line of each cause; the engine writes it.
const CAUSE: &str = "Caused by: ";

/// What stands for the place of a function that the host answers, and of one of the engine.
const CAPABILITY: &str = "(capability)";
const NATIVE: &str = "(native)";

/// What a stack tells.
#[derive(Default)]
pub(super) struct Restored {
    pub(super) stack: String,
    pub(super) location: Option<Location>,
    /// The function of a capability whose call failed.
    pub(super) function: Option<String>,
    pub(super) causes: Vec<Cause>,
    /// The error's message, where more can be said than the engine does.
    pub(super) message: Option<String>,
}

/// A stack with every place mapped back to the author's own text.
pub(super) fn restore(stack: &str, class: &str, message: &str, program: &Program) -> Restored {
    let mut sections = sections(stack);
    let frames: Vec<Frame<'_>> = sections.remove(0).1;
    let mut author = Author { program, told: HashMap::new() };
    author.read(sections.iter().flat_map(|(_, frames)| frames).chain(&frames));
    let mut restored = Restored {
        function: frames.first().filter(|top| top.kind == Kind::Capability).map(|top| top.name.to_owned()),
        ..Restored::default()
    };
    let mut lines = Vec::new();
    // An error is told where it was made, not where its class makes it.
    let own = author.own_constructors(&frames, Failing::of(class, message));
    for (index, frame) in frames.iter().enumerate().skip(own) {
        let above = index.checked_sub(1).and_then(|above| frames.get(above));
        let (shown, location, meant) = author.place(frame, failing(above, class, message));
        let is_first = restored.location.is_none() && above.is_none_or(|above| above.kind == Kind::Native);
        if let Some(meant) = meant.filter(|_| is_first) {
            restored.message = author.named(frame, &meant, above.is_none(), message);
        }
        restored.location = restored.location.or(location);
        lines.extend(shown);
    }
    restored.stack = lines.join("\n");
    restored.causes = sections.into_iter().map(|(title, frames)| author.cause(title, &frames)).collect();
    restored
}

/// What failed in a frame: a function that it called, or something in it.
fn failing<'f>(above: Option<&Frame<'f>>, class: &'f str, message: &'f str) -> Option<Failing<'f>> {
    match above {
        Some(above) => Some(Failing::Inside(above.name)),
        None => Failing::of(class, message),
    }
}

/// The frames of the error, then those of each cause below its title.
fn sections(stack: &str) -> Vec<(&str, Vec<Frame<'_>>)> {
    let mut sections = vec![("", Vec::new())];
    for line in stack.lines() {
        match (line.strip_prefix(CAUSE), sections.last_mut()) {
            (Some(title), _) => sections.push((title, Vec::new())),
            (None, Some((_, frames))) => frames.push(Frame::of(line)),
            (None, None) => {}
        }
    }
    sections
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Of a file of the script.
    Own,
    Capability,
    /// Of the engine: only its name is told.
    Native,
}

/// One line of a stack.
struct Frame<'s> {
    line: &'s str,
    name: &'s str,
    kind: Kind,
    place: Option<(&'s str, Place<'s>, &'s str)>,
}

impl<'s> Frame<'s> {
    fn of(line: &'s str) -> Frame<'s> {
        let kind = match line {
            line if line.ends_with(NATIVE) => Kind::Native,
            line if line.ends_with(CAPABILITY) => Kind::Capability,
            _ => Kind::Own,
        };
        let name = line.trim_start().strip_prefix("at ").unwrap_or_default();
        let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
        Frame { line, name, kind, place: place(line) }
    }
}

struct Place<'a> {
    file: &'a str,
    line: u32,
    column: u32,
}

/// The texts of a program, and what the engine means by places in them.
struct Author<'p> {
    program: &'p Program,
    told: HashMap<&'p str, Told<'p>>,
}

impl<'p> Author<'p> {
    /// Looks at all places of the frames, file by file.
    fn read<'s: 'f, 'f>(&mut self, frames: impl Iterator<Item = &'f Frame<'s>>) {
        let mut offsets: Vec<(&'p str, Vec<u32>)> = Vec::new();
        for (_, place, _) in frames.filter_map(|frame| frame.place.as_ref()) {
            let Some((file, offset)) = self.offset(place) else { continue };
            match offsets.iter_mut().find(|(known, _)| *known == file) {
                Some((_, offsets)) => offsets.push(offset),
                None => offsets.push((file, vec![offset])),
            }
        }
        for (file, offsets) in offsets.into_iter().take(MAX_FILES) {
            let told = self.program.code_of(file).and_then(|code| Told::new(code, &offsets));
            self.told.extend(told.map(|told| (file, told)));
        }
    }

    /// The file as the program names it, and the offset in its code.
    fn offset(&self, place: &Place<'_>) -> Option<(&'p str, u32)> {
        let (file, source) = self.program.sources().0.get_key_value(place.file)?;
        Some((file.as_str(), source.positions.offset_in_code(place.line, place.column)))
    }

    /// A frame as it is shown, where it is, and what failed there.
    fn place(
        &self,
        frame: &Frame<'_>,
        failing: Option<Failing<'_>>,
    ) -> (Option<String>, Option<Location>, Option<Meant>) {
        if frame.kind == Kind::Native {
            return (None, None, None);
        }
        let found = frame.place.as_ref().and_then(|place| Some((place, self.offset(&place.1)?)));
        let Some(((before, place, after), (file, offset))) = found else {
            return (Some(frame.line.to_owned()), None, None);
        };
        let meant = failing.and_then(|failing| self.told.get(file)?.meant(offset, failing));
        let offset = meant.as_ref().map_or(offset, |meant| meant.offset);
        let source = self.program.sources().0.get(file);
        let Some(position) = source.map(|source| source.positions.at_offset(offset)) else {
            return (Some(frame.line.to_owned()), None, None);
        };
        let location = Location::new(place.file, position);
        let shown = format!("{before}{}:{}:{}{after}", location.file, location.line, location.column);
        (Some(shown), Some(location), meant)
    }

    /// A message with the name of what is no function, or cannot be iterated over.
    fn named(&self, frame: &Frame<'_>, meant: &Meant, is_here: bool, message: &str) -> Option<String> {
        let what = match message {
            "not a function" | "not a constructor" if is_here && meant.is_new => "is not a constructor",
            "not a function" | "not a constructor" => "is not a function",
            "value is not iterable" => "is not iterable",
            _ => return None,
        };
        let source = self.program.sources().0.get(frame.place.as_ref()?.1.file)?;
        let text = |(start, end)| shown_expression(source.positions.text_of_code(start, end));
        let names: Vec<String> = meant.subjects.iter().take(3).map(|subject| text(*subject)).collect();
        let name = Some(names.join(" or ")).filter(|name| !name.is_empty())?;
        Some(if is_here { format!("{name} {what}") } else { format!("an argument of {name} {what}") })
    }

    /// How many frames from the top are of constructors of the error itself.
    fn own_constructors(&self, frames: &[Frame<'_>], failing: Option<Failing<'_>>) -> usize {
        if !matches!(failing, Some(Failing::Made(_))) {
            return 0;
        }
        let is_own = |frame: &&Frame<'_>| {
            let told = frame.place.as_ref().and_then(|(_, place, _)| self.offset(place));
            told.is_some_and(|(file, offset)| self.told.get(file).is_some_and(|told| told.is_own_constructor(offset)))
        };
        let own = frames.iter().take_while(is_own).count();
        // Something made it.
        if own < frames.len() { own } else { 0 }
    }

    fn cause(&self, title: &str, frames: &[Frame<'_>]) -> Cause {
        let (class, message) = title.split_once(": ").unwrap_or_default();
        // One of several has its number before it.
        let class = class.rsplit_once("] ").map_or(class, |(_, class)| class);
        let own = self.own_constructors(frames, Failing::of(class, message));
        let location = frames.iter().enumerate().skip(own).find_map(|(index, frame)| {
            let above = index.checked_sub(1).and_then(|above| frames.get(above));
            let failing = match failing(above, class, message) {
                Some(Failing::Made(class)) => Some(Failing::MadeInside(class)),
                failing => failing,
            };
            self.place(frame, failing).1
        });
        Cause { message: title.to_owned(), location }
    }
}

/// The longest expression that is shown in a message, in characters: what fits beside the rest of a line.
const MAX_EXPRESSION: usize = 80;

/// An expression on one line: what is in parentheses is left out, as is the beginning of a long one.
fn shown_expression(text: &str) -> String {
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

/// Finds `file:line:column` in `    at name (file:line:column)` or `    at file:line:column`.
fn place(line: &str) -> Option<(&str, Place<'_>, &str)> {
    let (start, end) = match (line.rfind('('), line.ends_with(')')) {
        (Some(open), true) => (open + 1, line.len() - 1),
        _ => (line.find("at ")? + 3, line.len()),
    };
    let text = line.get(start..end)?;
    let (rest, column) = text.rsplit_once(':')?;
    let (file, row) = rest.rsplit_once(':')?;
    let place = Place { file, line: row.parse().ok()?, column: column.parse().ok()? };
    Some((&line[..start], place, &line[end..]))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{place, shown_expression};

    #[test]
    fn places_are_found_in_both_forms() {
        let (before, found, after) = place("    at f (lib/a.ts:3:14)").unwrap();
        assert_eq!((before, found.file, found.line, found.column, after), ("    at f (", "lib/a.ts", 3, 14, ")"));
        let (_, found, after) = place("    at agent.ts:1:2").unwrap();
        assert_eq!((found.file, found.line, found.column, after), ("agent.ts", 1, 2, ""));
        assert!(place("    at f (native)").is_none());
    }

    #[test]
    fn an_expression_is_shown_on_one_line() {
        assert_eq!(shown_expression("rows\n  .filter((r) => r.ok(1))\n  .mapp"), "rows.filter(…).mapp");
        assert_eq!(shown_expression("f().g"), "f().g");
        assert_eq!(shown_expression("new  Thing( ).run"), "new Thing().run");
        assert_eq!(shown_expression("o[ 'a (b' ]"), "o['a (b']");
        assert_eq!(shown_expression("o['\\' \n(']"), "o['\\'  (']");
        assert_eq!(shown_expression("f((1), ')').g"), "f(…).g");
        let long = shown_expression(&format!("{}.end", "a".repeat(500)));
        assert!(long.starts_with('…') && long.ends_with(".end") && long.chars().count() == 81, "{long}");
    }
}
