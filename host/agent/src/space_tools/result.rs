//! Results of tools as a model reads them.

use crate::tools::ToolOutput;
use agent_spaces_models::Image;
use agent_spaces_types::shown::Shown;
use data_encoding::BASE64;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ResourceContents};
use rmcp::service::ServiceError;

/// Images of one result, and their length in base64 together. Providers refuse requests with more than some megabytes.
const MAX_IMAGES: usize = 8;
const MAX_IMAGE_BYTES: usize = 8 << 20;

/// Longest name, address or media type that is shown.
const MAX_TAG: usize = 300;

/// Longest message of a failed request.
const MAX_FAILURE: usize = 2_000;

/// Text of a result without content: some providers refuse empty results.
const NOTHING: &str = "(no output)";

/// Text for content of a later protocol.
const UNKNOWN: &str = "[content of an unknown kind: not shown]";

/// Reads the answer to a call.
pub(super) fn output(response: CallToolResponse) -> ToolOutput {
    match response {
        CallToolResponse::Complete(result) => complete(result),
        CallToolResponse::InputRequired(_) => ToolOutput::error("The tool asks for input that an agent cannot give."),
        _ => ToolOutput::error("The tool answers with a task, which an agent cannot follow."),
    }
}

/// Describes a request that failed.
pub(super) fn failure(error: &ServiceError) -> ToolOutput {
    ToolOutput::error(match error {
        ServiceError::McpError(error) => Shown::text(&error.message, MAX_FAILURE).to_string(),
        ServiceError::TransportClosed => "The tools are no longer connected.".to_owned(),
        error => Shown::text(&error.to_string(), MAX_FAILURE).to_string(),
    })
}

fn complete(result: CallToolResult) -> ToolOutput {
    let is_error = result.is_error == Some(true);
    let mut content = Content::default();
    result.content.into_iter().for_each(|block| content.add(block));
    let Content { mut text, images, .. } = content;
    if text.is_empty() {
        // Servers repeat structured content as text, so it says something new only without text.
        match result.structured_content {
            Some(value) => text.push(value.to_string()),
            None if images.is_empty() => text.push(NOTHING.to_owned()),
            None => {}
        }
    }
    ToolOutput { text: text.join("\n"), images, is_error, server: None }
}

/// Content that was read so far.
#[derive(Default)]
struct Content {
    text: Vec<String>,
    images: Vec<Image>,
    image_bytes: usize,
}

impl Content {
    fn add(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(block) => self.text.push(block.text),
            ContentBlock::Image(block) => self.add_image(block.data, &block.mime_type),
            ContentBlock::Audio(block) => {
                self.text.push(format!("[audio {}, {} bytes: not shown]", tag(&block.mime_type), bytes(&block.data)));
            }
            ContentBlock::Resource(block) => match block.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    self.text.push(format!("[resource {}]\n{text}", tag(&uri)));
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    let kind = mime_type.unwrap_or_else(|| "of unknown type".to_owned());
                    if kind.starts_with("image/") {
                        self.add_image(blob, &kind);
                    } else {
                        let (uri, kind) = (tag(&uri), tag(&kind));
                        self.text.push(format!("[resource {uri} {kind}, {} bytes: not shown]", bytes(&blob)));
                    }
                }
                _ => self.text.push(UNKNOWN.to_owned()),
            },
            ContentBlock::ResourceLink(link) => {
                self.text.push(format!("[resource link {}: {}]", tag(&link.name), tag(&link.uri)));
            }
            _ => self.text.push(UNKNOWN.to_owned()),
        }
    }

    /// Keeps an image that providers can read: one that they cannot read fails the whole request.
    fn add_image(&mut self, data: String, said: &str) {
        let room = MAX_IMAGE_BYTES - self.image_bytes;
        let why = match media_type(&data) {
            _ if self.images.len() == MAX_IMAGES => format!("a result has at most {MAX_IMAGES} images"),
            _ if data.len() > room => "it is too large".to_owned(),
            None => "it is no PNG, JPEG, GIF or WebP".to_owned(),
            Some(media_type) => {
                self.image_bytes += data.len();
                self.images.push(Image { media_type: media_type.to_owned(), data });
                return;
            }
        };
        self.text.push(format!("[image {}, {} bytes: not shown, {why}]", tag(said), bytes(&data)));
    }
}

