//! Arguments of a call.

use crate::bounds::{MAX_BODY, MAX_SCHEMA};
use agent_spaces_agent::OutputFormat;
use serde_json::{Map, Value};

/// Arguments of a call.
#[derive(Debug, PartialEq)]
pub(super) struct Arguments {
    pub(super) question: String,
    /// Form of the answer; `None` for the agent's own.
    pub(super) output: Option<OutputFormat>,
}

impl Arguments {
    /// Reads arguments. `own` is the agent's schema, if its answers are JSON. The error is for the model that called.
    pub(super) fn read(mut arguments: Map<String, Value>, own: Option<&Value>) -> Result<Arguments, String> {
        let (question, format) = (arguments.remove("question"), arguments.remove("format"));
        let schema = arguments.remove("schema").filter(|schema| !schema.is_null());
        if let Some(unknown) = arguments.keys().next() {
            let unknown: String = unknown.chars().take(100).collect();
            return Err(format!("unknown argument {unknown:?}: write `question`, `format` and `schema`"));
        }
        let question = match question {
            Some(Value::String(question)) if question.len() > MAX_BODY => {
                return Err(format!("the question has more than {MAX_BODY} bytes: shorten it"));
            }
            Some(Value::String(question)) if !question.trim().is_empty() => question,
            _ => return Err("`question` is missing: write the question as a string".to_owned()),
        };
        let output = match format.as_ref().map(|format| format.as_str()) {
            None if schema.is_none() => None,
            Some(Some("text")) => Some(OutputFormat::Text),
            Some(Some("markdown")) => Some(OutputFormat::Markdown),
            // Whoever sends a schema wants JSON.
            None | Some(Some("json")) => Some(OutputFormat::Json(checked(schema.as_ref().or(own))?)),
            Some(_) => return Err("unknown `format`: write \"text\", \"markdown\" or \"json\"".to_owned()),
        };
        Ok(Arguments { question, output })
    }
}

/// Checks a schema.
fn checked(schema: Option<&Value>) -> Result<Value, String> {
    match schema {
        Some(schema @ Value::Object(_)) if schema.to_string().len() <= MAX_SCHEMA => Ok(schema.clone()),
        Some(Value::Object(_)) => Err(format!("the schema has more than {MAX_SCHEMA} bytes: shorten it")),
        Some(_) => Err("`schema` is not an object: write a JSON Schema".to_owned()),
        None => Err("`schema` is missing: the format `json` needs a JSON Schema".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use agent_spaces_agent::OutputFormat;
    use serde_json::{Value, json};

    fn read(arguments: Value, own: Option<&Value>) -> Result<Option<OutputFormat>, String> {
        Arguments::read(arguments.as_object().unwrap().clone(), own).map(|read| read.output)
    }

    #[test]
    fn the_format_decides_about_the_answer() {
        let (own, given) = (json!({ "type": "array" }), json!({ "type": "object" }));
        assert_eq!(read(json!({ "question": "1?" }), None), Ok(None));
        assert_eq!(read(json!({ "question": "1?", "format": "text" }), Some(&own)), Ok(Some(OutputFormat::Text)));
        let json = |schema: &Value| Ok(Some(OutputFormat::Json(schema.clone())));
        assert_eq!(read(json!({ "question": "1?", "format": "json", "schema": given }), Some(&own)), json(&given));
        assert_eq!(read(json!({ "question": "1?", "format": "json" }), Some(&own)), json(&own));
        assert_eq!(read(json!({ "question": "1?", "schema": given }), None), json(&given));
    }

    #[test]
    fn wrong_arguments_are_explained() {
        for (wrong, why) in [
            (json!({}), "`question` is missing"),
            (json!({ "question": " " }), "`question` is missing"),
            (json!({ "question": "1?", "format": "json" }), "`schema` is missing"),
            (json!({ "question": "1?", "format": "json", "schema": [] }), "not an object"),
            (json!({ "question": "1?", "format": "xml" }), "unknown `format`"),
            (json!({ "question": "1?", "format": 1 }), "unknown `format`"),
            (json!({ "question": "1?", "model": "x" }), "unknown argument"),
        ] {
            let message = read(wrong.clone(), None).unwrap_err();
            assert!(message.contains(why), "{wrong}: {message}");
        }
    }
}
