//! Parser of templates, whose placeholders must be parameters of their function: a misspelt name would send or start
//! something else than intended.

use super::error::{SourceError, quoted};
use super::node::Node;
use crate::names::nearest;
use crate::template::{Template, placeholder};
use serde_json::{Map, Value};

/// Maximum length of a template, path or argument. Servers accept URLs of about this size.
pub(super) const MAX_TEMPLATE_BYTES: usize = 8 * 1024;

/// Maximum size and depth of JSON whose strings are templates: it is rendered at every call.
const MAX_JSON_BYTES: usize = 64 * 1024;
const MAX_JSON_DEPTH: usize = 32;

/// Maximum number of steps of a name such as `customer.address.city`.
const MAX_NAME_STEPS: usize = 16;

/// Maximum number of references and combined schemas followed to find a parameter.
const MAX_STEPS: usize = 64;

/// The parameters of a function, by their schema.
pub(super) struct Parameters<'a>(&'a Value);

impl<'a> Parameters<'a> {
    pub(super) fn of(schema: &'a Value) -> Parameters<'a> {
        Parameters(schema)
    }

    /// No parameters.
    pub(super) fn none() -> Parameters<'static> {
        Parameters(&Value::Null)
    }

    /// Parses a template.
    pub(super) fn template(&self, node: &Node<'_>, text: &str) -> Result<Template, SourceError> {
        if text.len() > MAX_TEMPLATE_BYTES {
            let message = format!("this has {} bytes, more than {MAX_TEMPLATE_BYTES}", text.len());
            return Err(node.error(message, "Shorten it."));
        }
        let template = Template::parse(text).map_err(|error| {
            let fix = "Write {{name}} for a parameter; literal double braces are not possible here.";
            node.error(error.to_string(), fix)
        })?;
        if let Some(unknown) = template.parameters().find(|name| !self.has(name)) {
            return Err(self.unknown(node, unknown));
        }
        Ok(template)
    }

    /// Parses a template of a URL, whose parameters must always be present.
    pub(super) fn given_template(&self, node: &Node<'_>, text: &str) -> Result<Template, SourceError> {
        let template = self.template(node, text)?;
        if let Some(name) = template.parameters().find(|name| !self.is_always_given(name)) {
            let message = format!("the parameter {} is in the URL and may be absent", quoted(name));
            return Err(node.error(message, "Make it required, or give it a default."));
        }
        Ok(template)
    }

    /// Checks that every string of a JSON value is a template.
    pub(super) fn check_json(&self, node: &Node<'_>) -> Result<(), SourceError> {
        if node.value.to_string().len() > MAX_JSON_BYTES {
            return Err(node.error(format!("this has more than {MAX_JSON_BYTES} bytes"), "Shorten it."));
        }
        self.check_part(node, 0)
    }

    fn check_part(&self, node: &Node<'_>, depth: usize) -> Result<(), SourceError> {
        if depth > MAX_JSON_DEPTH {
            return Err(node.error(format!("this is nested more than {MAX_JSON_DEPTH} deep"), "Flatten it."));
        }
        if let Value::String(text) = node.value {
            self.template(node, text)?;
        }
        let inner = node.members().map(|(_, node)| node).chain(node.items());
        inner.into_iter().try_for_each(|node| self.check_part(&node, depth + 1))
    }

    fn unknown(&self, node: &Node<'_>, name: &str) -> SourceError {
        let known = properties(self.0, self.0);
        let fix = match nearest(name, known.iter().map(|(name, _)| *name)) {
            Some(near) => format!("Did you mean {}?", placeholder(near)),
            None if known.is_empty() => "There are no parameters here: write a text without placeholders.".to_owned(),
            None => "Name one of the function's parameters, or add it to them.".to_owned(),
        };
        node.error(format!("the function has no parameter {}", quoted(name)), fix)
    }

    /// Returns true if the schema has a property of this name; a name with a dot is a nested property. Properties that
    /// declare no members may have any.
    fn has(&self, name: &str) -> bool {
        let has = |schema: &Value, name: &str| properties(self.0, schema).iter().any(|(known, _)| *known == name);
        if has(self.0, name) {
            return true;
        }
        if name.split('.').count() > MAX_NAME_STEPS {
            return false;
        }
        let mut schemas = vec![self.0];
        for (depth, part) in name.split('.').enumerate() {
            let known: Vec<(&str, &Value)> = schemas.iter().flat_map(|schema| properties(self.0, schema)).collect();
            if known.is_empty() && depth > 0 {
                return true;
            }
            schemas = known.iter().filter(|(known, _)| *known == part).map(|(_, schema)| *schema).collect();
            // Several references may lead to one schema, and each step of the name would multiply them.
            schemas.sort_unstable_by_key(|schema| std::ptr::from_ref::<Value>(schema));
            schemas.dedup_by_key(|schema| std::ptr::from_ref::<Value>(schema));
            if schemas.is_empty() {
                return false;
            }
        }
        true
    }

    /// Returns true if the parameter of this name is required or has a default.
    fn is_always_given(&self, name: &str) -> bool {
        let known = properties(self.0, self.0);
        let of = |name: &str| known.iter().filter(|(known, _)| *known == name).map(|(_, schema)| *schema).collect();
        let whole: Vec<&Value> = of(name);
        let (name, schemas) = match whole.is_empty() {
            false => (name, whole),
            true => {
                let first = name.split('.').next().unwrap_or(name);
                (first, of(first))
            }
        };
        let has_default = schemas.iter().any(|schema| schema.get("default").is_some());
        has_default || parts(self.0, self.0, &["allOf"]).iter().any(|schema| requires(schema, name))
    }
}

fn requires(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|each| each == name))
}

/// The properties of a schema, including those of its references and combinations.
fn properties<'a>(root: &'a Value, schema: &'a Value) -> Vec<(&'a str, &'a Value)> {
    let own = |schema: &'a Value| schema.get("properties").and_then(Value::as_object);
    let all = parts(root, schema, &["allOf", "anyOf", "oneOf"]);
    let all = all.into_iter().filter_map(own).flat_map(Map::iter);
    all.map(|(name, schema)| (name.as_str(), schema)).collect()
}

/// A schema and its parts in these combinations, including references.
fn parts<'a>(root: &'a Value, schema: &'a Value, combinations: &[&str]) -> Vec<&'a Value> {
    let mut found: Vec<&'a Value> = Vec::new();
    let mut waiting = vec![schema];
    for _ in 0..MAX_STEPS {
        let Some(schema) = waiting.pop() else { break };
        if found.iter().any(|known| std::ptr::eq(*known, schema)) {
            continue;
        }
        found.push(schema);
        for key in combinations {
            waiting.extend(schema.get(key).and_then(Value::as_array).into_iter().flatten());
        }
        let reference = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
        waiting.extend(reference.and_then(|pointer| root.pointer(pointer)));
    }
    found
}
