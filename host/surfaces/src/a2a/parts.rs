//! Parts of messages: for models, and of people who decide about calls.

use super::bounds::{MAX_IMAGE, MAX_IMAGES, MAX_KEPT_MESSAGE, MAX_KEPT_PART, MAX_TEXT};
use super::error::{A2aError, ErrorKind};
use super::types::{Message, Part};
use agent_spaces_models as models;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

/// Media types that agents read, for their cards.
pub(super) const INPUT_MODES: [&str; 7] =
    ["text/plain", "text/markdown", "application/json", "image/png", "image/jpeg", "image/gif", "image/webp"];

/// Returns a message as a model reads it.
pub(super) fn question(message: &Message) -> Result<models::Message, A2aError> {
    let mut parts = Vec::new();
    let (mut text, mut images) = (0_usize, 0_usize);
    for (index, part) in message.parts.iter().enumerate() {
        let part = read(part, &format!("message.parts[{index}]"))?;
        match &part {
            models::Part::Text(piece) => text = text.saturating_add(piece.len()),
            _ => images += 1,
        }
        parts.push(part);
    }
    if text > MAX_TEXT || images > MAX_IMAGES {
        let message = format!("A message has at most {} MiB of text and {MAX_IMAGES} images", MAX_TEXT >> 20);
        return Err(A2aError::params("message.parts", message));
    }
    if text == 0 && images == 0 {
        return Err(A2aError::params("message.parts", "The message is empty"));
    }
    Ok(models::Message { role: models::Role::User, parts })
}

fn read(part: &Part, at: &str) -> Result<models::Part, A2aError> {
    let media_type = part.media_type.as_deref().map(essence);
    match (&part.text, &part.raw, &part.url, &part.data) {
        (Some(text), None, None, None) => match media_type {
            Some(kind) if !is_text(&kind) => Err(unsupported(at, "Text of this media type is not read")),
            _ => Ok(models::Part::Text(text.clone())),
        },
        (None, None, None, Some(data)) => Ok(models::Part::Text(data.to_string())),
        (None, Some(raw), None, None) => {
            let kind = media_type.ok_or_else(|| unsupported(at, "Bytes need a `mediaType`"))?;
            file(raw, &kind, part.filename.as_deref(), at)
        }
        // Whoever fetches it would send requests in the name of this host.
        (None, None, Some(_), None) => Err(unsupported(at, "Files are not fetched: send their bytes as `raw`")),
        _ => Err(A2aError::params(at, "A part has one of `text`, `raw`, `url` and `data`")),
    }
}

/// Reads the bytes of a file.
fn file(raw: &str, kind: &str, name: Option<&str>, at: &str) -> Result<models::Part, A2aError> {
    let is_image = kind.starts_with("image/") && INPUT_MODES.contains(&kind);
    if !is_image && !is_text(kind) {
        return Err(unsupported(at, &format!("Files are read if they are text or one of {}", INPUT_MODES.join(", "))));
    }
    if raw.len() > MAX_IMAGE {
        return Err(A2aError::params(at, format!("A file has at most {} MiB in base64", MAX_IMAGE >> 20)));
    }
    let bytes = decode(raw).ok_or_else(|| A2aError::params(at, "`raw` is not base64"))?;
    if is_image {
        let data = STANDARD.encode(bytes);
        return Ok(models::Part::Image(models::Image { media_type: kind.to_owned(), data }));
    }
    let text = String::from_utf8(bytes).map_err(|_| A2aError::params(at, "The text file is not UTF-8"))?;
    let name = name.filter(|name| !name.is_empty() && name.len() <= MAX_KEPT_PART);
    Ok(models::Part::Text(name.map_or_else(|| text.clone(), |name| format!("File {name:?}:\n{text}"))))
}

/// Decodes base64 of either alphabet, padded or not, as JSON of protocol buffers allows.
fn decode(raw: &str) -> Option<Vec<u8>> {
    let plain: String = raw
        .trim_end_matches('=')
        .chars()
        .map(|letter| match letter {
            '-' => '+',
            '_' => '/',
            other => other,
        })
        .collect();
    STANDARD_NO_PAD.decode(plain).ok()
}

/// A media type without parameters, in small letters.
fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_text(kind: &str) -> bool {
    kind.starts_with("text/") || kind == "application/json" || kind.ends_with("+json")
}

