//! Interpretation of a program's output and exit status.

use super::error::CommandError;
use agent_spaces_process::Child;
use agent_spaces_secrets::Redactor;
use agent_spaces_std::http::parse_json;
use agent_spaces_types::shown::Shown;
use capability_gen::implementation::{CommandOutput, CommandTemplate};
use serde_json::Value;

/// Most bytes of stderr in an error, besides redacted secrets.
pub(super) const MAX_ERRORS: usize = 4 * 1024;

/// Most lines of stderr in an error.
const MAX_LINES: usize = 20;

/// Most lines of output that become values: a byte of output takes many of memory.
const MAX_OUTPUT_LINES: usize = 1_000_000;

/// Returns the value of a program that has ended.
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
        return Err(CommandError::Broken("its exit status is unknown".to_owned()));
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
            return Err("its output is empty, not JSON".to_owned());
        }
        return parse_json(&bytes).map_err(|error| format!("its output is not JSON: {error}"));
    }
    let mut text = String::from_utf8(bytes).map_err(|_| "its output is not UTF-8 text".to_owned())?;
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

/// Returns the last lines, with secrets redacted and control characters removed.
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
    use agent_spaces_secrets::Secret;
    use serde_json::json;

    #[test]
    fn output_is_decoded_as_the_definition_declares() {
        let decoded = |output, text: &str| decode(output, text.as_bytes().to_vec());
        assert_eq!(decoded(CommandOutput::Json, " {\"a\": [1]}\n"), Ok(json!({ "a": [1] })));
        assert_eq!(decoded(CommandOutput::Text, "a\nb\n\n"), Ok(json!("a\nb\n")));
        assert_eq!(decoded(CommandOutput::Text, "a\r\n"), Ok(json!("a")));
        assert_eq!(decoded(CommandOutput::Lines, "a\r\nb\n"), Ok(json!(["a", "b"])));
        assert_eq!(decoded(CommandOutput::Lines, ""), Ok(json!([])));
        assert!(decoded(CommandOutput::Json, "{} {}").unwrap_err().contains("not JSON"));
        assert!(decoded(CommandOutput::Json, "\n").unwrap_err().contains("is empty"));
        assert!(decoded(CommandOutput::Json, &"[".repeat(100_000)).is_err());
        let many = format!("[{}0]", "0,".repeat(1_000_000));
        assert!(decoded(CommandOutput::Json, &many).unwrap_err().contains("more than 1000000 values"));
        assert!(decode(CommandOutput::Text, vec![0xff]).unwrap_err().contains("UTF-8"));
    }

    #[test]
    fn the_last_lines_of_stderr_are_kept_without_control_characters() {
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
    fn truncation_of_stderr_leaves_no_partial_secret() {
        let redactor = Redactor::default();
        redactor.add(&Secret::new("token-of-the-tool"));
        for after in MAX_ERRORS - 17..MAX_ERRORS {
            let shown = last_lines(format!("token-of-the-tool{}", "x".repeat(after)).as_bytes(), &redactor);
            assert_eq!(shown, format!("[redacted]{}", "x".repeat(after)));
        }
    }
}
