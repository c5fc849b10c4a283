//! Talking to a person: on stderr, with colour where it is wanted, free of what could draw on the
//! terminal.

use super::shown;
use agent_spaces::{ConsoleLevel, RunError, Usage};
use capability_gen::hidden::is_hidden;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const YELLOW: &str = "\x1b[33m";
const DIM: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

/// Whether a person reads stderr.
pub(super) fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

/// Whether a person reads stdout.
pub(super) fn is_printed() -> bool {
    std::io::stdout().is_terminal()
}

pub(super) fn warn(message: &str) {
    /// A stranger's text may be of any length; what matters is in the beginning.
    const MAX_LENGTH: usize = 600;
    // Before it is cut: half a secret would no longer be found.
    let mut message = clean_line(&shown::redactor().text(message));
    if message.chars().count() > MAX_LENGTH {
        message = message.chars().take(MAX_LENGTH).chain(['…']).collect();
    }
    say(&format!("{YELLOW}warning{RESET}: {message}"));
}

/// One console message of a script.
pub(super) fn console(level: ConsoleLevel, text: &str) {
    let text = clean(text);
    say(&match level {
        ConsoleLevel::Error => format!("{RED}{text}{RESET}"),
        ConsoleLevel::Warn => format!("{YELLOW}{text}{RESET}"),
        ConsoleLevel::Debug => format!("{DIM}{text}{RESET}"),
        _ => text,
    });
}

/// Why there is no value, with the lines around the place.
pub(super) fn error(error: &RunError, frame: Option<&str>) {
    let name = error.name.as_deref().map(|name| format!("{name}: ")).unwrap_or_default();
    let mut text =
        format!("{BOLD}{RED}error{RESET}{BOLD}[{}]{RESET}: {}", error.code, clean(&format!("{name}{}", error.message)));
    if let Some(location) = &error.location {
        let _ = write!(text, "\n  {DIM}-->{RESET} {}:{}:{}", clean(&location.file), location.line, location.column);
    }
    if let Some(frame) = frame {
        let _ = write!(text, "\n{}", frame.trim_end());
    }
    if let Some(stack) = error.stack.as_deref().filter(|stack| stack.lines().count() > 1) {
        let _ = write!(text, "\n{DIM}{}{RESET}", clean(stack));
    }
    for issue in issues(error) {
        let _ = write!(text, "\n  - {}", clean(&issue));
    }
    if let Some(hint) = &error.hint {
        let _ = write!(text, "\n{BOLD}hint{RESET}: {}", clean(hint));
    }
    say(&text);
}

/// What was wrong with a call, where it was more than the message says.
fn issues(error: &RunError) -> Vec<String> {
    let listed = error.details.as_ref().and_then(|details| details["issues"].as_array());
    let Some(listed) = listed.filter(|listed| listed.len() > 1) else { return Vec::new() };
    let text = |issue: &serde_json::Value, key: &str| issue[key].as_str().unwrap_or_default().to_owned();
    listed.iter().map(|issue| format!("{}: {}", text(issue, "path"), text(issue, "message"))).collect()
}

/// What a person may do about it.
pub(super) fn hint(text: &str) {
    say(&format!("{BOLD}hint{RESET}: {}", clean(text)));
}

/// What a command did besides what it was asked for.
pub(super) fn note(text: &str) {
    say(&format!("{DIM}{}{RESET}", clean(text)));
}

/// A line of the trace of MCP.
pub(super) fn trace(line: &str) {
    say(&format!("{DIM}{}{RESET}", clean_line(line)));
}

/// What a run used, for a person who watches.
pub(super) fn usage(usage: &Usage) {
    if is_watched() {
        let calls = if usage.calls == 1 { "call" } else { "calls" };
        let memory = bytesize::ByteSize(usage.memory_bytes).display().iec_short();
        let millions = usage.fuel as f64 / 1e6;
        say(&format!("{DIM}{:.1} ms, {millions:.1}M fuel, {memory}, {} {calls}{RESET}", usage.wall_ms, usage.calls));
    }
}

/// What is to be said once a prompt has gone; nothing is held back while there is none.
static HELD: Mutex<Option<Vec<Said>>> = Mutex::new(None);

/// A line, and where it goes.
enum Said {
    Talk(String),
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

/// Says something, without secrets.
fn say(text: &str) {
    Said::Talk(shown::redactor().text(text).into_owned()).hold_or_write();
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
            Said::Talk(text) => drop(writeln!(anstream::stderr(), "{text}")),
            Said::Data(line) => {
                super::output::print_line(&line);
            }
        }
    }
}

/// The text without control, bidirectional and invisible characters, which could draw on the terminal
/// or show other text than there is.
pub(super) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => clean.push(character),
            character if is_hidden(character) => {
                let _ = write!(clean, "<U+{:04X}>", u32::from(character));
            }
            character => clean.push(character),
        }
    }
    clean
}

/// The same on one line: a name cannot begin a line of its own.
pub(super) fn clean_line(text: &str) -> String {
    clean(text).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn text_cannot_draw_on_the_terminal() {
        assert_eq!(clean("a\x1b[31mb\u{202e}c\r\nd"), "a<U+001B>[31mb<U+202E>c<U+000D>\nd");
        assert_eq!(clean("plain ünïcode 🙂\tok"), "plain ünïcode 🙂\tok");
    }
}