/// Returns the type of an image by its first bytes; what a server says about it may be wrong. `None` for others, and for
/// text that is not base64.
fn media_type(data: &str) -> Option<&'static str> {
    if data.len() > MAX_IMAGE_BYTES {
        return None;
    }
    match BASE64.decode(data.as_bytes()).ok()?.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn tag(text: &str) -> Shown {
    Shown::line(text, MAX_TAG)
}

/// Bytes of data in base64, nearly.
fn bytes(data: &str) -> usize {
    data.len() / 4 * 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::Resource;
    use serde_json::json;

    const PNG: [u8; 9] = [0x89, b'P', b'N', b'G', 13, 10, 26, 10, 0];

    fn read(content: Vec<ContentBlock>) -> ToolOutput {
        output(CallToolResult::success(content).into())
    }

    #[test]
    fn text_is_joined_and_structured_content_stands_in_for_it() {
        assert_eq!(read(vec![ContentBlock::text("a"), ContentBlock::text("b")]).text, "a\nb");
        let mut result = CallToolResult::success(vec![ContentBlock::text("said")]);
        result.structured_content = Some(json!({ "n": 1 }));
        assert_eq!(output(result.clone().into()).text, "said");
        result.content.clear();
        assert_eq!(output(result.into()).text, r#"{"n":1}"#);
        assert_eq!(read(Vec::new()).text, NOTHING);
        let failed = output(CallToolResult::error(vec![ContentBlock::text("no")]).into());
        assert!(failed.is_error && failed.text == "no");
    }

    #[test]
    fn images_have_the_type_of_their_bytes() {
        let png = BASE64.encode(&PNG);
        let shown = read(vec![ContentBlock::image(png.clone(), "image/jpeg")]);
        assert_eq!(shown.images, [Image { media_type: "image/png".into(), data: png }]);
        assert_eq!(shown.text, "");
        for wrong in ["not base64!", &BASE64.encode(b"<svg/>")] {
            let shown = read(vec![ContentBlock::image(wrong, "image/svg+xml")]);
            assert!(shown.images.is_empty() && shown.text.contains("image/svg+xml"), "{shown:?}");
        }
    }

    #[test]
    fn images_are_bounded_in_number_and_size() {
        let image = |bytes: usize| {
            let mut data = PNG.to_vec();
            data.resize(bytes, 0);
            ContentBlock::image(BASE64.encode(&data), "image/png")
        };
        let many = read((0..MAX_IMAGES + 2).map(|_| image(9)).collect());
        assert_eq!((many.images.len(), many.text.lines().count()), (MAX_IMAGES, 2));
        let large = read(vec![image(3 << 20), image(3 << 20), image(9)]);
        assert_eq!(large.images.len(), 2, "{}", large.text);
        assert!(large.text.contains("too large"), "{}", large.text);
    }

    #[test]
    fn other_content_becomes_a_short_tag() {
        let long = format!("file:///{}", "x".repeat(2 * MAX_TAG));
        let shown = read(vec![
            ContentBlock::audio("AAAA", "audio/wav"),
            ContentBlock::resource(ResourceContents::blob("AAAA", "file:///a.bin")),
            ContentBlock::resource(ResourceContents::text("hello", "file:///a.txt")),
            ContentBlock::resource_link(Resource::new(long, "a\u{202e}b")),
        ]);
        let lines: Vec<&str> = shown.text.lines().collect();
        assert_eq!(lines[0], "[audio audio/wav, 3 bytes: not shown]");
        assert!(lines[1].starts_with("[resource file:///a.bin ") && lines[1].ends_with("3 bytes: not shown]"));
        assert_eq!((lines[2], lines[3]), ("[resource file:///a.txt]", "hello"));
        assert!(!lines[4].contains('\u{202e}') && lines[4].chars().count() < 2 * MAX_TAG, "{}", lines[4]);
    }
}
