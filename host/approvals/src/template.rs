//! Message templates of definitions, filled in with a call's parameters.

use crate::request::MAX_MESSAGE;
use crate::text_layout::shortened;
use serde_json::Value;

/// Placeholder for a missing parameter.
const MISSING: &str = "(none)";

/// Replaces `{{name}}` and `{{a.b}}` by parameters: strings verbatim, other values as JSON, and `(none)` if missing.
/// Values are not expanded again. The result has at most 500 characters.
pub fn fill(template: &str, params: &Value) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, name, after)) = next_placeholder(rest) {
        text.push_str(before);
        match value_at(params, name) {
            None => text.push_str(MISSING),
            Some(Value::String(value)) => text.push_str(value),
            Some(value) => text.push_str(&value.to_string()),
        }
        rest = after;
        // A character has at most four bytes: the rest would be truncated.
        if text.len() > 4 * MAX_MESSAGE {
            break;
        }
    }
    text.push_str(rest);
    shortened(&text, MAX_MESSAGE)
}

/// Splits at the next placeholder: text before, name, text after.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (_, inside) = text.split_once("{{")?;
    let (_, after) = inside.split_once("}}")?;
    let inside = text.strip_suffix(after)?.strip_suffix("}}")?;
    // Of several openings the last one matches: `{{ {{name}}`.
    let (before, name) = inside.rsplit_once("{{")?;
    Some((before, name.trim(), after))
}

fn value_at<'a>(params: &'a Value, name: &str) -> Option<&'a Value> {
    // A parameter name may contain a dot.
    let found = params.get(name).or_else(|| name.split('.').try_fold(params, |value, part| value.get(part)));
    found.filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use super::fill;
    use serde_json::json;

    #[test]
    fn placeholders_are_filled_with_plain_text() {
        let params =
            json!({ "name": "Ada", "to": { "city": "Bern", "n": 3 }, "tags": ["a", 1], "a.b": "dotted", "no": null });
        for (template, expected) in [
            ("Ticket for {{name}} in {{to.city}}", "Ticket for Ada in Bern"),
            ("{{to.n}} {{ tags }} {{to}}", r#"3 ["a",1] {"city":"Bern","n":3}"#),
            ("{{a.b}}", "dotted"),
            ("{{who}} {{to.street}} {{name.x}} {{no}} {{}}", "(none) (none) (none) (none) (none)"),
            ("{name} {{name", "{name} {{name"),
            ("}} {{name}} }}", "}} Ada }}"),
            ("{{ {{name}}", "{{ Ada"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(fill(template, &params), expected, "{template}");
        }
    }

    #[test]
    fn a_value_is_not_expanded_again() {
        let params = json!({ "title": "{{secret}}", "a": "{{", "b": "secret}}", "secret": "shown" });
        assert_eq!(fill("{{title}} {{a}}{{b}}", &params), "{{secret}} {{secret}}");
    }

    #[test]
    fn the_message_is_never_longer_than_500_characters() {
        let params = json!({ "text": "é".repeat(100_000) });
        let message = fill("Send {{text}} now", &params);
        assert_eq!(message.chars().count(), 500);
        assert!(message.starts_with("Send éé") && message.ends_with('…'));
    }

    #[test]
    fn parameters_that_are_no_object_have_no_members() {
        assert_eq!(fill("{{a}}", &json!(null)), "(none)");
        assert_eq!(fill("{{0}} {{a}}", &json!(["x"])), "(none) (none)");
    }
}
