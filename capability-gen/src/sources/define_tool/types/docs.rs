//! Documentation from JSDoc comments.

use serde_json::{Value, json};

/// Adds a comment to a schema: its description, and whether it is deprecated.
pub(in crate::sources::define_tool) fn describe(schema: &mut Value, comment: Option<&str>) {
    let (Some(comment), Value::Object(schema)) = (comment, schema) else { return };
    let mut description = String::new();
    let mut in_description = true;
    for line in comment.trim_start_matches('*').lines() {
        let line = line.trim();
        let line = line.strip_prefix('*').unwrap_or(line).trim();
        if let Some(tag) = line.strip_prefix('@') {
            let (tag, text) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
            in_description = tag == "description";
            if tag == "deprecated" {
                schema.insert("deprecated".to_owned(), json!(true));
            }
            if !in_description {
                continue;
            }
            description.push_str(text.trim());
        } else if in_description {
            description.push_str(line);
        }
        description.push('\n');
    }
    let description = description.trim();
    if !description.is_empty() {
        schema.insert("description".to_owned(), json!(description));
    }
}
