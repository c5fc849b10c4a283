//! Handles of large results, which the model reads in parts.
//!
//! - `store`: the results of a session, bounded
//! - `reading`: arguments and answers of the tool that reads them

mod reading;
mod store;
#[cfg(test)]
mod tests;

use crate::tools::ToolOutput;
use agent_spaces_models::Tool;
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::Store;

/// Longest beginning of a result that is shown in its place, in bytes: enough to see its form.
const MAX_BEGINNING: usize = 4 << 10;

/// Bytes for a token, at least, in most texts.
const BYTES_PER_TOKEN: usize = 3;

/// Tokens of the words around the beginning.
const WORDS: usize = 120;

/// Longest text that is kept of one result, in bytes.
const MAX_TEXT: usize = 32 << 20;

/// Results of a session that are too large for the model. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Handles(Arc<Mutex<Store>>);

impl Handles {
    /// Name of the tool that reads results.
    pub(crate) const TOOL: &str = "read_result";

    /// Longest result that is given to a model whole, in bytes: some 20,000 tokens. Models find things in more text
    /// worse than a search does.
    pub(crate) const MAX_INLINE: usize = 64 << 10;

    /// The tool, as a model sees it.
    pub(crate) fn tool() -> Tool {
        let description = format!(
            "Reads a part of a tool's result that was too large to be given whole. Such a result says its handle. Without \
             `find` it returns `length` bytes from byte `offset` on. With `find` it returns where that text occurs from \
             `offset` on, with some text around each place; it is compared letter by letter, case included. Look for \
             what you need instead of reading everything; a part has at most {} bytes.",
            reading::MAX_LENGTH
        );
        let parameters = json!({
            "type": "object",
            "properties": {
                "handle": { "type": "string", "description": "Handle of the result, such as result_1." },
                "offset": { "type": "integer", "minimum": 0, "description": "First byte. 0 if absent." },
                "length": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": reading::MAX_LENGTH,
                    "description": format!("Bytes. {} if absent.", reading::DEFAULT_LENGTH),
                },
                "find": { "type": "string", "minLength": 1, "description": "Text to look for." },
            },
            "required": ["handle"],
            "additionalProperties": false,
        });
        Tool { name: Self::TOOL.to_owned(), description, parameters }
    }

    /// Keeps the text of a result and returns what the model gets in its place, in at most some `max_tokens` tokens, with
    /// the handle and the text that was kept. A text that is not longer than that stays as it is.
    pub(crate) fn put_aside(&self, output: ToolOutput, max_tokens: usize) -> (ToolOutput, Option<(String, String)>) {
        let room = max_tokens.saturating_sub(WORDS).saturating_mul(BYTES_PER_TOKEN).min(MAX_BEGINNING);
        if output.text.len() <= room.max(WORDS * BYTES_PER_TOKEN) {
            return (output, None);
        }
        let mut text = output.text;
        let (bytes, lines) = (text.len(), text.lines().count());
        let beginning = text[..text.floor_char_boundary(room)].to_owned();
        let lost = match text.floor_char_boundary(MAX_TEXT) {
            kept if kept < bytes => format!(" Only its first {kept} bytes were kept."),
            _ => String::new(),
        };
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        let handle = self.store().add(&text);
        let shown = beginning.len();
        let words = format!(
            "Its handle is {handle}: look for a text in it with {tool} {{\"handle\":\"{handle}\",\"find\":\"…\"}}, or read \
             with {tool} {{\"handle\":\"{handle}\",\"offset\":{shown}}}.)",
            tool = Self::TOOL,
        );
        let size = format!("(The result is too large to be given whole: {bytes} bytes in {lines} lines.{lost}");
        let replaced = match shown {
            0 => format!("{size} {words}"),
            _ => format!("{beginning}\n…\n\n{size} This is its beginning, {shown} bytes. {words}"),
        };
        (ToolOutput { text: replaced, ..output }, Some((handle, text)))
    }

    /// Keeps a result of a session that goes on, under the handle that the model knows.
    pub(crate) fn restore(&self, handle: String, text: String) {
        self.store().restore(handle, text);
    }

    /// Reads a part of a result, as a call of the tool.
    pub(crate) fn read(&self, arguments: &Map<String, Value>) -> ToolOutput {
        let found = {
            let store = self.store();
            let handle = arguments.get("handle").and_then(Value::as_str);
            handle.and_then(|handle| store.get(handle)).ok_or_else(|| unknown(handle, &store.newest()))
        };
        // The text is searched without the lock.
        match found.and_then(|text| reading::answer(&text, arguments)) {
            Ok(text) => ToolOutput { text, ..ToolOutput::default() },
            Err(fault) => ToolOutput::error(fault),
        }
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unknown(handle: Option<&str>, newest: &[String]) -> String {
    let fault = match handle {
        Some(handle) => format!("There is no result {}.", agent_spaces_types::shown::Shown::line(handle, 100)),
        None => "`handle` is missing: it is a text.".to_owned(),
    };
    if newest.is_empty() {
        return format!("{fault} No result of this session was put aside.");
    }
    format!(
        "{fault} The newest results are: {}. Older ones may have been dropped: call their tools again.",
        newest.join(", ")
    )
}
