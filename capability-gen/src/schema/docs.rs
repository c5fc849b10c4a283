//! Documentation of a schema: description, default, and a summary of its constraints.

use super::limits::MAX_LIMIT_TEXT;
use super::normal::Normal;
use crate::model::Docs;
use serde_json::{Map, Value};

/// Documentation of a schema. `is_named` is set if it refers to a named type, which has documentation of its own.
pub(super) fn docs(schema: &Value, normal: &Normal, is_named: bool) -> Docs {
    let resolved = if is_named { schema } else { normal.resolve(schema) };
    let sources = [schema, resolved];
    let text = |keyword: &str| sources.iter().find_map(|source| source.get(keyword));
    Docs {
        description: text("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
        default: text("default").cloned(),
        limits: resolved.as_object().map(limits).unwrap_or_default(),
        is_deprecated: text("deprecated") == Some(&Value::Bool(true)),
    }
}

/// `1 to 100`, `at most 20 items`, `pattern: ^[a-z]+$`
fn limits(map: &Map<String, Value>) -> Vec<String> {
    let mut out = Vec::new();
    let (least, above) = (map.get("minimum"), map.get("exclusiveMinimum"));
    let (most, below) = (map.get("maximum"), map.get("exclusiveMaximum"));
    match (least, most) {
        (Some(least), Some(most)) => out.push(format!("{least} to {most}")),
        (Some(least), None) => out.push(format!("minimum {least}")),
        (None, Some(most)) => out.push(format!("maximum {most}")),
        (None, None) => {}
    }
    out.extend(above.map(|bound| format!("above {bound}")));
    out.extend(below.map(|bound| format!("below {bound}")));
    out.extend(map.get("multipleOf").map(|step| format!("multiple of {step}")));
    let size = |least: &str, most: &str| match (map.get(least), map.get(most)) {
        (Some(least), Some(most)) if least == most => Some(format!("exactly {least}")),
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) if *least == 0 => None,
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (None, None) => None,
    };
    out.extend(size("minLength", "maxLength").map(|size| format!("length {size}")));
    out.extend(size("minItems", "maxItems").map(|size| format!("{size} items")));
    out.extend(size("minProperties", "maxProperties").map(|size| format!("{size} members")));
    if map.contains_key("uniqueItems") {
        out.push("no item twice".to_owned());
    }
    for keyword in ["format", "pattern"] {
        let text = map.get(keyword).and_then(Value::as_str).filter(|text| text.chars().count() <= MAX_LIMIT_TEXT);
        out.extend(text.map(|text| format!("{keyword}: {text}")));
    }
    out
}
