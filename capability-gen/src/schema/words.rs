//! The names that people give to JSON's types.

/// What a type name was read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A JSON Schema type, spelt as it should be.
    Exact(&'static str),
    /// A JSON Schema type by another name.
    Other(&'static str),
    /// Anything at all.
    Any,
    /// Nobody's type.
    Unknown,
}

/// The longest name of an array's type that is read: as deep as anybody nests them.
const MAX_NAME_BYTES: usize = 64;

/// The types of JSON Schema.
pub(super) const TYPES: &[&str] = &["string", "integer", "number", "boolean", "array", "object", "null"];

/// Reads a type name: JSON Schema's own, or Python's, TypeScript's, a database's, or one in capitals.
pub(super) fn type_word(name: &str) -> Word {
    if let Some(exact) = TYPES.iter().find(|exact| **exact == name) {
        return Word::Exact(exact);
    }
    let lower = name.trim().to_ascii_lowercase();
    if let Some(exact) = TYPES.iter().find(|exact| **exact == lower) {
        return Word::Other(exact);
    }
    match lower.as_str() {
        "str" | "text" | "char" | "varchar" | "uuid" | "uri" | "url" | "date" | "datetime" | "date-time" | "time"
        | "timestamp" | "email" | "file" | "binary" | "bytes" => Word::Other("string"),
        "int" | "int32" | "int64" | "long" | "bigint" => Word::Other("integer"),
        "float" | "double" | "decimal" | "float32" | "float64" | "numeric" => Word::Other("number"),
        "bool" => Word::Other("boolean"),
        "list" | "tuple" | "set" => Word::Other("array"),
        "dict" | "dictionary" | "map" | "record" | "struct" => Word::Other("object"),
        "none" | "nil" | "undefined" => Word::Other("null"),
        "any" | "unknown" | "mixed" | "json" | "*" | "" => Word::Any,
        _ => Word::Unknown,
    }
}

/// The schema that the type of an array in TypeScript or Python stands for: `string[]`, `Array<string>`, `list[str]`.
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
    let items = match type_word(items) {
        Word::Exact(name) | Word::Other(name) => format!("{{\"type\": \"{name}\"}}"),
        Word::Any => "{}".to_owned(),
        Word::Unknown => array_of(items)?,
    };
    Some(format!("{{\"type\": \"array\", \"items\": {items}}}"))
}

/// The JSON Schema type of a value. A whole number is an integer however it is written.
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

/// What a value is, for messages.
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

/// Whether a value of the type `actual` is one of the type `declared`.
pub(super) fn is_of(actual: &str, declared: &str) -> bool {
    actual == declared || (actual == "integer" && declared == "number")
}
