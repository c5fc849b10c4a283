//! Parameters in templates: a name that is none is a slip, which would send something else than was meant.

use super::super::error::{SourceError, quoted};
use super::super::node::Node;
use crate::implementation::{Template, placeholder};
use crate::names::nearest;
use serde_json::Value;
use std::collections::BTreeMap;

/// The parameters of a function, as far as their schema names them.
pub(super) struct Names<'a> {
    /// Nothing where another schema says what they are.
    known: Option<BTreeMap<&'a str, &'a Value>>,
    required: Vec<&'a str>,
}

impl<'a> Names<'a> {
    pub(super) fn of(parameters: &'a Value) -> Names<'a> {
        let is_elsewhere = ["$ref", "allOf", "anyOf", "oneOf"].iter().any(|key| parameters.get(key).is_some());
        let properties = parameters.get("properties").and_then(Value::as_object).into_iter().flatten();
        let required = parameters.get("required").and_then(Value::as_array).into_iter().flatten();
        Names {
            known: (!is_elsewhere).then(|| properties.map(|(name, schema)| (name.as_str(), schema)).collect()),
            required: required.filter_map(Value::as_str).collect(),
        }
    }

    /// Where there is no parameter.
    pub(super) fn none() -> Names<'static> {
        Names { known: Some(BTreeMap::new()), required: Vec::new() }
    }

    /// Refuses a name that is no parameter.
    pub(super) fn check(&self, node: &Node<'_>, template: &Template) -> Result<(), SourceError> {
        let Some(known) = &self.known else { return Ok(()) };
        for name in template.names() {
            if parameter(known, name).is_some() {
                continue;
            }
            let message = format!("{} is no parameter of this function", quoted(name));
            let fix = match nearest(name, known.keys().copied()) {
                Some(near) => format!("Did you mean {}?", quoted(&placeholder(near))),
                None if known.is_empty() => "There are no parameters here: write a text without one.".to_owned(),
                None => "Name one of its parameters, or add it to them.".to_owned(),
            };
            return Err(node.error(message, fix));
        }
        Ok(())
    }

    /// Refuses also a parameter that may be absent: an address has no place for nothing.
    pub(super) fn check_all_given(&self, node: &Node<'_>, template: &Template) -> Result<(), SourceError> {
        self.check(node, template)?;
        let Some(known) = &self.known else { return Ok(()) };
        for name in template.names().filter_map(|name| parameter(known, name)) {
            let has_default = known.get(name).is_some_and(|schema| schema.get("default").is_some());
            if !self.required.contains(&name) && !has_default {
                let message = format!("the parameter {} is in the address and may be absent", quoted(name));
                return Err(node.error(message, "Make it required, or give it a default."));
            }
        }
        Ok(())
    }
}

/// The parameter that a name in a template is of.
fn parameter<'n>(known: &BTreeMap<&str, &Value>, name: &'n str) -> Option<&'n str> {
    let first = name.split('.').next().unwrap_or(name);
    [name, first].into_iter().find(|name| known.contains_key(*name))
}
