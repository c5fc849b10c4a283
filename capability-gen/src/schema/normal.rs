//! Normalization of JSON Schema dialects: each keyword gets its 2020-12 meaning and a well-formed value.
//!
//! A schema of the normal form is `false` or an object. `$ref` holds a definition's bare name. Titles, descriptions,
//! defaults and deprecations are kept; unknown keywords are dropped.

use super::document::{Document, ROOT, Reference};
use super::limits::MAX_DEPTH;
use super::notes::{Notes, Path};
use super::patterns::Patterns;
use super::type_names::{TypeName, article, is_of, parse_type_name, type_of};
use super::{keywords, lint, object};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// A schema and the definitions it refers to.
#[derive(Debug)]
pub(super) struct Normal {
    pub(super) root: Value,
    pub(super) definitions: Map<String, Value>,
}

impl Normal {
    /// The target of a reference.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        if key == ROOT { Some(&self.root) } else { self.definitions.get(key) }
    }

    /// Follows references without other constraints beside them, a bounded number of times.
    pub(super) fn resolve<'a>(&'a self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..=self.definitions.len() {
            let Some(map) = schema.as_object() else { break };
            let Some(key) = map.get("$ref").and_then(Value::as_str) else { break };
            if keywords::constrains_beyond(map, &["$ref"]) {
                break;
            }
            let Some(target) = self.get(key) else { break };
            schema = target;
        }
        schema
    }
}

/// Reads a document into the normal form.
pub(super) fn read(document: &Document<'_>, patterns: &mut Patterns, notes: &mut Notes<'_>) -> Normal {
    let mut reader = Reader { document, patterns, notes };
    let root = reader.content(document.root, &Path::Root, 0);
    let mut definitions = Map::new();
    for (name, target) in &document.targets {
        if name != ROOT {
            let folder = Path::Key(&Path::Root, "$defs");
            definitions.insert(name.clone(), reader.content(target, &Path::Key(&folder, name), 0));
        }
    }
    Normal { root, definitions }
}

/// Reads the schemas of one document.
pub(super) struct Reader<'a, 'd, 'n> {
    document: &'a Document<'d>,
    patterns: &'a mut Patterns,
    pub(super) notes: &'a mut Notes<'n>,
}

