//! Templates, whose placeholders must be parameters of their function: a name that is none is a slip, which would send
//! or start something else than was meant.

use super::error::{SourceError, quoted};
use super::node::Node;
use crate::names::nearest;
use crate::template::{Template, placeholder};
use serde_json::{Map, Value};

/// The longest template, path or argument: a line of a person's, not a document. Servers take addresses of about this
/// size.
pub(super) const MAX_TEMPLATE_BYTES: usize = 8 * 1024;

/// The largest JSON whose texts are templates, and the deepest: it is walked through at every call.
const MAX_JSON_BYTES: usize = 64 * 1024;
const MAX_JSON_DEPTH: usize = 32;

/// The most steps of a name such as `customer.address.city`.
const MAX_NAME_STEPS: usize = 16;

/// How far references and combinations of schemas are followed to find a parameter.
const MAX_STEPS: usize = 64;

/// The parameters of a function, by their schema.
pub(super) struct Parameters<'a>(&'a Value);

impl<'a> Parameters<'a> {
    pub(super) fn of(schema: &'a Value) -> Parameters<'a> {
        Parameters(schema)
    }

    /// Where there is no parameter.
    pub(super) fn none() -> Parameters<'static> {
        Parameters(&Value::Null)
    }

    /// A text with parameters in it.
    pub(super) fn template(&self, node: &Node<'_>, text: &str) -> Result<Template, SourceError> {
        if text.len() > MAX_TEMPLATE_BYTES {
            let message = format!("this has {} bytes, more than {MAX_TEMPLATE_BYTES}", text.len());
            return Err(node.error(message, "Shorten it."));
        }
        let template = Template::parse(text).map_err(|error| {
            let fix = "Write {{name}} for a parameter; what has braces of its own cannot stand here.";
            node.error(error.to_string(), fix)
        })?;
        if let Some(unknown) = template.parameters().find(|name| !self.has(name)) {
            return Err(self.unknown(node, unknown));
        }
        Ok(template)
    }

    /// The same, with no parameter that may be absent: an address has no place for nothing.
    pub(super) fn given_template(&self, node: &Node<'_>, text: &str) -> Result<Template, SourceError> {
        let template = self.template(node, text)?;
        if let Some(name) = template.parameters().find(|name| !self.is_always_given(name)) {
            let message = format!("the parameter {} is in the address and may be absent", quoted(name));
            return Err(node.error(message, "Make it required, or give it a default."));
        }
        Ok(template)
    }

    /// That every text of a JSON value is a template.
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
            None if known.is_empty() => "There are no parameters here: write a text without one.".to_owned(),
            None => "Name one of the function's parameters, or add it to them.".to_owned(),
        };
        node.error(format!("the function has no parameter {}", quoted(name)), fix)
    }

    /// Whether the schema has a property of this name, or with a dot in it one inside another. What is inside a property
    /// that says nothing of its own members may be anything.
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
            // References can lead to one schema in many ways, and each step of the name would multiply them.
            schemas.sort_unstable_by_key(|schema| std::ptr::from_ref::<Value>(schema));
            schemas.dedup_by_key(|schema| std::ptr::from_ref::<Value>(schema));
            if schemas.is_empty() {
                return false;
            }
        }
        true
    }

    /// Whether the parameter that a name is of is required or has a default.
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

/// The properties of a schema, those of its references and combinations among them.
fn properties<'a>(root: &'a Value, schema: &'a Value) -> Vec<(&'a str, &'a Value)> {
    let own = |schema: &'a Value| schema.get("properties").and_then(Value::as_object);
    let all = parts(root, schema, &["allOf", "anyOf", "oneOf"]);
    let all = all.into_iter().filter_map(own).flat_map(Map::iter);
    all.map(|(name, schema)| (name.as_str(), schema)).collect()
}

/// A schema and all that it is combined of in these ways, references among them.
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