fn unsupported(at: &str, message: &str) -> A2aError {
    A2aError::new(ErrorKind::ContentType, format!("{at}: {message}"))
}

/// Returns a message as it is kept: large parts are cut, and large files are left out.
pub(super) fn kept(message: &Message) -> Message {
    Message {
        message_id: message.message_id.clone(),
        context_id: message.context_id.clone(),
        task_id: message.task_id.clone(),
        role: message.role,
        parts: kept_parts(&message.parts),
        metadata: None,
    }
}

fn kept_parts(parts: &[Part]) -> Vec<Part> {
    let (mut kept, mut left) = (Vec::new(), MAX_KEPT_MESSAGE);
    for (index, part) in parts.iter().enumerate() {
        let part = kept_part(part);
        let texts = [&part.text, &part.raw, &part.url, &part.filename, &part.media_type].into_iter().flatten();
        let data = part.data.as_ref().map_or(0, |data| data.to_string().len());
        let size = texts.map(String::len).sum::<usize>() + data;
        if size > left {
            kept.push(Part::text(format!("[{} more parts, not kept]", parts.len() - index)));
            break;
        }
        left -= size;
        kept.push(part);
    }
    kept
}

fn kept_part(part: &Part) -> Part {
    let raw = part.raw.as_ref().map_or(0, String::len);
    let data = part.data.as_ref().map_or(0, |data| data.to_string().len());
    if raw > MAX_KEPT_PART || data > MAX_KEPT_PART {
        let mut kind = part.media_type.clone().unwrap_or_else(|| "data".to_owned());
        cut(&mut kind, 100);
        return Part::text(format!("[{kind} of {} bytes, not kept]", raw.max(data)));
    }
    let mut part = part.clone();
    for text in [&mut part.text, &mut part.url, &mut part.filename, &mut part.media_type].into_iter().flatten() {
        cut(text, MAX_KEPT_PART);
    }
    part
}

/// Shortens a text, and says so. Returns whether it was too long.
pub(super) fn cut(text: &mut String, most: usize) -> bool {
    if text.len() <= most {
        return false;
    }
    text.truncate(text.floor_char_boundary(most));
    text.push('…');
    true
}

/// Prefix of approval ids.
const APPROVAL_PREFIX: &str = "apr_";

/// Decision about a call that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) is_approved: bool,
    /// Id of the approval; needed where several calls wait.
    pub(super) approval: Option<String>,
    pub(super) reason: Option<String>,
}

/// Reads a decision: data with the member `decision`, or a text that is `approve`, `deny` or `deny: REASON`, where the
/// word may have the id of the approval after it. Anything else decides nothing: what is unclear is no approval.
pub(super) fn decision(message: &Message) -> Option<Decision> {
    let [part] = message.parts.as_slice() else {
        let mut found = message.parts.iter().filter(|part| part.data.is_some()).filter_map(of_part);
        return found.next().filter(|_| found.next().is_none());
    };
    of_part(part)
}

fn of_part(part: &Part) -> Option<Decision> {
    if let Some(data) = &part.data {
        let member = |name| data.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
        let is_approved = is_approval(&member("decision")?)?;
        return Some(Decision { is_approved, approval: member("approval"), reason: member("reason") });
    }
    let text = part.text.as_deref()?.trim();
    let (said, reason) = text.split_once(':').map_or((text, None), |(said, reason)| (said, Some(reason.trim())));
    let mut words = said.split_whitespace();
    let is_approved = is_approval(words.next()?)?;
    let approval = words.next();
    let is_clear = words.next().is_none() && approval.is_none_or(|id| id.starts_with(APPROVAL_PREFIX));
    // An approval with conditions is none.
    if !is_clear || (is_approved && reason.is_some()) {
        return None;
    }
    let reason = reason.filter(|reason| !reason.is_empty()).map(str::to_owned);
    Some(Decision { is_approved, approval: approval.map(str::to_owned), reason })
}

