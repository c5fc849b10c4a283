//! Output items of an answer, whole or streamed.
//!
//! A stream repeats most data: in deltas, when the item is done, and when the response is. The first occurrence counts, and
//! later ones only fill gaps, because some servers leave out one or the other.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::failure;
use super::items::{Item, Kind, Piece, given_back, incomplete, marker, named};
use crate::answer::Watch;
use crate::assembler::{self, Assembler};
use crate::bounds::{MAX_ERROR_TEXT, MAX_ID, MAX_PARTS};
use crate::wire::json::{elements, error_text, excerpt, malformed, text_or_empty};
use crate::{Answer, Finish, ModelError, ModelErrorKind, Origin};

/// Reads the items of one answer.
pub(super) struct Reader {
    assembler: Assembler,
    /// By key: `output_index`, or `id:` and the item's id where a server gives no index.
    items: HashMap<String, Item>,
    /// Number of items so far.
    count: usize,
    /// Ids of items that are done.
    done: HashSet<String>,
    /// Key of the item whose text or reasoning is open in the assembler.
    open: Option<String>,
    /// Refusal of the model.
    refused: String,
}

impl Reader {
    pub(super) fn new(origin: &Origin) -> Self {
        Reader {
            assembler: Assembler::new(origin),
            items: HashMap::new(),
            count: 0,
            done: HashSet::new(),
            open: None,
            refused: String::new(),
        }
    }

    pub(super) fn origin(&self) -> &Origin {
        self.assembler.origin()
    }

    /// The model that a response names.
    pub(super) fn model(&mut self, response: &Value) {
        let model = text_or_empty(response, "model");
        if !model.is_empty() {
            self.assembler.model(model);
        }
    }

    /// An item begins. One that has begun already is left as it is.
    pub(super) fn begin(&mut self, key: &str, item: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        let kind = Kind::of(item);
        if self.items.get(key).is_some_and(|known| !known.done && known.kind == kind) {
            return Ok(());
        }
        self.insert(key, kind, marker(item))?;
        // A call without a name begins when it is done.
        if kind == Kind::Call && !text_or_empty(item, "name").is_empty() {
            self.begin_call(key, item, watch)
        } else {
            Ok(())
        }
    }

    /// More text of a message.
    pub(super) fn text(&mut self, key: &str, text: &str, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        self.ensure(key, Kind::Message)?;
        let Some(item) = self.items.get_mut(key).filter(|item| !item.done && !text.is_empty()) else { return Ok(()) };
        item.told = true;
        let marker = item.marker.take();
        self.open(key);
        if let Some(marker) = marker {
            self.keep(marker)?;
            self.assembler.close();
        }
        self.assembler.text(text, watch)
    }

    /// More text of a refusal. People read it as text.
    pub(super) fn refusal(&mut self, key: &str, text: &str, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        if self.refused.len() < MAX_ERROR_TEXT {
            self.refused.push_str(&excerpt(text));
        }
        self.text(key, text, watch)
    }

    /// More reasoning. Pieces are paragraphs.
    pub(super) fn reasoning(
        &mut self,
        key: &str,
        piece: Piece,
        text: &str,
        watch: &mut Watch<'_>,
    ) -> Result<(), ModelError> {
        self.ensure(key, Kind::Reasoning)?;
        let Some(item) = self.items.get_mut(key).filter(|item| !item.done && !text.is_empty()) else { return Ok(()) };
        let apart = item.piece.is_some_and(|last| last != piece);
        item.piece = Some(piece);
        self.open(key);
        if apart {
            self.assembler.reasoning("\n\n", watch)?;
        }
        self.assembler.reasoning(text, watch)
    }

    /// More of a call's arguments. Those of a call that has not begun come again when it is done.
    pub(super) fn arguments(&mut self, key: &str, text: &str, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        match self.items.get(key) {
            Some(Item { done: false, call: Some(call), .. }) => self.assembler.arguments(call, text, watch),
            _ => Ok(()),
        }
    }

    /// All of a call's arguments.
    pub(super) fn all_arguments(&mut self, key: &str, all: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        let Some(Item { done: false, call: Some(call), .. }) = self.items.get(key) else { return Ok(()) };
        match all {
            Value::String(text) if !text.is_empty() => self.assembler.set_arguments(call, text, watch),
            // Some servers write the object itself.
            Value::Object(_) => self.assembler.set_arguments(call, &all.to_string(), watch),
            _ => Ok(()),
        }
    }

    /// An item is done. Data that was missing in its deltas is read from it.
    pub(super) fn end(&mut self, key: &str, item: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        let kind = match self.items.get(key) {
            Some(known) if known.done => return Ok(()),
            Some(known) => known.kind,
            None => {
                self.begin(key, item, watch)?;
                Kind::of(item)
            }
        };
        match kind {
            Kind::Message => self.end_message(key, item, watch)?,
            Kind::Reasoning => self.end_reasoning(key, item, watch)?,
            Kind::Call => {
                if self.items.get(key).is_some_and(|known| known.call.is_none()) {
                    self.begin_call(key, item, watch)?;
                }
                self.all_arguments(key, item.get("arguments").unwrap_or(&Value::Null), watch)?;
            }
            Kind::Other => {}
        }
        if let Some(known) = self.items.get_mut(key) {
            known.done = true;
        }
        let id = text_or_empty(item, "id");
        if !id.is_empty() && id.len() <= MAX_ID {
            self.done.insert(id.to_owned());
        }
        self.shut();
        Ok(())
    }

