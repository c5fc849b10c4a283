//! Format-preserving edits of a JSON file: everything else keeps its bytes, comments and order.

use super::error::ConfigError;
use super::{foreign, json_text};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

/// Edit of a JSON file. Keys lead from the root to a member of an object.
#[derive(Clone)]
pub enum JsonChange {
    /// Removes an existing member.
    Remove(Vec<String>),
    /// Adds a new member. Missing objects on the way to it are created.
    Add(Vec<String>, Value),
    /// Appends an item to a list, which is created if missing.
    Push(Vec<String>, Value),
}

/// Applies changes to a text, which may have comments and trailing commas.
///
/// The result is parsed again and compared with the expected value; a difference is an error.
pub fn edit_json(file: &str, text: &str, changes: &[JsonChange]) -> Result<String, ConfigError> {
    let refuse = |message: &str| ConfigError::of_text(file, None, message);
    let (mark, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    // Bounds the depth too.
    let mut expected = json_text::read(file, &foreign::to_json(body))?;
    let root = CstRootNode::parse(body, &ParseOptions::default()).map_err(|_| refuse("it cannot be edited"))?;
    let object = root.object_value().ok_or_else(|| refuse("it is not an object"))?;
    for change in changes {
        let is_done = apply(&object, change) && expect(&mut expected, change);
        if !is_done {
            return Err(refuse("the value to change is missing or has another type"));
        }
    }
    let edited = root.to_string();
    if json_text::read(file, &foreign::to_json(&edited)).ok() != Some(expected) {
        return Err(refuse("it cannot be edited without changing something else"));
    }
    Ok(format!("{mark}{edited}"))
}

/// Applies a change to the syntax tree; returns false if it does not apply.
fn apply(root: &CstObject, change: &JsonChange) -> bool {
    let (JsonChange::Remove(keys) | JsonChange::Add(keys, _) | JsonChange::Push(keys, _)) = change;
    let Some((last, above)) = keys.split_last() else { return false };
    let mut object = root.clone();
    for key in above {
        let inner = match change {
            JsonChange::Remove(_) => object.object_value(key),
            JsonChange::Add(..) | JsonChange::Push(..) => object.object_value_or_create(key),
        };
        let Some(inner) = inner else { return false };
        object = inner;
    }
    match change {
        JsonChange::Remove(_) => object.get(last).map(|member| member.remove()).is_some(),
        JsonChange::Add(_, value) => {
            let is_new = object.get(last).is_none();
            if is_new {
                object.append(last, input(value));
            }
            is_new
        }
        JsonChange::Push(_, value) => {
            object.array_value_or_create(last).map(|list| drop(list.append(input(value)))).is_some()
        }
    }
}

/// Applies the same change to the expected value.
fn expect(root: &mut Value, change: &JsonChange) -> bool {
    let (JsonChange::Remove(keys) | JsonChange::Add(keys, _) | JsonChange::Push(keys, _)) = change;
    let Some((last, above)) = keys.split_last() else { return false };
    let mut value = root;
    for key in above {
        let Some(members) = value.as_object_mut() else { return false };
        value = members.entry(key.as_str()).or_insert_with(|| Value::Object(Map::new()));
    }
    let Some(members) = value.as_object_mut() else { return false };
    match change {
        JsonChange::Remove(_) => members.shift_remove(last).is_some(),
        JsonChange::Add(_, value) => members.insert(last.clone(), value.clone()).is_none(),
        JsonChange::Push(_, value) => {
            let list = members.entry(last.as_str()).or_insert_with(|| Value::Array(Vec::new()));
            list.as_array_mut().map(|list| list.push(value.clone())).is_some()
        }
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::json_edit::{JsonChange, edit_json};
    use serde_json::{Value, json};

    fn keys(keys: &[&str]) -> Vec<String> {
        keys.iter().map(|key| (*key).to_owned()).collect()
    }

    fn remove(path: &[&str]) -> JsonChange {
        JsonChange::Remove(keys(path))
    }

    fn add(path: &[&str], value: Value) -> JsonChange {
        JsonChange::Add(keys(path), value)
    }

    const THEIRS: &str = "\u{feff}{\r\n\t// mine\r\n\t\"theme\" : \"dark\",\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {\"command\": \"x\"},\r\n\t\t/* keep */\r\n\t\t\"b\": {},\r\n\t},\r\n\t\"n\": [1,2,  1.50],\r\n}\r\n";

    #[test]
    fn unchanged_parts_keep_their_bytes() {
        let edited = edit_json("f", THEIRS, &[remove(&["mcpServers", "a"])]).unwrap();
        assert_eq!(edited, THEIRS.replace("\t\t\"a\": {\"command\": \"x\"},\r\n", ""));
        let ours = json!({ "command": "/a b/\"c\"\u{1}", "args": ["mcp", "serve"] });
        let edited = edit_json("f", THEIRS, &[remove(&["mcpServers", "b"]), add(&["mcpServers", "us"], ours)]).unwrap();
        for kept in
            ["\u{feff}{\r\n\t// mine\r\n\t\"theme\" : \"dark\",", "/* keep */", "\t\"n\": [1,2,  1.50],\r\n}\r\n"]
        {
            assert!(edited.contains(kept), "{edited}");
        }
        assert!(edited.contains("\"us\": {\r\n\t\t\t\"command\": "), "{edited}");
    }

    #[test]
    fn all_members_can_be_removed_and_objects_and_lists_are_created() {
        let empty = edit_json(
            "f",
            r#"{"mcpServers":{"a":{},"b":[]},"x":1}"#,
            &[remove(&["mcpServers", "a"]), remove(&["mcpServers", "b"])],
        );
        assert_eq!(empty.unwrap(), r#"{"mcpServers":{},"x":1}"#);
        let push = JsonChange::Push(keys(&["capabilities", "global"]), "mcp:a".into());
        let made = edit_json("f", "{}", &[add(&["mcpServers", "a"], json!({})), push]).unwrap();
        let made: Value = serde_json::from_str(&made).unwrap();
        assert_eq!(made, json!({ "mcpServers": { "a": {} }, "capabilities": { "global": ["mcp:a"] } }));
    }

    #[test]
    fn changes_that_do_not_apply_are_refused() {
        for (text, change) in [
            ("{}", remove(&["a"])),
            ("{}", remove(&[])),
            ("{\"a\": 1}", remove(&["a", "b"])),
            ("{\"a\": []}", add(&["a", "b"], json!(1))),
            ("{\"a\": 1}", add(&["a"], json!(1))),
            ("{\"a\": {}}", JsonChange::Push(keys(&["a"]), json!(1))),
            ("[]", add(&["a"], json!(1))),
            ("", add(&["a"], json!(1))),
            ("{'a': 1}", remove(&["a"])),
            ("{\"a\": 1, \"a\": 2}", remove(&["a"])),
            ("{\"a\" 1}", remove(&["a"])),
        ] {
            assert!(edit_json("f", text, &[change]).is_err(), "{text}");
        }
        let deep = format!("{{\"a\": {}", "[".repeat(200_000));
        assert!(edit_json("f", &deep, &[remove(&["a"])]).is_err());
    }

    #[test]
    fn keys_are_compared_unescaped() {
        let edited = edit_json("f", r#"{ "\u0061": 1, "é": 2 }"#, &[remove(&["a"])]).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&edited).unwrap(), json!({ "é": 2 }));
    }
}
