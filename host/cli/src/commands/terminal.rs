//! stderr: messages for people, with colour if supported. Everything is [`Shown`]: untrusted text is sanitized before
//! it is printed.

use super::known_secrets;
use agent_spaces::{Cause, ConsoleLevel, Location, RunError, Shown, Usage};
use capability_gen::counted::counted;
use capability_gen::shown;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const YELLOW: &str = "\x1b[33m";
const DIM: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

/// Maximum length of a warning, in characters. The middle is cut: the subject is at the start, the last output of a
/// program at the end.
const MAX_WARNING: usize = 1_000;
/// Maximum length of a name, path or other text within a line, in characters.
const MAX_LINE: usize = 2_000;
/// Maximum length of an error code or error name, in characters.
const MAX_NAME: usize = 128;
/// Maximum length of a message, stack or other text of several lines, in characters: about the scrollback of a
/// terminal.
const MAX_TEXT: usize = 64 << 10;

/// Returns true if stderr is a terminal.
pub(super) fn is_stderr_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Returns true if stdout is a terminal.
pub(super) fn is_stdout_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Prints a warning, whose text may be untrusted.
pub(super) fn warn<Text: AsRef<str> + ?Sized>(message: &Text) {
    // Redacted before it is cut: half a secret would not be found.
    let message = known_secrets::redactor().text(message.as_ref());
    say(shown!("{}warning{}: {}", YELLOW, RESET, shorten_middle(&message, MAX_WARNING)));
}

/// Returns a text on one line, without its middle if it is longer than `longest` characters.
pub(super) fn shorten_middle(text: &str, longest: usize) -> Shown {
    let clean = Shown::line(text, usize::MAX);
    let more = clean.chars().count().saturating_sub(longest);
    if more == 0 {
        return clean;
    }
    let half = longest / 2;
    let both: String = clean.chars().take(half).chain(" … ".chars()).chain(clean.chars().skip(half + more)).collect();
    Shown::line(&both, usize::MAX)
}

/// Prints a console message of a script.
pub(super) fn console(level: ConsoleLevel, text: &str) {
    // The run limits its length.
    let text = Shown::text(text, usize::MAX);
    say(match level {
        ConsoleLevel::Error => shown!("{}{}{}", RED, text, RESET),
        ConsoleLevel::Warn => shown!("{}{}{}", YELLOW, text, RESET),
        ConsoleLevel::Debug => shown!("{}{}{}", DIM, text, RESET),
        _ => text,
    });
}

/// Prints an error with its code frame.
pub(super) fn error(error: &RunError, frame: Option<&str>) {
    say(described(error, frame));
}

fn described(error: &RunError, frame: Option<&str>) -> Shown {
    let name = error.name.as_deref().map(|name| shown!("{}: ", Shown::line(name, MAX_NAME))).unwrap_or_default();
    let (code, message) = (Shown::line(&error.code, MAX_NAME), clean(&error.message));
    let mut text = shown!("{}{}error{}{}[{}]{}: {}{}", BOLD, RED, RESET, BOLD, code, RESET, name, message);
    if let Some(location) = &error.location {
        text.push(shown!("\n  {}-->{} {}", DIM, RESET, place(location)));
    }
    if let Some(function) = error.unnamed_function() {
        text.push(shown!("\n  {}in{} {}", DIM, RESET, clean_line(function)));
    }
    if let Some(frame) = frame {
        text.push(shown!("\n{}", clean(frame.trim_end())));
    }
    if let Some(stack) = error.stack.as_deref().filter(|stack| stack.lines().count() > 1) {
        text.push(shown!("\n{}{}{}", DIM, clean(stack), RESET));
    }
    for Cause { message, location } in &error.causes {
        let at = location.as_ref().map(|location| shown!(" ({})", place(location))).unwrap_or_default();
        text.push(shown!("\n{}caused by{}: {}{}", BOLD, RESET, clean_line(message), at));
    }
    for issue in issues(error) {
        text.push(shown!("\n  - {}", clean_line(&issue)));
    }
    if let Some(hint) = &error.hint {
        text.push(shown!("\n{}hint{}: {}", BOLD, RESET, clean(hint)));
    }
    text
}

fn place(location: &Location) -> Shown {
    shown!("{}:{}:{}", clean_line(&location.file), location.line, location.column)
}

/// Returns the validation issues of a call, if there are more than the one of the message.
fn issues(error: &RunError) -> Vec<String> {
    let listed = error.details.as_ref().and_then(|details| details["issues"].as_array());
    let Some(listed) = listed.filter(|listed| listed.len() > 1) else { return Vec::new() };
    let text = |issue: &serde_json::Value, key: &str| issue[key].as_str().unwrap_or_default().to_owned();
    listed.iter().map(|issue| format!("{}: {}", text(issue, "path"), text(issue, "message"))).collect()
}

/// Prints a hint.
pub(super) fn hint(text: &'static str) {
    say(shown!("{}hint{}: {}", BOLD, RESET, text));
}

