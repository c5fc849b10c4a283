//! What a program's output and its exit status mean.

use super::error::CommandError;
use agent_spaces_mcp::process::Child;
use agent_spaces_mcp::secrets::Redactor;
use agent_spaces_std::http::parse_json;
use capability_gen::implementation::{CommandOutput, CommandTemplate};
use capability_gen::shown::Shown;
use serde_json::Value;

/// Most bytes of stderr that an error repeats, but for those that secrets take.
pub(super) const MAX_ERRORS: usize = 4 * 1024;

/// Most lines of it.
const MAX_LINES: usize = 20;

/// Most lines of output that become values: a byte of output becomes many of memory.
const MAX_OUTPUT_LINES: usize = 1_000_000;

/// The value of a program that has ended.
pub(super) fn read(
    template: &CommandTemplate,
    child: &Child,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    redactor: &Redactor,
) -> Result<Value, CommandError> {
    let stderr = last_lines(&stderr, redactor);
    if child.could_not_start() {
        return Err(CommandError::Start(format!("`{}` does not start: {stderr}", template.program)));
    }
    let Some(exit_code) = child.exit_code() else {
        return Err(CommandError::Broken("it cannot be told how it ended".to_owned()));
    };
    let meaning = u8::try_from(exit_code).ok().and_then(|code| template.exit_codes.get(&code));
    if exit_code != 0 && !meaning.is_some_and(|meaning| meaning.is_answer) {
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
        return parse_json(&bytes).map_err(|error| format!("what it wrote is no JSON: {error}"));
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

/// The last lines, without secrets and with nothing in them that acts on a terminal.
fn last_lines(bytes: &[u8], redactor: &Redactor) -> String {
    let text = redactor.end(&String::from_utf8_lossy(bytes), MAX_ERRORS);
    let mut lines: Vec<String> = text
        .trim_end()
        .lines()
        .rev()
        .take(MAX_LINES)
        .map(|line| Shown::text(&line.replace('\t', " "), usize::MAX).into())
        .collect();
    lines.reverse();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_mcp::secrets::Secret;
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
        let many = format!("[{}0]", "0,".repeat(1_000_000));
        assert!(decoded(CommandOutput::Json, &many).unwrap_err().contains("more than 1000000 values"));
        assert!(decode(CommandOutput::Text, vec![0xff]).unwrap_err().contains("UTF-8"));
    }

    #[test]
    fn of_stderr_the_last_lines_stay_without_what_acts() {
        let long: String = (0..50).map(|line| format!("line {line}\x1b[31m\u{202e}\n")).collect();
        let shown = last_lines(long.as_bytes(), &Redactor::default());
        assert_eq!(shown.lines().count(), MAX_LINES);
        assert!(
            shown.starts_with("line 30<U+001B>[31m<U+202E>\n") && shown.ends_with("line 49<U+001B>[31m<U+202E>"),
            "{shown}"
        );
        assert_eq!(last_lines(b"a\tb\xff\n\n", &Redactor::default()), "a b\u{fffd}");
    }

    #[test]
    fn no_half_of_a_secret_is_left_where_stderr_is_cut() {
        let redactor = Redactor::default();
        redactor.add(&Secret::new("token-of-the-tool"));
        for after in MAX_ERRORS - 17..MAX_ERRORS {
            let shown = last_lines(format!("token-of-the-tool{}", "x".repeat(after)).as_bytes(), &redactor);
            assert_eq!(shown, format!("[redacted]{}", "x".repeat(after)));
        }
    }
}
