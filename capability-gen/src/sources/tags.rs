//! Tags: words by which people sort functions. They say nothing of what a function may do.

use super::error::SourceError;
use super::node::Node;
use serde_json::Value;

/// The most tags of one function. Nobody sorts by more, and each is in every list of functions.
const MAX_TAGS: usize = 64;

/// The longest tag: a word or a few.
const MAX_TAG_BYTES: usize = 128;

/// The member `tags` of a definition that somebody wrote for this project.
pub(super) fn read(parent: &Node<'_>) -> Result<Vec<String>, SourceError> {
    let Some(node) = parent.get("tags") else { return Ok(Vec::new()) };
    let Some(items) = node.value.as_array() else { return Err(node.mistyped("\"tags\"", "an array of text")) };
    if items.len() > MAX_TAGS {
        let message = format!("there are {} tags, more than {MAX_TAGS}", items.len());
        return Err(node.error(message, "Keep those that somebody looks for."));
    }
    for item in node.items() {
        let tag = item.text("a tag")?;
        if tag.trim().is_empty() || tag.len() > MAX_TAG_BYTES {
            let message = format!("a tag has 1 to {MAX_TAG_BYTES} bytes, and this has {}", tag.trim().len());
            return Err(item.error(message, "Write a word, such as \"weather\"."));
        }
    }
    Ok(known(node.value))
}

/// The tags of another's document, as far as they are some: they cost nobody the function.
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