fn is_approval(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "approve" => Some(true),
        "deny" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a2a::types::Role;
    use serde_json::{Value, json};

    fn message(parts: Value) -> Message {
        let parts = serde_json::from_value(parts).unwrap();
        Message { message_id: "m".into(), context_id: None, task_id: None, role: Role::User, parts, metadata: None }
    }

    fn fault(parts: Value) -> ErrorKind {
        question(&message(parts)).unwrap_err().kind
    }

    #[test]
    fn text_data_and_files_become_parts_of_a_question() {
        let given = json!([
            { "text": "look" },
            { "data": { "a": 1 } },
            { "raw": "-_8", "mediaType": "Image/PNG; x=y" },
            { "raw": "aGk=", "mediaType": "text/plain", "filename": "a.txt" },
        ]);
        let read = question(&message(given)).unwrap();
        let image = models::Image { media_type: "image/png".into(), data: "+/8=".into() };
        let text = |text: &str| models::Part::Text(text.to_owned());
        let file = text("File \"a.txt\":\nhi");
        assert_eq!(read.parts, [text("look"), text("{\"a\":1}"), models::Part::Image(image), file]);
    }

    #[test]
    fn what_agents_do_not_read_is_refused() {
        assert_eq!(fault(json!([{ "raw": "AA==", "mediaType": "application/zip" }])), ErrorKind::ContentType);
        assert_eq!(fault(json!([{ "raw": "AA==" }])), ErrorKind::ContentType);
        assert_eq!(
            fault(json!([{ "url": "http://169.254.169.254/", "mediaType": "image/png" }])),
            ErrorKind::ContentType
        );
        assert_eq!(fault(json!([{ "text": "x", "mediaType": "application/pdf" }])), ErrorKind::ContentType);
        assert_eq!(fault(json!([{ "text": "x", "data": {} }])), ErrorKind::Params);
        assert_eq!(fault(json!([{ "raw": "!", "mediaType": "image/png" }])), ErrorKind::Params);
        assert_eq!(fault(json!([{}])), ErrorKind::Params);
        assert_eq!(fault(json!([{ "text": "" }])), ErrorKind::Params);
        let long = "x".repeat(MAX_TEXT + 1);
        assert_eq!(fault(json!([{ "text": long }])), ErrorKind::Params);
    }

    #[test]
    fn large_parts_are_not_kept() {
        let given = json!([{ "text": "é".repeat(MAX_KEPT_PART) }, { "raw": "A".repeat(MAX_KEPT_PART + 4), "mediaType": "image/png" }]);
        let kept = kept(&message(given));
        assert!(kept.parts[0].text.as_ref().unwrap().len() <= MAX_KEPT_PART + 3);
        assert_eq!(kept.parts[1].raw, None);
        assert_eq!(kept.parts[1].text.as_deref(), Some("[image/png of 16388 bytes, not kept]"));
        let many: Vec<_> = (0..64).map(|_| json!({ "text": "x".repeat(MAX_KEPT_PART / 2) })).collect();
        let kept = super::kept(&message(json!(many)));
        assert_eq!((kept.parts.len(), kept.parts[8].text.as_deref()), (9, Some("[56 more parts, not kept]")));
    }

    #[test]
    fn only_a_clear_word_decides() {
        let said = |parts: Value| decision(&message(parts)).map(|decision| (decision.is_approved, decision.reason));
        assert_eq!(said(json!([{ "text": " Approve\n" }])), Some((true, None)));
        assert_eq!(said(json!([{ "text": "deny: too large" }])), Some((false, Some("too large".to_owned()))));
        assert_eq!(said(json!([{ "data": { "decision": "approve" } }])), Some((true, None)));
        assert_eq!(said(json!([{ "text": "fine" }, { "data": { "decision": "deny" } }])), Some((false, None)));
        for unclear in ["approve it", "approve apr_1 apr_2", "yes", "approve: if it is cheap", "do not approve", ""] {
            assert_eq!(said(json!([{ "text": unclear }])), None, "{unclear}");
        }
        let twice = json!([{ "data": { "decision": "approve" } }, { "data": { "decision": "deny" } }]);
        assert_eq!(said(twice), None);
        let named = decision(&message(json!([{ "data": { "decision": "deny", "approval": "a1" } }]))).unwrap();
        assert_eq!(named.approval.as_deref(), Some("a1"));
        let named = decision(&message(json!([{ "text": "Deny apr_1: too large" }]))).unwrap();
        assert_eq!((named.approval.as_deref(), named.reason.as_deref()), (Some("apr_1"), Some("too large")));
    }
}
