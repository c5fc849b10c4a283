//! Content blocks: text, images, audio, resources and resource links.

use super::{binary, json_text, list, malformed, object, text};
use crate::error::CallError;
use agent_spaces_secrets::{MASK, Redactor};
use serde_json::{Map, Value, json};

/// Content blocks of a result, each an object with a type.
pub(super) struct Blocks<'a>(Vec<&'a Value>);

impl<'a> Blocks<'a> {
    /// Validates the blocks of `content`; absent content is empty.
    pub(super) fn of(content: Option<&'a Value>) -> Result<Blocks<'a>, CallError> {
        let blocks = list(content, "`content`")?;
        for block in blocks {
            let kind = kind_of(block)?;
            if kind == "text" {
                text(block.get("text"), "the `text` of a text block")?;
            }
        }
        Ok(Blocks(blocks.iter().collect()))
    }

    /// Returns true if all blocks are text, or there are none.
    pub(super) fn are_text(&self) -> bool {
        self.0.iter().all(|block| text_of(block).is_some())
    }

    /// Returns the text of every text block.
    pub(super) fn texts(&self) -> Vec<&'a str> {
        self.0.iter().filter_map(|block| text_of(block)).collect()
    }

    /// Returns every block, as scripts see it.
    pub(super) fn values(&self, redactor: &Redactor) -> Result<Vec<Value>, CallError> {
        self.0.iter().map(|value| block(value, redactor)).collect()
    }

    /// Returns true if a member of the structured content equals these blocks.
    pub(super) fn are_contained_in(&self, structured: &Value) -> bool {
        let members = structured.as_object().into_iter().flat_map(Map::values);
        members.filter_map(Value::as_array).any(|items| items.iter().eq(self.0.iter().copied()))
    }

    /// Returns every block except text that repeats the structured content.
    pub(super) fn beside(&self, structured: &Value, redactor: &Redactor) -> Result<Vec<Value>, CallError> {
        let repeats = |block: &Value| text_of(block).and_then(json_text::parse).is_some_and(|json| json == *structured);
        self.0.iter().filter(|value| !repeats(value)).map(|value| block(value, redactor)).collect()
    }
}

/// Converts one block for scripts: without `_meta`, its bytes in standard base64.
pub(super) fn block(value: &Value, redactor: &Redactor) -> Result<Value, CallError> {
    let kind = kind_of(value)?;
    let mut block = without_meta(value, "a content block")?;
    match kind {
        "text" => {
            text(block.get("text"), "the `text` of a text block")?;
        }
        "image" | "audio" => {
            text(block.get("mimeType"), &format!("the `mimeType` of a block of type {kind}"))?;
            let data = text(block.get("data"), &format!("the `data` of a block of type {kind}"))?;
            let Some(data) = bytes(data, kind, redactor)? else {
                return Ok(json!({ "type": "text", "text": format!("{MASK} ({kind} that holds a secret)") }));
            };
            block.insert("data".to_owned(), data.into());
        }
        "resource" => {
            let resource =
                block.get("resource").ok_or_else(|| malformed("a block of type resource has no `resource`"))?;
            let resource = resource_contents(resource, redactor)?;
            block.insert("resource".to_owned(), resource);
        }
        "resource_link" => {
            text(block.get("uri"), "the `uri` of a block of type resource_link")?;
        }
        // A type of a later protocol, which scripts may know.
        _ => {}
    }
    Ok(Value::Object(block))
}

/// Converts one block for another client: with its `_meta`, and that of a resource in it.
pub(super) fn whole_block(value: &Value, redactor: &Redactor) -> Result<Value, CallError> {
    let mut whole = block(value, redactor)?;
    let is_withheld = whole.get("type") != value.get("type");
    if let (false, Value::Object(members)) = (is_withheld, &mut whole) {
        if let Some(meta) = value.get("_meta") {
            members.insert("_meta".to_owned(), meta.clone());
        }
        if let (Some(Value::Object(resource)), Some(meta)) =
            (members.get_mut("resource"), value.get("resource").and_then(|resource| resource.get("_meta")))
        {
            resource.insert("_meta".to_owned(), meta.clone());
        }
    }
    Ok(whole)
}

/// Converts the contents of one resource: without `_meta`, a blob in standard base64. A blob with a secret is withheld.
pub(super) fn resource_contents(value: &Value, redactor: &Redactor) -> Result<Value, CallError> {
    let mut contents = without_meta(value, "a resource")?;
    text(contents.get("uri"), "the `uri` of a resource")?;
    if let Some(blob) = contents.get("blob").filter(|blob| !blob.is_null()) {
        let blob = text(Some(blob), "the `blob` of a resource")?;
        match bytes(blob, "resource", redactor)? {
            Some(blob) => contents.insert("blob".to_owned(), blob.into()),
            None => {
                contents.shift_remove("blob");
                contents.insert("text".to_owned(), format!("{MASK} (bytes that hold a secret)").into())
            }
        };
    } else if let Some(words) = contents.get("text").filter(|words| !words.is_null()) {
        text(Some(words), "the `text` of a resource")?;
    }
    Ok(Value::Object(contents))
}

/// Returns standard base64, which `Uint8Array.fromBase64` accepts, or `None` if the bytes contain a secret.
fn bytes(base64: &str, kind: &str, redactor: &Redactor) -> Result<Option<String>, CallError> {
    let (standard, bytes) = binary::standard(base64)
        .ok_or_else(|| malformed(&format!("the bytes of a block of type {kind} are not valid base64")))?;
    Ok((!redactor.taints(&bytes)).then(|| standard.into_owned()))
}

fn without_meta(value: &Value, what: &str) -> Result<Map<String, Value>, CallError> {
    let mut members = object(value, what)?.clone();
    members.shift_remove("_meta");
    Ok(members)
}

fn kind_of(block: &Value) -> Result<&str, CallError> {
    let kind = object(block, "a content block")?.get("type");
    text(kind, "the `type` of a content block")
}

fn text_of(block: &Value) -> Option<&str> {
    (block.get("type")?.as_str()? == "text").then(|| block.get("text")?.as_str()).flatten()
}
