//! Talking to a person: on stderr, with colour where it is wanted, free of what could draw on the
//! terminal. Everything that is written here is [`Shown`]; text of others becomes that on its way in.

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

/// The longest warning, in characters: it begins with what it is about, and a program's last words are at its end.
const MAX_WARNING: usize = 1_000;
/// The longest name, file or other text that stands within a line, in characters.
const MAX_LINE: usize = 2_000;
/// The longest code of an error and the longest name of one, in characters.
const MAX_NAME: usize = 128;
/// The longest message, stack or page of others, in characters: a terminal keeps no more.
const MAX_TEXT: usize = 64 << 10;

/// Whether a person reads stderr.
pub(super) fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

/// Whether a person reads stdout.
pub(super) fn is_printed() -> bool {
    std::io::stdout().is_terminal()
}

/// What somebody should know, whoever's words it is in.
pub(super) fn warn<Text: AsRef<str> + ?Sized>(message: &Text) {
    // Before it is cut: half a secret would no longer be found.
    let message = known_secrets::redactor().text(message.as_ref());
    say(shown!("{}warning{}: {}", YELLOW, RESET, cut_within(&message, MAX_WARNING)));
}

/// A text on one line, without its middle where it is longer than so many characters: what a program wrote last says most.
pub(super) fn cut_within(text: &str, longest: usize) -> Shown {
    let clean = Shown::line(text, usize::MAX);
    let more = clean.chars().count().saturating_sub(longest);
    if more == 0 {
        return clean;
    }
    let half = longest / 2;
    let both: String = clean.chars().take(half).chain(" … ".chars()).chain(clean.chars().skip(half + more)).collect();
    Shown::line(&both, usize::MAX)
}

/// One console message of a script.
pub(super) fn console(level: ConsoleLevel, text: &str) {
    // Its length is a cap of the run.
    let text = Shown::text(text, usize::MAX);
    say(match level {
        ConsoleLevel::Error => shown!("{}{}{}", RED, text, RESET),
        ConsoleLevel::Warn => shown!("{}{}{}", YELLOW, text, RESET),
        ConsoleLevel::Debug => shown!("{}{}{}", DIM, text, RESET),
        _ => text,
    });
}

/// Why there is no value, with the lines around the place.
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

/// What was wrong with a call, where it was more than the message says.
fn issues(error: &RunError) -> Vec<String> {
    let listed = error.details.as_ref().and_then(|details| details["issues"].as_array());
    let Some(listed) = listed.filter(|listed| listed.len() > 1) else { return Vec::new() };
    let text = |issue: &serde_json::Value, key: &str| issue[key].as_str().unwrap_or_default().to_owned();
    listed.iter().map(|issue| format!("{}: {}", text(issue, "path"), text(issue, "message"))).collect()
}

/// What a person may do about it.
pub(super) fn hint(text: &'static str) {
    say(shown!("{}hint{}: {}", BOLD, RESET, text));
}

/// What a command did besides what it was asked for.
pub(super) fn note(text: impl Into<Shown>) {
    say(shown!("{}{}{}", DIM, text.into(), RESET));
}

/// A line of the trace of MCP.
pub(super) fn trace(line: &Shown) {
    say(shown!("{}{}{}", DIM, line, RESET));
}

/// A question that is answered on the same line.
pub(super) fn ask(question: &Shown) {
    // A closed stderr is nobody's error.
    let _ = write!(std::io::stderr(), "{question}");
}

/// What a run used, for a person who watches.
pub(super) fn usage(usage: &Usage) {
    if is_watched() {
        let calls = counted(usage.calls, "call");
        let memory = bytesize::ByteSize(usage.memory_bytes).display().iec_short();
        let millions = usage.fuel as f64 / 1e6;
        let memory = clean_line(&memory.to_string());
        let text = shown!("{:.1} ms, {:.1}M fuel, {}, {}", usage.wall_ms, millions, memory, calls);
        say(shown!("{}{}{}", DIM, text, RESET));
    }
}

/// What is to be said once a prompt has gone; nothing is held back while there is none.
static HELD: Mutex<Option<Vec<Said>>> = Mutex::new(None);

/// A line, and where it goes.
enum Said {
    Talk(Shown),
    Data(String),
}

/// How many lines are held back: a script that prints on and on while a person reads must not fill the memory.
const MAX_HELD: usize = 10_000;

/// Holds back everything that is said, until it is let go: a script's output must not stand beside a prompt, as if it
/// were part of it.
pub(super) fn hold(is_asking: bool) {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if is_asking {
        held.get_or_insert_default();
    } else {
        held.take().unwrap_or_default().into_iter().for_each(Said::write);
    }
}

fn say(text: Shown) {
    Said::Talk(text).hold_or_write();
}

/// A line of data that comes while the script runs. Where a person reads it, it waits for a prompt to go.
pub(super) fn data(line: String) {
    match is_printed() {
        true => Said::Data(line).hold_or_write(),
        false => Said::Data(line).write(),
    }
}

impl Said {
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
            // A closed stderr is nobody's error.
            Said::Talk(text) => drop(writeln!(anstream::stderr(), "{}", known_secrets::redactor().text(&text))),
            Said::Data(line) => {
                super::output::print_line(&line);
            }
        }
    }
}

/// Text of others over several lines.
pub(super) fn clean(text: &str) -> Shown {
    Shown::text(text, MAX_TEXT)
}

/// Text of others on one line: a name cannot begin a line of its own.
pub(super) fn clean_line(text: &str) -> Shown {
    Shown::line(text, MAX_LINE)
}

/// A path of a file, which may be of any characters.
pub(super) fn clean_path(path: &std::path::Path) -> Shown {
    clean_line(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use capability_gen::hidden::is_hidden;

    #[test]
    fn nothing_of_an_error_draws_on_the_terminal_or_fills_it() {
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
