//! Translation of other programs' placeholders into ours.

use super::super::error::quoted;
use serde_json::Value;

/// Variables that editors expand themselves.
const EDITORS: [&str; 6] =
    ["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "cwd", "execPath"];

/// Translates the placeholders in all texts of a value.
///
/// The error names the first placeholder that only its program can expand.
pub(super) fn rewrite(value: &mut Value) -> Result<(), String> {
    match value {
        Value::String(text) => {
            if text.contains("${") {
                *text = rewritten(text)?;
            }
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(rewrite),
        Value::Object(members) => members.values_mut().try_for_each(rewrite),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn rewritten(text: &str) -> Result<String, String> {
    let (mut own, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, inside)) = rest.split_once("${") {
        let Some((placeholder, after)) = inside.split_once('}') else { break };
        own.extend([before, "${", name(placeholder)?, "}"]);
        rest = after;
    }
    own.push_str(rest);
    Ok(own)
}

/// Returns the content of our placeholder for one of theirs.
fn name(placeholder: &str) -> Result<&str, String> {
    let written = || quoted(&format!("${{{placeholder}}}"));
    let own = placeholder.strip_prefix("env:").unwrap_or(placeholder);
    let variable = own.split_once(":-").map_or(own, |(variable, _)| variable);
    if placeholder.starts_with("input:") {
        return Err(format!("{} is an input prompt of its editor; write `${{NAME}}` for a variable", written()));
    }
    if EDITORS.contains(&placeholder) || !is_variable(variable) || own.contains("${") {
        return Err(format!("{} is a placeholder of another program; write its value", written()));
    }
    Ok(own)
}

fn is_variable(text: &str) -> bool {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty() && text.bytes().all(part) && !text.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use crate::foreign::variables::rewrite;
    use serde_json::json;

    #[test]
    fn environment_variables_are_translated() {
        let mut value = json!({
            "args": ["${env:A}-${B}", "${C:-d e}", "$D", "${open", 1],
            "env": { "X": "Bearer ${env:TOKEN}" }
        });
        assert_eq!(rewrite(&mut value), Ok(()));
        let expected = json!({
            "args": ["${A}-${B}", "${C:-d e}", "$D", "${open", 1], "env": { "X": "Bearer ${TOKEN}" }
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn placeholders_of_editors_are_unsupported() {
        assert_eq!(
            rewrite(&mut json!(["${input:api-key}"])).unwrap_err(),
            "`${input:api-key}` is an input prompt of its editor; write `${NAME}` for a variable"
        );
        for text in [
            "${workspaceFolder}/x",
            "${userHome}",
            "${/}",
            "${command:x}",
            "${config:a.b}",
            "${}",
            "${1}",
            "${a b}",
            "${A:-${B}}",
        ] {
            let reason = rewrite(&mut json!({ "a": text })).unwrap_err();
            assert!(reason.contains("a placeholder of another program"), "{text}: {reason}");
        }
        let long = format!("${{input:{}\u{1b}}}", "x".repeat(1 << 16));
        assert!(rewrite(&mut json!(long)).unwrap_err().len() < 300);
    }
}
