//! Types of array items and object members.

use super::docs::docs;
use super::keywords::{BASE64_FORMAT, FILLED};
use super::notes::Path;
use super::types::Reader;
use super::unions::union;
use crate::model::{Direction, Docs, Field, Presence, Record, Rest, TAKES_BYTES, Type};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

impl Reader<'_, '_> {
    pub(super) fn array(&mut self, map: &Map<String, Value>, path: &Path<'_>, depth: usize) -> Type {
        let rest = map.get("items");
        let Some(Value::Array(positions)) = map.get("prefixItems") else {
            let item = rest.map_or(Type::Any, |item| self.ty(item, &Path::Key(path, "items"), depth + 1));
            return Type::List(Box::new(item));
        };
        let step = Path::Key(path, "prefixItems");
        let positions = positions.iter().enumerate();
        let items: Vec<Type> =
            positions.map(|(index, item)| self.ty(item, &Path::Index(&step, index), depth + 1)).collect();
        let count = |keyword: &str| map.get(keyword).and_then(Value::as_u64).and_then(|it| usize::try_from(it).ok());
        let required = count("minItems").unwrap_or(0).min(items.len());
        let is_full = count("maxItems").is_some_and(|most| most <= items.len());
        let rest = match rest {
            _ if is_full => Type::Never,
            Some(rest) => self.ty(rest, &Path::Key(path, "items"), depth + 1),
            None => Type::Any,
        };
        let rest = (rest != Type::Never).then(|| Box::new(rest));
        Type::Tuple { items, required, rest }
    }

    pub(super) fn object(&mut self, map: &Map<String, Value>, path: &Path<'_>, depth: usize) -> Type {
        let names = member_names(map);
        let members = map.get("properties").and_then(Value::as_object);
        let is_root = matches!(path, Path::Root) && self.direction == Direction::Params;
        let rest = self.rest(map, path, depth);
        let rest = match rest {
            Some(rest) => rest,
            None if self.direction == Direction::Params && (members.is_some_and(|it| !it.is_empty()) || is_root) => {
                Rest::Closed
            }
            None if self.direction == Direction::Result && !names.is_empty() => Rest::Undeclared,
            None => Rest::Declared(Box::new(Type::Any)),
        };
        if names.is_empty() {
            return match rest {
                Rest::Declared(ty) => Type::Map(ty),
                rest => Type::Record(Record { fields: Vec::new(), rest }),
            };
        }
        let step = Path::Key(path, "properties");
        let (required, filled) = (listed(map, "required"), listed(map, FILLED));
        let is_silent = self.direction == Direction::Result && !map.contains_key("required");
        let mut fields = Vec::with_capacity(names.len());
        for name in names {
            let anything = json!({});
            let schema = members.and_then(|members| members.get(name)).unwrap_or(&anything);
            let ty = self.ty(schema, &Path::Key(&step, name), depth + 1);
            let is_named = schema.get("$ref").is_some() && matches!(ty, Type::Named(_));
            let mut docs = docs(schema, self.normal, is_named);
            if self.direction == Direction::Params && is_base64(self.normal.resolve(schema)) {
                docs.limits.retain(|limit| !limit.starts_with("format: "));
                docs.limits.push(TAKES_BYTES.to_owned());
            }
            let presence = match required.contains(name) && !filled.contains(name) {
                true => Presence::Required,
                false if is_silent => Presence::Expected,
                false => Presence::Optional,
            };
            fields.push(Field { name: name.to_owned(), ty, presence, docs });
        }
        for name in self.conditional_names(map) {
            if fields.iter().all(|field| field.name != name) {
                let (ty, presence, docs) = (Type::Any, Presence::Optional, Docs::default());
                fields.push(Field { name, ty, presence, docs });
            }
        }
        Type::Record(Record { fields, rest })
    }

    /// Members named only in conditional subschemas such as `then`.
    fn conditional_names(&self, map: &Map<String, Value>) -> Vec<String> {
        let conditions = ["if", "then", "else"].into_iter().filter_map(|keyword| map.get(keyword));
        let dependent = map.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values);
        let mut names = Vec::new();
        for schema in conditions.chain(dependent) {
            if let Value::Object(resolved) = self.normal.resolve(schema) {
                names.extend(member_names(resolved).into_iter().map(str::to_owned));
            }
        }
        names.sort();
        names.dedup();
        names
    }

    /// Other members declared by the schema; `None` if it does not mention them.
    fn rest(&mut self, map: &Map<String, Value>, path: &Path<'_>, depth: usize) -> Option<Rest> {
        let keyword = ["additionalProperties", "unevaluatedProperties"].into_iter().find(|it| map.contains_key(*it));
        let others = keyword.and_then(|keyword| Some((keyword, map.get(keyword)?)));
        let others = others.map(|(keyword, schema)| self.ty(schema, &Path::Key(path, keyword), depth + 1));
        let Some(Value::Object(patterns)) = map.get("patternProperties") else {
            return others.map(|ty| if ty == Type::Never { Rest::Closed } else { Rest::Declared(Box::new(ty)) });
        };
        let step = Path::Key(path, "patternProperties");
        let is_all = |pattern: &String| ["", ".*", "^.*$", ".+", "^.+$", "^"].contains(&pattern.as_str());
        let has_all = patterns.keys().any(is_all);
        let mut types: Vec<Type> =
            patterns.iter().map(|(pattern, schema)| self.ty(schema, &Path::Key(&step, pattern), depth + 1)).collect();
        if !has_all {
            types.push(others.unwrap_or(Type::Any));
        }
        Some(Rest::Declared(Box::new(union(types))))
    }
}

/// The names in a keyword's list.
fn listed<'a>(map: &'a Map<String, Value>, keyword: &str) -> HashSet<&'a str> {
    map.get(keyword).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns true if a schema describes base64 text, possibly nullable.
fn is_base64(schema: &Value) -> bool {
    let is_text = |ty: &Value| ty == "string" || ty == "null";
    let is_text = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().all(is_text),
        ty => ty.is_some_and(is_text),
    };
    is_text && schema.get("format").and_then(Value::as_str) == Some(BASE64_FORMAT)
}

/// The members an object declares, and those it only requires.
pub(super) fn member_names(map: &Map<String, Value>) -> Vec<&str> {
    let members = map.get("properties").and_then(Value::as_object);
    let mut names: Vec<&str> = members.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let required = map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    names.extend(required.filter(|name| members.is_none_or(|members| !members.contains_key(*name))));
    names
}