/// Prints a note about a side effect.
pub(super) fn note(text: impl Into<Shown>) {
    say(shown!("{}{}{}", DIM, text.into(), RESET));
}

/// Prints a line of the MCP trace.
pub(super) fn trace(line: &Shown) {
    say(shown!("{}{}{}", DIM, line, RESET));
}

/// Prints a question, to be answered on the same line.
pub(super) fn ask(question: &Shown) {
    // A closed stderr is ignored.
    let _ = write!(std::io::stderr(), "{question}");
}

/// Prints the resource usage of a run, if stderr is a terminal.
pub(super) fn usage(usage: &Usage) {
    if is_stderr_terminal() {
        let calls = counted(usage.calls, "call");
        let memory = bytesize::ByteSize(usage.memory_bytes).display().iec_short();
        let millions = usage.fuel as f64 / 1e6;
        let memory = clean_line(&memory.to_string());
        let text = shown!("{:.1} ms, {:.1}M fuel, {}, {}", usage.wall_ms, millions, memory, calls);
        say(shown!("{}{}{}", DIM, text, RESET));
    }
}

/// Lines held back while a prompt is shown; `None` without a prompt.
static HELD: Mutex<Option<Vec<Line>>> = Mutex::new(None);

/// Line of output, by its stream.
enum Line {
    Stderr(Shown),
    Stdout(String),
    /// Part of a document, without a newline.
    Document(String),
}

/// Maximum number of lines held back: a script that keeps printing during a prompt must not exhaust memory.
const MAX_HELD: usize = 10_000;

/// Holds back all output while a prompt is shown, and prints it afterwards: a script must not print text that looks
/// like part of the prompt.
pub(super) fn hold(is_asking: bool) {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if is_asking {
        held.get_or_insert_default();
    } else {
        held.take().unwrap_or_default().into_iter().for_each(Line::write);
    }
}

fn say(text: Shown) {
    Line::Stderr(text).hold_or_write();
}

/// Prints a line of data during a run. On a terminal it waits until a prompt is answered.
pub(super) fn data(line: String) {
    match is_stdout_terminal() {
        true => Line::Stdout(line).hold_or_write(),
        false => Line::Stdout(line).write(),
    }
}

/// Prints a part of a document to stdout as it becomes known: unchanged to a pipe or file, sanitized on a terminal, where
/// it waits until a prompt is answered.
pub(super) fn document(part: String) {
    match is_stdout_terminal() {
        true => Line::Document(part).hold_or_write(),
        false => Line::Document(part).write(),
    }
}

impl Line {
    fn hold_or_write(self) {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *held {
            Some(lines) if lines.len() < MAX_HELD => lines.push(self),
            Some(_) => {}
            None => self.write(),
        }
    }

    fn write(self) {
        match self {
            // A closed stderr is ignored.
            Line::Stderr(text) => drop(writeln!(anstream::stderr(), "{}", known_secrets::redactor().text(&text))),
            Line::Stdout(line) => {
                super::output::print_line(&line);
            }
            Line::Document(part) => {
                super::output::print_document(&part);
            }
        }
    }
}

/// Sanitizes untrusted text of several lines.
pub(super) fn clean(text: &str) -> Shown {
    Shown::text(text, MAX_TEXT)
}

/// Sanitizes untrusted text and keeps it on one line: a name cannot start a line of its own.
pub(super) fn clean_line(text: &str) -> Shown {
    Shown::line(text, MAX_LINE)
}

/// Sanitizes a path, which may contain any characters.
pub(super) fn clean_path(path: &std::path::Path) -> Shown {
    clean_line(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use crate::commands::terminal::*;
    use capability_gen::hidden::is_hidden;

    #[test]
    fn an_error_prints_no_control_characters_and_is_bounded() {
        let hostile = || format!("\x1b[2J\x1b]0;x\x07\r\u{202e}\u{200b}{}", "y".repeat(1 << 20));
        let error = RunError {
            code: hostile(),
            message: hostile(),
            name: Some(hostile()),
            stack: Some(format!("a\n{}", hostile())),
            location: Some(Location { file: hostile(), line: 1, column: 2 }),
            function: Some(hostile()),
            causes: vec![Cause {
                message: hostile(),
                location: Some(Location { file: hostile(), line: 1, column: 2 }),
            }],
            hint: Some(hostile()),
            details: Some(serde_json::json!({ "issues": [{ "path": hostile() }, { "message": hostile() }] })),
            retryable: false,
        };
        let text = described(&error, Some(&hostile()));
        let ours = [BOLD, RED, DIM, RESET].iter().fold(text.to_string(), |text, ours| text.replace(ours, ""));
        assert!(!ours.chars().any(|character| character != '\n' && is_hidden(character)), "{ours:?}");
        assert!(ours.starts_with("error[<U+001B>[2J<U+001B>]0;x<U+0007>"), "{ours:.200}");
        assert!(ours.chars().count() < 5 * MAX_TEXT, "{}", ours.chars().count());
    }
}