    /// The end of the response, by its status. An absent status is that of a server which answers only when it is done.
    pub(super) fn terminal(&mut self, status: &str, response: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        let failed = status == "failed" || (status.is_empty() && response.get("output").is_none());
        if failed && response.get("error").is_some_and(|error| !error.is_null()) {
            return Err(failure::reported(self.origin(), response));
        }
        let finish = match status {
            "completed" => Finish::Stop,
            "" if !failed => Finish::Stop,
            "incomplete" => incomplete(response.get("incomplete_details").unwrap_or(&Value::Null)),
            "failed" => return Err(failure::reported(self.origin(), &Value::Null)),
            "" => return Err(malformed(self.origin(), "it has no `output`")),
            "cancelled" => Finish::Other(status.to_owned()),
            _ => {
                let fault = format!("its status is `{}`, not `completed`", error_text(status));
                return Err(malformed(self.origin(), &fault));
            }
        };
        for (index, item) in elements(response, "output").iter().enumerate() {
            let (index, named) = (index.to_string(), named(text_or_empty(item, "id")));
            let key = if !self.items.contains_key(&index) && self.items.contains_key(&named) { named } else { index };
            if !self.done.contains(text_or_empty(item, "id")) {
                self.end(&key, item, watch)?;
            }
        }
        self.model(response);
        self.usage(response.get("usage").unwrap_or(&Value::Null));
        let refused = std::mem::take(&mut self.refused);
        self.assembler.set_finish(match finish {
            Finish::Stop if !refused.is_empty() => Finish::Refused(refused),
            finish => finish,
        });
        Ok(())
    }

    pub(super) fn build(self) -> Result<Answer, ModelError> {
        self.assembler.build()
    }

    fn usage(&mut self, usage: &Value) {
        if !usage.is_object() {
            return;
        }
        let count = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        let total = self.assembler.usage();
        total.input_tokens = count("/input_tokens");
        total.output_tokens = count("/output_tokens");
        total.cached_tokens = count("/input_tokens_details/cached_tokens");
        total.cache_write_tokens = count("/input_tokens_details/cache_write_tokens");
        total.reasoning_tokens = count("/output_tokens_details/reasoning_tokens");
    }

    fn end_message(&mut self, key: &str, item: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        if self.items.get(key).is_none_or(|known| known.told) {
            return Ok(());
        }
        if let Some(text) = item.get("content").and_then(Value::as_str) {
            return self.text(key, text, watch);
        }
        for content in elements(item, "content") {
            match text_or_empty(content, "type") {
                "output_text" => self.text(key, text_or_empty(content, "text"), watch)?,
                "refusal" => self.refusal(key, text_or_empty(content, "refusal"), watch)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn end_reasoning(&mut self, key: &str, item: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        if self.items.get(key).is_some_and(|known| known.piece.is_none()) {
            for (index, summary) in (0..).zip(elements(item, "summary")) {
                self.reasoning(key, Piece::Summary(index), text_or_empty(summary, "text"), watch)?;
            }
            for (index, content) in (0..).zip(elements(item, "content")) {
                self.reasoning(key, Piece::Content(index), text_or_empty(content, "text"), watch)?;
            }
        }
        let is_told = self.items.get(key).is_some_and(|known| known.piece.is_some());
        if is_told && self.open.as_deref() != Some(key) {
            // A server without ends of items: other parts have come since, and a part of its own would come too late.
            return Ok(());
        }
        self.open(key);
        self.keep(given_back(item))
    }

    /// Sets the data of the open reasoning part.
    fn keep(&mut self, kept: Value) -> Result<(), ModelError> {
        self.assembler.reasoning_data(assembler::size(&kept), |data| *data = kept)
    }

    fn begin_call(&mut self, key: &str, item: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        let Some(known) = self.items.get_mut(key) else { return Ok(()) };
        let call = known.serial.to_string();
        let id = [text_or_empty(item, "call_id"), text_or_empty(item, "id")]
            .into_iter()
            .find(|id| !id.is_empty())
            .unwrap_or_default();
        self.assembler.call(&call, id, text_or_empty(item, "name"), watch)?;
        known.call = Some(call);
        Ok(())
    }

    fn ensure(&mut self, key: &str, kind: Kind) -> Result<(), ModelError> {
        if self.items.contains_key(key) { Ok(()) } else { self.insert(key, kind, None) }
    }

    fn insert(&mut self, key: &str, kind: Kind, marker: Option<Value>) -> Result<(), ModelError> {
        if self.count >= MAX_PARTS {
            let fault = format!("the answer has more than {MAX_PARTS} output items");
            return Err(ModelError::of(self.origin(), ModelErrorKind::TooLarge, fault));
        }
        if key.len() > MAX_ID {
            return Err(malformed(self.origin(), "the id of an output item is too long"));
        }
        self.shut();
        let serial = self.count;
        self.count += 1;
        let item = Item { serial, kind, done: false, told: false, piece: None, marker, call: None };
        self.items.insert(key.to_owned(), item);
        Ok(())
    }

    /// Makes sure that what follows belongs to this item.
    fn open(&mut self, key: &str) {
        if self.open.as_deref() != Some(key) {
            self.assembler.close();
            self.open = Some(key.to_owned());
        }
    }

    fn shut(&mut self) {
        self.assembler.close();
        self.open = None;
    }
}