impl Reader<'_, '_, '_> {
    /// Reads a schema; a schema that is referenced elsewhere becomes a reference.
    pub(super) fn schema(&mut self, raw: &Value, path: &Path<'_>, depth: usize) -> Value {
        match self.document.key(raw) {
            Some(key) => json!({ "$ref": key }),
            None => self.content(raw, path, depth),
        }
    }

    fn content(&mut self, raw: &Value, path: &Path<'_>, depth: usize) -> Value {
        if depth > MAX_DEPTH {
            self.notes.add(path, format!("nested more than {MAX_DEPTH} schemas deep: read as any value"));
            return json!({});
        }
        match raw {
            Value::Bool(true) => json!({}),
            Value::Bool(false) => Value::Bool(false),
            Value::Object(map) => self.object(raw, map, path, depth),
            Value::String(word) if matches!(parse_type_name(word), TypeName::Exact(_) | TypeName::Other(_)) => {
                self.notes.add(path, format!("read as {{\"type\": {word:?}}}"));
                let mut out = Map::new();
                self.types(raw, &mut out, path);
                Value::Object(out)
            }
            Value::String(_) => {
                lint::unknown_type(raw, path, self.notes);
                json!({})
            }
            _ => {
                let message = format!("a schema is an object, not {}", article(raw));
                self.notes.mistake_as_any(path, message, "write one, such as {\"type\": \"string\"}".to_owned());
                json!({})
            }
        }
    }

    fn object(&mut self, raw: &Value, map: &Map<String, Value>, path: &Path<'_>, depth: usize) -> Value {
        let mut out = Map::new();
        lint::unknown_keywords(map, path, self.notes);
        lint::bare_members(map, path, self.notes);
        for keyword in ["title", "description"] {
            if let Some(text @ Value::String(_)) = map.get(keyword) {
                out.insert(keyword.to_owned(), text.clone());
            }
        }
        if map.get("deprecated") == Some(&Value::Bool(true)) {
            out.insert("deprecated".to_owned(), Value::Bool(true));
        }
        match self.document.reference(raw) {
            Some(Reference::To(number)) => {
                let name = self.document.name(*number).unwrap_or(ROOT);
                out.insert("$ref".to_owned(), name.into());
            }
            Some(Reference::Nowhere(text)) => {
                lint::unresolved_reference(text, self.document.root, path, self.notes);
            }
            None => {}
        }
        if let Some(declared) = map.get("type") {
            self.types(declared, &mut out, path);
        }
        self.values(map, &mut out, path);
        self.numbers(map, &mut out, path);
        self.strings(map, &mut out, path);
        self.arrays(map, &mut out, path, depth);
        object::read(self, map, &mut out, path, depth);
        lint::crossed_bounds(&out, path, self.notes);
        self.composition(map, &mut out, path, depth);
        if let Some(default) = map.get("default") {
            out.insert("default".to_owned(), default.clone());
        }
        let is_nullable =
            ["nullable", "x-nullable"].iter().any(|keyword| map.get(*keyword) == Some(&Value::Bool(true)));
        imply_type(&mut out);
        if is_nullable {
            return nullable(out);
        }
        if is_impossible(&out) { Value::Bool(false) } else { Value::Object(out) }
    }

    fn types(&mut self, declared: &Value, out: &mut Map<String, Value>, path: &Path<'_>) {
        let words: Vec<&Value> = match declared {
            Value::Array(list) => list.iter().collect(),
            one => vec![one],
        };
        let mut types: Vec<&'static str> = Vec::new();
        for word in &words {
            match word.as_str().map(parse_type_name) {
                Some(TypeName::Exact(name)) => types.push(name),
                Some(TypeName::Other(name)) => {
                    self.notes.add(path, format!("type {word} read as \"{name}\""));
                    types.push(name);
                }
                Some(TypeName::Any) => return,
                Some(TypeName::Unknown) | None => {
                    lint::unknown_type(word, path, self.notes);
                    return;
                }
            }
        }
        let mut seen = HashSet::new();
        types.retain(|name| seen.insert(*name));
        if types.contains(&"number") {
            types.retain(|name| *name != "integer");
        }
        match types.as_slice() {
            [] => self.notes.add(path, "empty list of types: read as any value"),
            [one] => drop(out.insert("type".to_owned(), (*one).into())),
            several => drop(out.insert("type".to_owned(), json!(several))),
        }
    }

    fn values(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>, path: &Path<'_>) {
        if let Some(value) = map.get("const") {
            out.insert("const".to_owned(), value.clone());
        }
        match map.get("enum") {
            None => {}
            Some(Value::Array(values)) if !values.is_empty() => {
                let mut seen = HashSet::new();
                let distinct = values.iter().filter(|value| seen.insert(canonical(value)));
                let allowed: Vec<Value> = distinct.cloned().collect();
                let types = types_of(out);
                let fits =
                    |value: &Value| types.is_empty() || types.iter().any(|declared| is_of(type_of(value), declared));
                if allowed.iter().any(fits) {
                    out.insert("enum".to_owned(), Value::Array(allowed));
                } else {
                    self.notes.add(path, "`enum` left out: none of its values is of the schema's type");
                }
            }
            Some(Value::Array(_)) => self.notes.add(path, "empty `enum` left out: no value would be valid"),
            Some(_) => self.notes.add(path, "`enum` left out: not a list"),
        }
    }

    fn numbers(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>, path: &Path<'_>) {
        for (inclusive, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            let limit = self.number(map, inclusive, path);
            match (map.get(exclusive), limit) {
                // Draft 4 and OpenAPI 3.0.
                (Some(Value::Bool(true)), Some(limit)) => drop(out.insert(exclusive.to_owned(), limit)),
                (Some(Value::Bool(_)) | None, Some(limit)) => drop(out.insert(inclusive.to_owned(), limit)),
                (Some(Value::Bool(_)) | None, None) => {}
                (Some(_), limit) => {
                    if let Some(limit) = limit {
                        out.insert(inclusive.to_owned(), limit);
                    }
                    if let Some(bound) = self.number(map, exclusive, path) {
                        out.insert(exclusive.to_owned(), bound);
                    }
                }
            }
        }
        if let Some(step) = self.number(map, "multipleOf", path) {
            if step.as_f64().is_some_and(|it| it > 0.0) {
                out.insert("multipleOf".to_owned(), step);
            } else {
                self.notes.add(path, "`multipleOf` left out: not above zero");
            }
        }
    }

    fn number(&mut self, map: &Map<String, Value>, keyword: &str, path: &Path<'_>) -> Option<Value> {
        let value = map.get(keyword)?;
        if !value.is_number() && !value.is_null() {
            self.notes.add(path, format!("`{keyword}` left out: {} is not a number", article(value)));
        }
        value.is_number().then(|| value.clone())
    }

    fn strings(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>, path: &Path<'_>) {
        self.counts(map, out, path, &["minLength", "maxLength"]);
        if let Some(format @ Value::String(_)) = map.get("format") {
            out.insert("format".to_owned(), format.clone());
        }
        // OpenAPI's equivalent.
        if map.get("contentEncoding").and_then(Value::as_str) == Some("base64") {
            out.insert("format".to_owned(), keywords::BASE64_FORMAT.into());
        }
        if let Some(pattern) = map.get("pattern") {
            match pattern.as_str() {
                Some(text) if self.is_pattern(text, path) => drop(out.insert("pattern".to_owned(), pattern.clone())),
                Some(_) => {}
                None => self.notes.add(path, "`pattern` left out: not a string"),
            }
        }
    }

    pub(super) fn is_pattern(&mut self, text: &str, path: &Path<'_>) -> bool {
        let is_pattern = self.patterns.is_pattern(text);
        if !is_pattern {
            self.notes.add(path, "pattern left out: invalid or unsupported regular expression");
        }
        is_pattern
    }

    fn arrays(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>, path: &Path<'_>, depth: usize) {
        self.counts(map, out, path, &["minItems", "maxItems"]);
        if map.get("uniqueItems") == Some(&Value::Bool(true)) {
            out.insert("uniqueItems".to_owned(), Value::Bool(true));
        }
        let (positions, rest) = match (map.get("prefixItems"), map.get("items")) {
            (_, Some(Value::Array(items))) => (Some(("items", items)), map.get("additionalItems")),
            (Some(Value::Array(items)), rest) => (Some(("prefixItems", items)), rest),
            (_, rest) => (None, rest),
        };
        if let Some((keyword, items)) = positions.filter(|(_, items)| !items.is_empty()) {
            let list = Path::Key(path, keyword);
            let items = items.iter().enumerate();
            let items = items.map(|(index, item)| self.schema(item, &Path::Index(&list, index), depth + 1)).collect();
            out.insert("prefixItems".to_owned(), Value::Array(items));
        }
        if let Some(rest) = rest {
            out.insert("items".to_owned(), self.schema(rest, &Path::Key(path, "items"), depth + 1));
        }
        if let Some(contains) = map.get("contains") {
            out.insert("contains".to_owned(), self.schema(contains, &Path::Key(path, "contains"), depth + 1));
            self.counts(map, out, path, &["minContains", "maxContains"]);
        }
        if let Some(rest) = map.get("unevaluatedItems") {
            out.insert("unevaluatedItems".to_owned(), self.schema(rest, path, depth + 1));
        }
    }

    pub(super) fn counts(
        &mut self,
        map: &Map<String, Value>,
        out: &mut Map<String, Value>,
        path: &Path<'_>,
        names: &[&str],
    ) {
        for keyword in names {
            let Some(value) = map.get(*keyword) else { continue };
            let whole =
                value.as_u64().or_else(|| value.as_f64().filter(|it| *it >= 0.0 && *it < 9e15).map(|it| it as u64));
            match whole {
                Some(count) => drop(out.insert((*keyword).to_owned(), count.into())),
                None if value.is_null() => {}
                None => self.notes.add(path, format!("`{keyword}` left out: {} is not a count", article(value))),
            }
        }
    }

    fn composition(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>, path: &Path<'_>, depth: usize) {
        for keyword in keywords::IN_PLACE_LIST {
            let step = Path::Key(path, keyword);
            match map.get(*keyword) {
                None => {}
                Some(Value::Array(parts)) if !parts.is_empty() => {
                    let parts = parts.iter().enumerate();
                    let parts = parts.map(|(index, part)| self.schema(part, &Path::Index(&step, index), depth + 1));
                    let parts: Vec<Value> = parts.collect();
                    out.insert((*keyword).to_owned(), Value::Array(parts));
                }
                Some(_) => self.notes.add(path, format!("`{keyword}` left out: not a list of schemas")),
            }
        }
        for keyword in keywords::IN_PLACE_ONE {
            let Some(part) = map.get(*keyword) else { continue };
            // `then` and `else` have no effect without `if`.
            if ["then", "else"].contains(keyword) && !map.contains_key("if") {
                continue;
            }
            out.insert((*keyword).to_owned(), self.schema(part, &Path::Key(path, keyword), depth + 1));
        }
    }
}

