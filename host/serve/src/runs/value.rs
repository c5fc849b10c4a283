//! Stored value of an ended run.
//!
//! A JSON value takes up to seventy times the memory of its text, and each page needs the text. So the text is built
//! once, and replaces a value that does not fit a result.

use crate::pages::PAGE;
use serde_json::Value;

/// Maximum number of images per result.
const MAX_IMAGES: usize = 10;

/// Maximum size of an image: models refuse larger ones.
const MAX_IMAGE: usize = 5 << 20;

/// Value of an ended run.
pub(crate) struct RunValue {
    /// Text, with a note in place of each image.
    pub(crate) text: String,
    /// JSON value, if it fits one result.
    pub(crate) value: Option<Value>,
    /// Data and MIME type of its images.
    pub(crate) images: Vec<(String, String)>,
}

impl RunValue {
    pub(crate) fn new(mut value: Value) -> RunValue {
        let mut images = Vec::new();
        take_images(&mut value, &mut images);
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let is_short = text.chars().nth(PAGE).is_none();
        RunValue { text, value: is_short.then_some(value), images }
    }

    /// Returns the size of text and images.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len() + self.images.iter().map(|(data, _)| data.len()).sum::<usize>()
    }
}

/// Replaces each MCP image by a note: `{ type: 'image', data, mimeType }`.
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

/// Returns the data and MIME type of a valid image.
fn image(value: &Value) -> Option<(String, String)> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let (data, kind) = (text("data")?, text("mimeType")?);
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let is_image = text("type") == Some("image") && kind.starts_with("image/") && data.bytes().all(is_base64);
    (is_image && !data.is_empty()).then(|| (data.to_owned(), kind.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{PAGE, RunValue};
    use serde_json::{Value, json};

    #[test]
    fn a_value_that_does_not_fit_a_result_is_stored_as_text() {
        let long = RunValue::new(json!(vec![0; PAGE]));
        assert!(long.value.is_none() && long.text.starts_with("[0,0,"));
        assert_eq!(long.bytes(), 2 * PAGE + 1);
        let short = RunValue::new(json!("ü".repeat(PAGE)));
        assert_eq!(short.value, Some(Value::from(short.text)));
    }

    #[test]
    fn images_are_stored_separately() {
        let image = json!({ "type": "image", "data": "QUJD", "mimeType": "image/png" });
        let kept = RunValue::new(
            json!({ "a": [image.clone()], "b": { "type": "image", "data": "?", "mimeType": "image/png" } }),
        );
        assert_eq!(kept.images, [("QUJD".to_owned(), "image/png".to_owned())]);
        let value = kept.value.unwrap();
        assert_eq!((&value["a"], &value["b"]["data"]), (&json!(["[image 1]"]), &json!("?")));
        let many = RunValue::new(json!(vec![image; 11]));
        assert_eq!(
            (many.images.len(), &many.value.unwrap()[10]),
            (10, &json!("[image/png of 4 characters, not shown]"))
        );
    }
}
