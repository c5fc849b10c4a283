//! Text with `{{name}}` in it, which a parameter of a call takes the place of.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A text with placeholders: `--max-count={{count}}`, `{{range.from}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text that stays as it is.
    Text(String),
    /// The name of a parameter, or of a member of one.
    Parameter(String),
}

/// Why a text is no template.
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
    /// Reads a text. A `}}` without a `{{` before it is text like any other.
    ///
    /// # Errors
    ///
    /// A placeholder that has no end or no name.
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

    /// A template that is the value of one parameter. Its name must have no brace in it.
    pub(crate) fn of_parameter(name: &str) -> Template {
        Template { text: placeholder(name), parts: vec![Part::Parameter(name.to_owned())] }
    }

    /// As it was written.
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

    /// The parameter that is all there is to it: `{{name}}`.
    pub fn only_parameter(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Parameter(name)] => Some(name),
            _ => None,
        }
    }

    /// Whether its first character is its own, whatever the parameters are.
    pub fn begins_with_text(&self) -> bool {
        matches!(self.parts.first(), Some(Part::Text(_)))
    }

    /// The text with the values of a call: strings as they are, everything else as JSON; nothing where a parameter is
    /// absent. Values are not searched for placeholders.
    ///
    /// # Errors
    ///
    /// It would have more than `most` bytes: a short template may repeat a long parameter.
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

/// What parameters make of a template is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has more than {most} bytes: pass less")]
pub struct TooLong {
    /// The most that there may be.
    pub most: usize,
}

/// What stands for a parameter.
pub(crate) fn placeholder(name: &str) -> String {
    format!("{{{{{name}}}}}")
}

/// The value of a parameter, or of a member of one: `a`, `a.b`. A parameter may have a dot in its own name.
pub fn value_of<'a>(params: &'a Value, name: &str) -> Option<&'a Value> {
    params.get(name).or_else(|| name.split('.').try_fold(params, |value, part| value.get(part)))
}

/// The same where `null` counts as absent: in text there is nothing that it could be.
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

/// A JSON value whose texts are templates, with the values of a call. A text that is one placeholder becomes the value
/// itself, `null` too; members and elements whose parameter is absent are left out.
///
/// # Errors
///
/// What the parameters make of it has more than `most` bytes.
pub fn fill_json(template: &Value, params: &Value, most: usize) -> Result<Option<Value>, TooLong> {
    fill_part(template, params, &mut Room { left: most, most })
}

/// How many bytes there may still be.
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
    // What is no template was refused when it was read.
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
    fn placeholders_become_text_and_what_is_absent_leaves_nothing() {
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
    fn a_text_falls_into_its_parts() {
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
    fn what_has_no_end_or_no_name_is_no_template() {
        assert_eq!(Template::parse("{{name"), Err(TemplateError::Open));
        for text in ["{{ {{name}}", "{{ }}", "{{}}", "{{{name}}}"] {
            assert_eq!(Template::parse(text), Err(TemplateError::Unnamed), "{text}");
        }
    }

    #[test]
    fn json_keeps_the_types_of_values_and_leaves_out_what_is_absent() {
        let params = json!({ "n": 3, "list": [1], "text": "x", "no": null });
        let template = json!({
            "n": "{{n}}", "no": "{{no}}", "all": ["{{list}}", "{{gone}}", "a {{text}}", "a {{no}}"], "gone": "{{gone}}", "fix": 1,
        });
        let filled = json!({ "n": 3, "no": null, "all": [[1], "a x"], "fix": 1 });
        assert_eq!(fill_json(&template, &params, 100), Ok(Some(filled)));
    }

    #[test]
    fn a_parameter_that_is_repeated_fills_no_more_than_there_is_room_for() {
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
