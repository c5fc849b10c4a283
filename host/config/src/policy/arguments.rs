//! Argument constraints (`arguments` of a function rule).

use super::super::error::quoted;
use super::super::reader::{Node, Result};
use agent_spaces_policy::{ArgumentPath, Constraint, TextKind, TextPattern};
use serde_json::{Number, Value};

const KEYS: &[&str] = &["matches", "address", "repository", "path", "not", "oneOf", "min", "max", "optional"];

/// Reads the `arguments` object: constraints by argument path.
pub(super) fn read(node: Node<'_>) -> Result<Vec<(ArgumentPath, Constraint)>> {
    let constraints = node.map("an object of constraints", |name, node| {
        let path = ArgumentPath::parse(name).map_err(|error| node.error(format!("{} is {error}", quoted(name))))?;
        Ok((path, constraint(node)?))
    })?;
    Ok(constraints.into_values().collect())
}

fn constraint(node: Node<'_>) -> Result<Constraint> {
    let object = node.object("a constraint", KEYS)?;
    let mut named = Vec::new();
    for kind in TextKind::ALL {
        named.extend(object.read(kind.key(), patterns)?.map(|patterns| (kind, patterns)));
    }
    let constraint = Constraint {
        matches: object.read("matches", patterns)?,
        named,
        not: object.read("not", patterns)?.unwrap_or_default(),
        one_of: object.read("oneOf", |node| node.list("a list of values", value))?,
        min: object.read("min", number)?,
        max: object.read("max", number)?,
        optional: object.read("optional", |node| node.flag())?.unwrap_or_default(),
    };
    constraint.validate().map_err(|error| node.error(error.to_string()))?;
    Ok(constraint)
}

/// Reads one pattern, or a list of them.
fn patterns(node: Node<'_>) -> Result<Vec<TextPattern>> {
    match node.value {
        Value::Array(items) if items.is_empty() => Err(node.error("the list of patterns is empty")),
        Value::Array(_) => node.list("a list of patterns", pattern),
        _ => Ok(vec![pattern(node)?]),
    }
}

fn pattern(node: Node<'_>) -> Result<TextPattern> {
    let text = node.filled_text("a pattern, such as \"acme/*\"")?;
    TextPattern::parse(text).map_err(|error| node.error(format!("{}: {error}", quoted(text))))
}

fn value(node: Node<'_>) -> Result<Value> {
    match node.value {
        Value::Array(_) | Value::Object(_) => Err(node.expected("a text, a number, `true`, `false` or null")),
        value => Ok(value.clone()),
    }
}

fn number(node: Node<'_>) -> Result<Number> {
    match node.value {
        Value::Number(number) => Ok(number.clone()),
        _ => Err(node.expected("a number")),
    }
}
