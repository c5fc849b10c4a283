//! Type names: JSON Schema's own, and common aliases from other languages.

/// Parsed type name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeName {
    /// JSON Schema type.
    Exact(&'static str),
    /// Alias of a JSON Schema type.
    Other(&'static str),
    /// Any value.
    Any,
    /// Unknown type.
    Unknown,
}

/// Longest name of an array type that is parsed; bounds its nesting.
const MAX_NAME_BYTES: usize = 64;

/// The types of JSON Schema.
pub(super) const TYPES: &[&str] = &["string", "integer", "number", "boolean", "array", "object", "null"];

/// Parses a type name: JSON Schema's own, or an alias from Python, TypeScript or databases, in any case.
pub(super) fn parse_type_name(name: &str) -> TypeName {
    if let Some(exact) = TYPES.iter().find(|exact| **exact == name) {
        return TypeName::Exact(exact);
    }
    let lower = name.trim().to_ascii_lowercase();
    if let Some(exact) = TYPES.iter().find(|exact| **exact == lower) {
        return TypeName::Other(exact);
    }
    match lower.as_str() {
        "str" | "text" | "char" | "varchar" | "uuid" | "uri" | "url" | "date" | "datetime" | "date-time" | "time"
        | "timestamp" | "email" | "file" | "binary" | "bytes" => TypeName::Other("string"),
        "int" | "int32" | "int64" | "long" | "bigint" => TypeName::Other("integer"),
        "float" | "double" | "decimal" | "float32" | "float64" | "numeric" => TypeName::Other("number"),
        "bool" => TypeName::Other("boolean"),
        "list" | "tuple" | "set" => TypeName::Other("array"),
        "dict" | "dictionary" | "map" | "record" | "struct" => TypeName::Other("object"),
        "none" | "nil" | "undefined" => TypeName::Other("null"),
        "any" | "unknown" | "mixed" | "json" | "*" | "" => TypeName::Any,
        _ => TypeName::Unknown,
    }
}

/// Schema of an array type in TypeScript or Python notation: `string[]`, `Array<string>`, `list[str]`.
pub(crate) fn array_of(name: &str) -> Option<String> {
    let name = name.trim();
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let inside = |open: &str, close: char| Some(name.split_once(open)?.1.strip_suffix(close)?.trim());
    let starts = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    let items = match name.strip_suffix("[]") {
        Some(items) => items.trim(),
        None if starts(&["Array<", "ReadonlyArray<", "array<", "List<", "list<"]) => inside("<", '>')?,
        None if starts(&["list[", "List[", "array["]) => inside("[", ']')?,
        None => return None,
    };
    let items = match parse_type_name(items) {
        TypeName::Exact(name) | TypeName::Other(name) => format!("{{\"type\": \"{name}\"}}"),
        TypeName::Any => "{}".to_owned(),
        TypeName::Unknown => array_of(items)?,
    };
    Some(format!("{{\"type\": \"array\", \"items\": {items}}}"))
}

/// The JSON Schema type of a value. A whole number is an integer even if written as `1.0`.
pub(super) fn type_of(value: &serde_json::Value) -> &'static str {
    use serde_json::Value;
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() && number.as_f64().is_none_or(|it| it.fract() != 0.0) => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Kind of a value with its article, for messages.
pub(super) fn article(value: &serde_json::Value) -> &'static str {
    use serde_json::Value;
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Returns true if values of type `actual` are valid for type `declared`.
pub(super) fn is_of(actual: &str, declared: &str) -> bool {
    actual == declared || (actual == "integer" && declared == "number")
}
