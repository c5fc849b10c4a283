//! Comparison of JSON Schemas: differences in meaning and in prose.

use super::difference::{Differences, step};
use serde_json::Value;

/// Keywords of a schema that are prose.
const PROSE: [&str; 4] = ["description", "title", "examples", "$comment"];
/// Keywords whose members are named schemas: the names are not keywords.
const NAMED_SCHEMAS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
/// Keywords that hold a schema or a list of schemas.
const SCHEMAS: [&str; 16] = [
    "items",
    "additionalItems",
    "prefixItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "contentSchema",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
];
/// Keywords whose lists are sets.
const SETS: [&str; 3] = ["required", "enum", "type"];

/// Differences of two schemas.
#[derive(Default)]
pub(super) struct SchemaDifferences {
    /// Differences in meaning. Everything under an unknown keyword counts as meaning.
    pub(super) meaning: Differences,
    /// Differences in prose.
    pub(super) prose: Differences,
}

/// Kind of value at a position in a schema.
#[derive(Clone, Copy)]
enum Place {
    Schema,
    NamedSchemas,
    Set,
    Data,
}

impl SchemaDifferences {
    /// Adds the differences of two schemas. Either may be absent.
    pub(super) fn add(&mut self, pointer: &str, before: Option<&Value>, now: Option<&Value>) {
        self.walk(pointer, before, now, Place::Schema);
    }

    fn walk(&mut self, pointer: &str, before: Option<&Value>, now: Option<&Value>, place: Place) {
        match (before, now) {
            (Some(before), Some(now)) if before == now => {}
            (None, None) => {}
            (Some(Value::Object(old)), Some(Value::Object(new))) => {
                let added = new.keys().filter(|key| !old.contains_key(*key));
                for key in old.keys().chain(added) {
                    let (before, now) = (old.get(key), new.get(key));
                    let pointer = step(pointer, key);
                    match place.of(key) {
                        Some(place) => self.walk(&pointer, before, now, place),
                        None if before != now => self.prose.push(&pointer, before, now),
                        None => {}
                    }
                }
            }
            (Some(Value::Array(old)), Some(Value::Array(new))) => match place {
                Place::Set if is_same_set(old, new) => {}
                Place::Schema if old.len() == new.len() => {
                    for (index, (before, now)) in old.iter().zip(new).enumerate() {
                        self.walk(&step(pointer, &index.to_string()), Some(before), Some(now), place);
                    }
                }
                _ => self.meaning.push(pointer, before, now),
            },
            _ => self.meaning.push(pointer, before, now),
        }
    }
}

impl Place {
    /// Returns the kind of value under a key, or `None` if it is prose.
    fn of(self, key: &str) -> Option<Place> {
        match self {
            Place::Schema if PROSE.contains(&key) => None,
            Place::Schema if NAMED_SCHEMAS.contains(&key) => Some(Place::NamedSchemas),
            Place::Schema if SCHEMAS.contains(&key) => Some(Place::Schema),
            Place::Schema if SETS.contains(&key) => Some(Place::Set),
            Place::NamedSchemas => Some(Place::Schema),
            Place::Schema | Place::Set | Place::Data => Some(Place::Data),
        }
    }
}

fn is_same_set(one: &[Value], other: &[Value]) -> bool {
    let sorted = |items: &[Value]| {
        let text = |item: &Value| {
            let mut item = item.clone();
            item.sort_all_objects();
            item.to_string()
        };
        let mut texts: Vec<String> = items.iter().map(text).collect();
        texts.sort_unstable();
        texts
    };
    one.len() == other.len() && sorted(one) == sorted(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn differences(before: Value, now: Value) -> (String, String) {
        let mut found = SchemaDifferences::default();
        found.add("", Some(&before), Some(&now));
        (found.meaning.to_string(), found.prose.to_string())
    }

    fn same() -> (String, String) {
        Default::default()
    }

    #[test]
    fn the_order_of_sets_is_ignored() {
        let before = json!({
            "type": ["string", "null"],
            "enum": [1, {"a": 1, "b": 2}],
            "required": ["a", "b"],
            "default": {"x": 1, "y": 2},
        });
        let now = json!({
            "required": ["b", "a"],
            "default": {"y": 2, "x": 1},
            "enum": [{"b": 2, "a": 1}, 1],
            "type": ["null", "string"],
        });
        assert_eq!(differences(before, now), same());
        let (meaning, _) = differences(json!({"default": [1, 2]}), json!({"default": [2, 1]}));
        assert_eq!(meaning, "/default: [1,2] → [2,1]");
    }

    #[test]
    fn prose_is_separate_from_meaning() {
        let before =
            json!({"description": "a", "items": {"anyOf": [{"title": "x"}, true]}, "$defs": {"d": {"examples": [1]}}});
        let now = json!({"description": "b", "items": {"anyOf": [{"$comment": "y"}, true]}, "$defs": {"d": {}}});
        let (meaning, prose) = differences(before, now);
        assert_eq!(meaning, "");
        let expected = "/description: \"a\" → \"b\", /items/anyOf/0/title: gone: \"x\", \
                        /items/anyOf/0/$comment: new: \"y\", /$defs/d/examples: gone: [1]";
        assert_eq!(prose, expected);
    }

    #[test]
    fn a_property_named_description_is_not_prose() {
        let before = json!({"properties": {"description": {"type": "string"}, "title": {"type": "string"}}});
        let now = json!({"properties": {"description": {"type": "number"}}});
        let (meaning, prose) = differences(before, now);
        let expected =
            "/properties/description/type: \"string\" → \"number\", /properties/title: gone: {\"type\":\"string\"}";
        assert_eq!((meaning.as_str(), prose.as_str()), (expected, ""));
    }

    #[test]
    fn text_in_data_and_unknown_keywords_is_meaning() {
        for keyword in ["default", "const", "x-unknown"] {
            let (meaning, prose) = differences(json!({keyword: {"title": "a"}}), json!({keyword: {"title": "b"}}));
            assert_eq!((meaning, prose), (format!("/{keyword}/title: \"a\" → \"b\""), String::new()));
        }
    }

    #[test]
    fn lists_of_different_length_are_one_difference() {
        let (meaning, _) = differences(json!({"required": ["a"]}), json!({"required": ["a", "b"]}));
        assert_eq!(meaning, "/required: [\"a\"] → [\"a\",\"b\"]");
        let (meaning, _) = differences(json!({"anyOf": [{}]}), json!({"anyOf": [{}, true]}));
        assert_eq!(meaning, "/anyOf: [{}] → [{},true]");
    }

    #[test]
    fn an_added_or_removed_schema_is_a_difference() {
        let mut found = SchemaDifferences::default();
        found.add("/outputSchema", None, Some(&json!(true)));
        found.add("/inputSchema", None, None);
        assert_eq!(found.meaning.to_string(), "/outputSchema: new: true");
    }
}
