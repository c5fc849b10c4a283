//! What a program's output and its exit status mean.

use super::error::CommandError;
use agent_spaces_mcp::process::Child;
use capability_gen::hidden::is_hidden;
use capability_gen::implementation::{CommandOutput, CommandTemplate};
use serde_json::Value;

/// Most lines of stderr that an error repeats.
const MAX_LINES: usize = 20;

/// Most lines of output that become values: a byte of output becomes many of memory.
const MAX_OUTPUT_LINES: usize = 1_000_000;

/// The value of a program that has ended.
pub(super) fn read(
    template: &CommandTemplate,
    child: &Child,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
) -> Result<Value, CommandError> {
    let stderr = last_lines(&stderr);
    let Some(exit_code) = child.exit_code() else {
        return Err(CommandError::Broken("it cannot be told how it ended".to_owned()));
    };
    let meaning = u8::try_from(exit_code).ok().and_then(|code| template.exit_codes.get(&code));
    if exit_code != 0 && !meaning.is_some_and(|meaning| meaning.is_answer) {
        // Its supervisor says so by an exit status that others use too.
        if child.could_not_start() && meaning.is_none() {
            return Err(CommandError::Start(format!("`{}` does not start: {stderr}", template.program)));
        }
        let said = meaning.and_then(|meaning| meaning.message.clone());
        return Err(CommandError::Failed {
            message: said.unwrap_or_else(|| status(exit_code)),
            exit_code,
            stderr,
            is_retryable: meaning.is_some_and(|meaning| meaning.retryable),
        });
    }
    decode(template.output, stdout).map_err(|message| CommandError::Output { message, stderr })
}

fn status(code: i32) -> String {
    match code {
        129..=192 => format!("the program ended with status {code}, as after signal {}", code - 128),
        _ => format!("the program ended with status {code}"),
    }
}

fn decode(output: CommandOutput, bytes: Vec<u8>) -> Result<Value, String> {
    if output == CommandOutput::Json {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err("it wrote nothing where it should have written JSON".to_owned());
        }
        return serde_json::from_slice(&bytes).map_err(|error| format!("what it wrote is no JSON: {error}"));
    }
    let mut text = String::from_utf8(bytes).map_err(|_| "what it wrote is no text in UTF-8".to_owned())?;
    if output == CommandOutput::Lines {
        if text.bytes().filter(|byte| *byte == b'\n').count() > MAX_OUTPUT_LINES {
            return Err(format!("it wrote more than {MAX_OUTPUT_LINES} lines"));
        }
        return Ok(text.lines().map(Value::from).collect());
    }
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text.into())
}

/// The last lines, with nothing in them that acts on a terminal.
fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut lines: Vec<String> = text
        .trim_end()
        .lines()
        .rev()
        .take(MAX_LINES)
        .map(|line| line.replace('\t', " ").chars().filter(|character| !is_hidden(*character)).collect())
        .collect();
    lines.reverse();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn output_becomes_what_the_definition_says_it_is() {
        let decoded = |output, text: &str| decode(output, text.as_bytes().to_vec());
        assert_eq!(decoded(CommandOutput::Json, " {\"a\": [1]}\n"), Ok(json!({ "a": [1] })));
        assert_eq!(decoded(CommandOutput::Text, "a\nb\n\n"), Ok(json!("a\nb\n")));
        assert_eq!(decoded(CommandOutput::Text, "a\r\n"), Ok(json!("a")));
        assert_eq!(decoded(CommandOutput::Lines, "a\r\nb\n"), Ok(json!(["a", "b"])));
        assert_eq!(decoded(CommandOutput::Lines, ""), Ok(json!([])));
        assert!(decoded(CommandOutput::Json, "{} {}").unwrap_err().contains("no JSON"));
        assert!(decoded(CommandOutput::Json, "\n").unwrap_err().contains("wrote nothing"));
        assert!(decoded(CommandOutput::Json, &"[".repeat(100_000)).is_err());
        assert!(decode(CommandOutput::Text, vec![0xff]).unwrap_err().contains("UTF-8"));
    }

    #[test]
    fn of_stderr_the_last_lines_stay_without_what_acts() {
        let long: String = (0..50).map(|line| format!("line {line}\x1b[31m\u{202e}\n")).collect();
        let shown = last_lines(long.as_bytes());
        assert_eq!(shown.lines().count(), MAX_LINES);
        assert!(shown.starts_with("line 30[31m\n") && shown.ends_with("line 49[31m"), "{shown}");
        assert_eq!(last_lines(b"a\tb\xff\n\n"), "a b\u{fffd}");
    }
}
