//! Text templates with `{{name}}` placeholders for parameters of a call.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Text template: `--max-count={{count}}`, `{{range.from}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Literal text.
    Text(String),
    /// The name of a parameter, or of a member of one.
    Parameter(String),
}

/// Template syntax error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// `{{` without `}}`.
    #[error("a `{{{{` has no `}}}}` after it")]
    Open,
    /// `{{}}`, `{{ {{name}}`
    #[error("a placeholder names no parameter")]
    Unnamed,
}

impl Template {
    /// Parses a template. A `}}` without a `{{` before it is literal text.
    ///
    /// # Errors
    ///
    /// A placeholder is not closed or has no name.
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, inside)) = rest.split_once("{{") {
            let (name, after) = inside.split_once("}}").ok_or(TemplateError::Open)?;
            let name = name.trim();
            if name.is_empty() || name.contains(['{', '}']) {
                return Err(TemplateError::Unnamed);
            }
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(Part::Parameter(name.to_owned()));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Template { text: text.to_owned(), parts })
    }

    /// Creates the template `{{name}}`. The name must not contain a brace.
    pub(crate) fn of_parameter(name: &str) -> Template {
        Template { text: placeholder(name), parts: vec![Part::Parameter(name.to_owned())] }
    }

    /// The template as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its parts in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The parameters that it names, in order.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Parameter(name) => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// The parameter, if the template is a single placeholder `{{name}}`.
    pub fn only_parameter(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Parameter(name)] => Some(name),
            _ => None,
        }
    }

    /// Returns true if it starts with literal text, whatever the parameters are.
    pub fn begins_with_text(&self) -> bool {
        matches!(self.parts.first(), Some(Part::Text(_)))
    }

    /// Renders the template: strings as they are, other values as JSON. Returns `None` if a parameter is absent.
    /// Values are not searched for placeholders.
    ///
    /// # Errors
    ///
    /// The text would exceed `most` bytes: a short template may repeat a long parameter.
    pub fn fill(&self, params: &Value, most: usize) -> Result<Option<String>, TooLong> {
        let mut filled = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Parameter(name) => match given(params, name) {
                    Some(value) => filled.push_str(&text_of(value)),
                    None => return Ok(None),
                },
            }
            if filled.len() > most {
                return Err(TooLong { most });
            }
        }
        Ok(Some(filled))
    }
}

/// Rendered template too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has more than {most} bytes: pass less")]
pub struct TooLong {
    /// Maximum number of bytes.
    pub most: usize,
}

/// Placeholder of a parameter.
pub(crate) fn placeholder(name: &str) -> String {
    format!("{{{{{name}}}}}")
}

/// The value of a parameter, or of a member of one: `a`, `a.b`. A parameter may have a dot in its own name.
pub fn value_of<'a>(params: &'a Value, name: &str) -> Option<&'a Value> {
    params.get(name).or_else(|| name.split('.').try_fold(params, |value, part| value.get(part)))
}

/// Like [`value_of`], but `null` counts as absent, since text cannot represent it.
pub fn given<'a>(params: &'a Value, name: &str) -> Option<&'a Value> {
    value_of(params, name).filter(|value| !value.is_null())
}

/// A value as text: a string as it is, everything else as JSON.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Renders a JSON value whose strings are templates. A string that is a single placeholder becomes the value itself,
/// including `null`; members and elements whose parameter is absent are left out.
///
/// # Errors
///
/// The rendered value would exceed `most` bytes.
pub fn fill_json(template: &Value, params: &Value, most: usize) -> Result<Option<Value>, TooLong> {
    fill_part(template, params, &mut Room { left: most, most })
}

/// Bytes left.
struct Room {
    left: usize,
    most: usize,
}

impl Room {
    fn take(&mut self, bytes: usize) -> Result<(), TooLong> {
        self.left = self.left.checked_sub(bytes).ok_or(TooLong { most: self.most })?;
        Ok(())
    }
}

fn fill_part(template: &Value, params: &Value, room: &mut Room) -> Result<Option<Value>, TooLong> {
    Ok(Some(match template {
        Value::String(text) => return fill_text(text, params, room),
        Value::Array(items) => {
            let filled = items.iter().filter_map(|item| fill_part(item, params, room).transpose());
            Value::Array(filled.collect::<Result<_, _>>()?)
        }
        Value::Object(members) => {
            let filled = members.iter().filter_map(|(key, value)| {
                Some(fill_part(value, params, room).transpose()?.map(|value| (key.clone(), value)))
            });
            Value::Object(filled.collect::<Result<_, _>>()?)
        }
        other => other.clone(),
    }))
}

