//! Tags of functions. They do not affect permissions.

use super::error::SourceError;
use super::node::Node;
use serde_json::Value;

/// Maximum number of tags of one function; each is in every list of functions.
const MAX_TAGS: usize = 64;

/// Maximum length of a tag: a word or a few.
const MAX_TAG_BYTES: usize = 128;

/// Parses the member `tags` of a definition in one of this project's formats.
pub(super) fn read(parent: &Node<'_>) -> Result<Vec<String>, SourceError> {
    let Some(node) = parent.get("tags") else { return Ok(Vec::new()) };
    let Some(items) = node.value.as_array() else { return Err(node.mistyped("\"tags\"", "an array of text")) };
    if items.len() > MAX_TAGS {
        let message = format!("{} tags, more than {MAX_TAGS}", items.len());
        return Err(node.error(message, "Keep the useful ones."));
    }
    for item in node.items() {
        let tag = item.text("a tag")?;
        if tag.trim().is_empty() || tag.len() > MAX_TAG_BYTES {
            let message = format!("a tag must have 1 to {MAX_TAG_BYTES} bytes, this one has {}", tag.trim().len());
            return Err(item.error(message, "Write a word, such as \"weather\"."));
        }
    }
    Ok(known(node.value))
}

/// Valid tags of a third-party document; invalid ones are ignored.
pub(super) fn known(value: &Value) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for tag in value.as_array().into_iter().flatten().take(MAX_TAGS).filter_map(Value::as_str) {
        let is_tag = !tag.trim().is_empty() && tag.len() <= MAX_TAG_BYTES;
        if is_tag && tags.iter().all(|known| known != tag) {
            tags.push(tag.to_owned());
        }
    }
    tags
}
