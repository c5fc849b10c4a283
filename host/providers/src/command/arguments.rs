//! Command-line arguments from templates and parameters.

use super::error::CommandError;
use capability_gen::implementation::CommandArgument;
use capability_gen::template::{Template, given, text_of};
use serde_json::Value;

/// Limits on the number and size of arguments. Linux refuses a single one of 128 KiB and, by default, two megabytes of
/// all with the environment.
const MAX_ARGUMENTS: usize = 1_000;
const MAX_ARGUMENT_BYTES: usize = 100 * 1024;
const MAX_BYTES: usize = 1024 * 1024;

/// Builds the arguments of one call.
pub(super) fn fill(templates: &[CommandArgument], params: &Value) -> Result<Vec<String>, CommandError> {
    let mut filled = Filled::default();
    for argument in templates {
        match argument {
            CommandArgument::Literal(text) => filled.push(text.clone(), text)?,
            CommandArgument::Template { value, may_begin_with_dash } => {
                let may_begin_with_dash = *may_begin_with_dash || value.begins_with_text();
                for text in texts(value, params)? {
                    check(&text, value, may_begin_with_dash)?;
                    filled.push(text, value.text())?;
                }
            }
        }
    }
    Ok(filled.arguments)
}

/// Expands a template: one argument per element of a list, none if a parameter is absent, otherwise one.
fn texts(template: &Template, params: &Value) -> Result<Vec<String>, CommandError> {
    let list = template.only_parameter().and_then(|name| given(params, name)).and_then(Value::as_array);
    if let Some(items) = list {
        if items.len() > MAX_ARGUMENTS {
            return Err(too_many(template.text()));
        }
        return Ok(items.iter().filter(|item| !item.is_null()).map(text_of).collect());
    }
    let filled = template.fill(params, MAX_ARGUMENT_BYTES);
    let filled = filled.map_err(|error| CommandError::Invalid(format!("the argument {}: {error}", template.text())))?;
    Ok(filled.into_iter().collect())
}

fn check(text: &str, template: &Template, may_begin_with_dash: bool) -> Result<(), CommandError> {
    let shown = template.text();
    if text.contains('\0') {
        return Err(CommandError::Invalid(format!("the argument {shown}: it contains a NUL byte")));
    }
    if text.starts_with('-') && !may_begin_with_dash {
        let message =
            format!("the argument {shown}: it begins with `-`, which would make it an option: pass another value");
        return Err(CommandError::Invalid(message));
    }
    Ok(())
}

#[derive(Default)]
struct Filled {
    arguments: Vec<String>,
    bytes: usize,
}

impl Filled {
    fn push(&mut self, text: String, shown: &str) -> Result<(), CommandError> {
        self.bytes = self.bytes.saturating_add(text.len());
        if text.len() > MAX_ARGUMENT_BYTES {
            let message = format!("the argument {shown}: it has more than {MAX_ARGUMENT_BYTES} bytes: pass less");
            return Err(CommandError::Invalid(message));
        }
        if self.arguments.len() >= MAX_ARGUMENTS {
            return Err(too_many(shown));
        }
        if self.bytes > MAX_BYTES {
            let message = format!("the arguments have more than {MAX_BYTES} bytes: pass less");
            return Err(CommandError::Invalid(message));
        }
        self.arguments.push(text);
        Ok(())
    }
}

fn too_many(shown: &str) -> CommandError {
    CommandError::Invalid(format!("the argument {shown}: there are more than {MAX_ARGUMENTS} arguments: pass fewer"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn argument(text: &str, may_begin_with_dash: bool) -> CommandArgument {
        CommandArgument::Template { value: Template::parse(text).unwrap(), may_begin_with_dash }
    }

    fn filled(text: &str, params: Value) -> Result<Vec<String>, String> {
        fill(&[argument(text, false)], &params).map_err(|error| error.to_string())
    }

    #[test]
    fn a_value_is_one_argument_whatever_it_contains() {
        for text in ["$(touch x)", "`touch x`", "a; b", "a\nb", "a b", "\"", "*", "~", "", "{{b}}", "é\u{1f600}"] {
            assert_eq!(filled("{{a}}", json!({ "a": text, "b": "no" })), Ok(vec![text.to_owned()]), "{text}");
        }
    }

    #[test]
    fn a_list_becomes_several_arguments_only_if_it_is_the_whole_template() {
        let params = json!({ "list": ["a b", 2, true, null, ["x"], { "k": 1 }] });
        let expected = ["a b", "2", "true", "[\"x\"]", "{\"k\":1}"].map(str::to_owned);
        assert_eq!(filled("{{list}}", params), Ok(expected.to_vec()));
        assert_eq!(filled("--all={{list}}", json!({ "list": ["a", 1] })), Ok(vec!["--all=[\"a\",1]".to_owned()]));
        assert_eq!(filled("{{list}}", json!({ "list": [] })), Ok(vec![]));
    }

    #[test]
    fn an_absent_parameter_omits_its_argument() {
        assert_eq!(filled("--max={{n}}", json!({})), Ok(vec![]));
        assert_eq!(filled("{{n}}", json!({ "n": null })), Ok(vec![]));
        assert_eq!(filled("--max={{n}}", json!({ "n": 0 })), Ok(vec!["--max=0".to_owned()]));
    }

    #[test]
    fn no_value_becomes_an_option_unless_allowed() {
        for params in [json!({ "a": "--upload-pack=evil" }), json!({ "a": -1 }), json!({ "a": ["ok", "-x"] })] {
            assert!(filled("{{a}}", params.clone()).unwrap_err().contains("begins with `-`"), "{params}");
            assert!(fill(&[argument("{{a}}", true)], &params).is_ok());
        }
        assert!(filled("{{a}}{{b}}", json!({ "a": "", "b": "-x" })).is_err());
        // A literal dash belongs to the definition.
        assert_eq!(filled("-n{{a}}", json!({ "a": "-1" })), Ok(vec!["-n-1".to_owned()]));
    }

    #[test]
    fn argument_sizes_are_limited() {
        assert!(filled("{{a}}", json!({ "a": "a\0b" })).unwrap_err().contains("NUL byte"));
        assert!(filled("{{a}}", json!({ "a": ["a\0b"] })).is_err());
        assert!(filled("{{a}}", json!({ "a": "x".repeat(MAX_ARGUMENT_BYTES) })).is_ok());
        assert!(filled("{{a}}", json!({ "a": "x".repeat(MAX_ARGUMENT_BYTES + 1) })).is_err());
        assert!(filled("{{a}}", json!({ "a": ["x".repeat(MAX_ARGUMENT_BYTES + 1)] })).is_err());
        assert!(filled("{{a}}", json!({ "a": vec!["x"; MAX_ARGUMENTS] })).is_ok());
        assert!(filled("{{a}}", json!({ "a": vec!["x"; MAX_ARGUMENTS + 1] })).unwrap_err().contains("more than 1000"));
        assert!(filled("{{a}}", json!({ "a": vec!["x".repeat(90_000); 12] })).unwrap_err().contains("arguments have"));
    }
}