fn fill_text(text: &str, params: &Value, room: &mut Room) -> Result<Option<Value>, TooLong> {
    // Invalid templates were refused when the definition was parsed.
    let Ok(template) = Template::parse(text) else { return Ok(Some(text.into())) };
    let Some(name) = template.only_parameter() else {
        let filled = template.fill(params, room.left).map_err(|_| TooLong { most: room.most })?;
        let Some(filled) = filled else { return Ok(None) };
        room.take(filled.len())?;
        return Ok(Some(filled.into()));
    };
    let Some(value) = value_of(params, name) else { return Ok(None) };
    room.take(text_of(value).len())?;
    Ok(Some(value.clone()))
}

impl TryFrom<String> for Template {
    type Error = TemplateError;

    fn try_from(text: String) -> Result<Template, TemplateError> {
        Template::parse(&text)
    }
}

impl From<Template> for String {
    fn from(template: Template) -> String {
        template.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fill(template: &str, params: &Value) -> Option<String> {
        Template::parse(template).unwrap().fill(params, 100).unwrap()
    }

    #[test]
    fn placeholders_become_text_and_an_absent_parameter_renders_nothing() {
        let params =
            json!({ "name": "Ada", "to": { "n": 3 }, "a.b": "dotted", "no": null, "on": false, "list": ["a", 1] });
        for (template, expected) in [
            ("--to={{to.n}}", Some("--to=3")),
            ("{{ name }}/{{a.b}}", Some("Ada/dotted")),
            ("{{on}} {{list}}", Some(r#"false ["a",1]"#)),
            ("plain }} text", Some("plain }} text")),
            ("{{no}}", None),
            ("{{name}}{{to.x}}", None),
        ] {
            assert_eq!(fill(template, &params).as_deref(), expected, "{template}");
        }
    }

    #[test]
    fn a_template_is_split_into_its_parts() {
        let (text, name) = (|text: &str| Part::Text(text.into()), |name: &str| Part::Parameter(name.into()));
        for (written, parts) in [
            ("", vec![]),
            ("a}}b", vec![text("a}}b")]),
            ("/{{ a }}/{{b.c}}x", vec![text("/"), name("a"), text("/"), name("b.c"), text("x")]),
            ("{{a}}{{b}}", vec![name("a"), name("b")]),
        ] {
            assert_eq!(Template::parse(written).unwrap().parts(), parts, "{written}");
        }
    }

    #[test]
    fn a_name_is_a_parameter_before_it_is_a_member() {
        let params = json!({ "a.b": 1, "a": { "b": 2, "c": null } });
        assert_eq!(value_of(&params, "a.b"), Some(&json!(1)));
        assert_eq!((value_of(&params, "a.c"), given(&params, "a.c")), (Some(&json!(null)), None));
        assert_eq!((value_of(&params, "a.d"), value_of(&json!(null), "a")), (None, None));
    }

    #[test]
    fn a_value_is_not_searched_for_placeholders() {
        let params = json!({ "a": "{{b}}", "b": "secret" });
        assert_eq!(fill("{{a}}", &params).as_deref(), Some("{{b}}"));
        assert_eq!(fill_json(&json!(["{{a}}"]), &params, 100), Ok(Some(json!(["{{b}}"]))));
    }

    #[test]
    fn unclosed_and_unnamed_placeholders_are_refused() {
        assert_eq!(Template::parse("{{name"), Err(TemplateError::Open));
        for text in ["{{ {{name}}", "{{ }}", "{{}}", "{{{name}}}"] {
            assert_eq!(Template::parse(text), Err(TemplateError::Unnamed), "{text}");
        }
    }

    #[test]
    fn json_keeps_the_types_of_values_and_leaves_out_absent_parameters() {
        let params = json!({ "n": 3, "list": [1], "text": "x", "no": null });
        let template = json!({
            "n": "{{n}}", "no": "{{no}}", "all": ["{{list}}", "{{gone}}", "a {{text}}", "a {{no}}"], "gone": "{{gone}}", "fix": 1,
        });
        let filled = json!({ "n": 3, "no": null, "all": [[1], "a x"], "fix": 1 });
        assert_eq!(fill_json(&template, &params, 100), Ok(Some(filled)));
    }

    #[test]
    fn a_repeated_parameter_cannot_exceed_the_size_limit() {
        let params = json!({ "a": "x".repeat(60) });
        let twice = Template::parse("{{a}}{{a}}").unwrap();
        assert_eq!(twice.fill(&params, 100), Err(TooLong { most: 100 }));
        assert!(twice.fill(&params, 120).is_ok());
        for template in [json!(["{{a}}", "{{a}}"]), json!({ "b": "{{a}}", "c": "{{a}}!" })] {
            assert_eq!(fill_json(&template, &params, 100), Err(TooLong { most: 100 }));
            assert!(fill_json(&template, &params, 121).is_ok());
        }
    }
}
