//! The value of a run that is over, as it is kept for who asks for its parts.
//!
//! A value takes far more memory than its text, up to seventy times, and every part would be cut out of a text that is made
//! anew. So the text is made once, and kept in place of a value that no answer has room for.

use super::pages::PAGE;
use serde_json::Value;

/// Most images of one answer.
const MAX_IMAGES: usize = 10;

/// Most bytes of one image: models refuse larger ones.
const MAX_IMAGE: usize = 5 << 20;

/// The value of a run that is over.
pub(in crate::serve) struct KeptValue {
    /// Its text, with a note in place of each image.
    pub(super) text: String,
    /// The same as a value, where one answer has room for it.
    pub(super) value: Option<Value>,
    /// The data of its images, and their kinds.
    pub(super) images: Vec<(String, String)>,
}

impl KeptValue {
    pub(in crate::serve) fn new(mut value: Value) -> KeptValue {
        let mut images = Vec::new();
        take_images(&mut value, &mut images);
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let is_short = text.chars().nth(PAGE).is_none();
        KeptValue { text, value: is_short.then_some(value), images }
    }

    /// What it takes, but for a value that is short.
    pub(in crate::serve) fn bytes(&self) -> usize {
        self.text.len() + self.images.iter().map(|(data, _)| data.len()).sum::<usize>()
    }
}

/// Puts a note in place of each image that MCP would show: `{ type: 'image', data, mimeType }`.
fn take_images(value: &mut Value, images: &mut Vec<(String, String)>) {
    if let Some((data, kind)) = image(value) {
        *value = Value::String(match images.len() < MAX_IMAGES && data.len() <= MAX_IMAGE {
            true => {
                images.push((data, kind));
                format!("[image {}]", images.len())
            }
            false => format!("[{kind} of {} characters, not shown]", data.len()),
        });
        return;
    }
    match value {
        Value::Object(members) => members.values_mut().for_each(|member| take_images(member, images)),
        Value::Array(items) => items.iter_mut().for_each(|item| take_images(item, images)),
        _ => {}
    }
}

/// The data of an image and its kind, if a client could show it.
fn image(value: &Value) -> Option<(String, String)> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let (data, kind) = (text("data")?, text("mimeType")?);
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let is_image = text("type") == Some("image") && kind.starts_with("image/") && data.bytes().all(is_base64);
    (is_image && !data.is_empty()).then(|| (data.to_owned(), kind.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{KeptValue, PAGE};
    use serde_json::{Value, json};

    #[test]
    fn a_value_that_no_answer_has_room_for_is_kept_as_text() {
        let long = KeptValue::new(json!(vec![0; PAGE]));
        assert!(long.value.is_none() && long.text.starts_with("[0,0,"));
        assert_eq!(long.bytes(), 2 * PAGE + 1);
        let short = KeptValue::new(json!("ü".repeat(PAGE)));
        assert_eq!(short.value, Some(Value::from(short.text)));
    }

    #[test]
    fn images_are_kept_beside_the_text() {
        let image = json!({ "type": "image", "data": "QUJD", "mimeType": "image/png" });
        let kept = KeptValue::new(
            json!({ "a": [image.clone()], "b": { "type": "image", "data": "?", "mimeType": "image/png" } }),
        );
        assert_eq!(kept.images, [("QUJD".to_owned(), "image/png".to_owned())]);
        let value = kept.value.unwrap();
        assert_eq!((&value["a"], &value["b"]["data"]), (&json!(["[image 1]"]), &json!("?")));
        let many = KeptValue::new(json!(vec![image; 11]));
        assert_eq!(
            (many.images.len(), &many.value.unwrap()[10]),
            (10, &json!("[image/png of 4 characters, not shown]"))
        );
    }
}
