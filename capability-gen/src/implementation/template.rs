//! Text with `{{name}}` where a parameter's value goes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Text with `{{name}}` where a parameter's value goes, and `{{a.b}}` for a member of one.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// `{{name`
    #[error("a \"{{{{\" has no \"}}}}\" after it")]
    Open,
    /// `{{}}` or `{{ {{name}}`
    #[error("between \"{{{{\" and \"}}}}\" there is no name")]
    Nameless,
}

impl Template {
    /// Reads a text. A `}}` without a `{{` before it is text like any other.
    ///
    /// # Errors
    /// A placeholder without an end or a name.
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").ok_or(TemplateError::Open)?;
            let name = name.trim();
            if name.is_empty() || name.contains(['{', '}']) {
                return Err(TemplateError::Nameless);
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

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its parts in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The names in it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Parameter(name) => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// The name of the parameter that it is and nothing else: its value may then be more than text.
    pub fn sole_name(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Parameter(name)] => Some(name),
            _ => None,
        }
    }
}

/// What stands for a parameter.
pub(crate) fn placeholder(name: &str) -> String {
    format!("{{{{{name}}}}}")
}

/// The value that a name stands for; nothing where it was not given. A parameter may have a dot in its own name.
pub fn value_of<'a>(params: &'a Value, name: &str) -> Option<&'a Value> {
    params.get(name).or_else(|| name.split('.').try_fold(params, |value, part| value.get(part)))
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
    use super::{Part, Template, TemplateError, value_of};
    use serde_json::json;

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
        for (written, error) in [
            ("{{a", TemplateError::Open),
            ("{{}}", TemplateError::Nameless),
            ("{{ }}", TemplateError::Nameless),
            ("{{ {{a}}", TemplateError::Nameless),
            ("{{{a}}}", TemplateError::Nameless),
        ] {
            assert_eq!(Template::parse(written), Err(error), "{written}");
        }
    }

    #[test]
    fn a_name_is_a_parameter_before_it_is_a_member() {
        let params = json!({ "a.b": 1, "a": { "b": 2, "c": null } });
        assert_eq!(value_of(&params, "a.b"), Some(&json!(1)));
        assert_eq!(value_of(&params, "a.c"), Some(&json!(null)));
        assert_eq!(value_of(&params, "a.d"), None);
        assert_eq!(value_of(&json!(null), "a"), None);
    }
}
