//! stdout.

use super::failure::Failure;
use super::terminal;
use agent_spaces::Code;
use agent_spaces::Shown;
use capability_gen::hidden::is_hidden;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write};

/// Prints the result of a command, as JSON or as text, and returns the exit status.
pub(super) fn answer(answer: Result<(Value, Shown), Failure>, is_json: bool) -> u8 {
    match answer {
        Ok((value, _)) if is_json => print_line(&value),
        Ok((_, text)) => print(&text),
        Err(failure) => failure.report(is_json),
    }
}

/// Prints text for people, and returns the exit status.
pub(super) fn print(text: &Shown) -> u8 {
    write(text)
}

/// Prints a document: unchanged to a pipe or file, sanitized on a terminal.
pub(super) fn print_document(text: &str) -> u8 {
    match terminal::is_stdout_terminal() {
        true => write(&Shown::text(text, usize::MAX)),
        false => write(text),
    }
}

/// Prints JSON and a newline. Control and invisible characters become `\u` escapes, which is the same JSON.
pub(super) fn print_line(json: &impl std::fmt::Display) -> u8 {
    let mut escaped = String::new();
    for character in json.to_string().chars() {
        match character {
            '\n' => escaped.push(character),
            character if is_hidden(character) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(escaped, "\\u{unit:04x}");
                }
            }
            character => escaped.push(character),
        }
    }
    escaped.push('\n');
    write(&escaped)
}

/// Writes to stdout. A closed pipe is not an error.
fn write(text: &str) -> u8 {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => 0,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => 0,
        Err(error) => Failure::new(Code::HostOutput, format!("stdout cannot be written: {error}"), None).show(),
    }
}