/// The types of a schema in normal form; empty if it allows all.
pub(super) fn types_of(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Canonical text: equal for values that are equal in JSON Schema.
pub(super) fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9e15 => (float as i64).to_string(),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// Returns true for `not: {}`, which allows no value.
fn is_impossible(schema: &Map<String, Value>) -> bool {
    schema.get("not").and_then(Value::as_object).is_some_and(|not| !keywords::constrains_beyond(not, &[]))
}

/// Infers the type of a schema without one: `properties` imply an object, `items` an array.
fn imply_type(schema: &mut Map<String, Value>) {
    let has = |schema: &Map<String, Value>, names: &[&str]| names.iter().any(|name| schema.contains_key(*name));
    if has(schema, &["type", "$ref", "enum", "const", "allOf", "anyOf", "oneOf", "not"]) {
        return;
    }
    if has(schema, &["properties", "additionalProperties", "patternProperties"]) {
        schema.insert("type".to_owned(), "object".into());
    } else if has(schema, &["items", "prefixItems"]) {
        schema.insert("type".to_owned(), "array".into());
    }
}

fn nullable(mut schema: Map<String, Value>) -> Value {
    let is_simple = !schema.contains_key("$ref") && keywords::in_place(&schema).next().is_none();
    if !is_simple {
        let mut outer = Map::new();
        for keyword in ["title", "description", "deprecated", "default"] {
            if let Some(value) = schema.shift_remove(keyword) {
                outer.insert(keyword.to_owned(), value);
            }
        }
        outer.insert("anyOf".to_owned(), json!([schema, { "type": "null" }]));
        return Value::Object(outer);
    }
    let mut types: Vec<Value> = types_of(&schema).into_iter().map(Value::from).collect();
    if !types.is_empty() && !types.contains(&json!("null")) {
        types.push("null".into());
        schema.insert("type".to_owned(), Value::Array(types));
    }
    if let Some(value) = schema.shift_remove("const") {
        schema.insert("enum".to_owned(), json!([value]));
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    Value::Object(schema)
}
