//! Structured output: parsing and validation of JSON answers.

use crate::definition::OutputFormat;
use capability_gen::validate::Validator;
use serde_json::Value;

/// Parses an answer in its output format. Text has no value.
///
/// # Errors
/// The fault, for the model.
pub(crate) fn read(format: &OutputFormat, text: &str) -> Result<Option<Value>, String> {
    let OutputFormat::Json(schema) = format else { return Ok(None) };
    let value: Value =
        serde_json::from_str(without_fence(text)).map_err(|error| format!("Your answer is not JSON: {error}."))?;
    let validator =
        Validator::new(schema).map_err(|error| format!("The schema of the answer is not usable: {error}."))?;
    match validator.validate(&value) {
        Ok(()) => Ok(Some(value)),
        Err(invalid) => Err(format!("Your answer does not obey its JSON Schema: {invalid}.")),
    }
}

/// Models put JSON into code fences, whatever they are told.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```").and_then(|inner| inner.strip_suffix("```")) else { return text };
    inner.strip_prefix("json").unwrap_or(inner).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_is_read_and_checked() {
        let format = OutputFormat::Json(
            json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } }),
        );
        assert_eq!(read(&format, r#" {"n": 1} "#), Ok(Some(json!({ "n": 1 }))));
        assert_eq!(read(&format, "```json\n{\"n\": 1}\n```"), Ok(Some(json!({ "n": 1 }))));
        assert!(read(&format, r#"{"n": "one"}"#).is_err_and(|fault| fault.contains("n:")));
        assert!(read(&format, "It is one.").is_err_and(|fault| fault.contains("not JSON")));
        assert_eq!(read(&OutputFormat::Text, "It is one."), Ok(None));
    }
}
