//! Assembles tool calls from the pieces in which servers send them.
//!
//! OpenAI gives each call an `index`, and its id and name once. Others leave out the index, repeat id and name with every
//! piece, send an empty id later, give all calls the index 0, send a call at once, or write the arguments as an object.

use serde_json::Value;

use super::failure::too_large;
use crate::answer::Watch;
use crate::assembler::Assembler;
use crate::bounds::{MAX_ANSWER, MAX_CALLS, MAX_ID};
use crate::wire::json::text_or_empty;
use crate::{ModelError, ModelErrorKind, Origin};

/// Calls of one answer.
#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    /// Bytes of all that waits.
    waiting: usize,
}

struct Call {
    index: Option<u64>,
    id: String,
    /// Key in the assembler.
    key: String,
    /// True if its name is known, and so the assembler has it.
    is_started: bool,
    /// Arguments that came before the name.
    waiting: String,
}

/// A piece of a call.
struct Piece<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: &'a Value,
}

impl<'a> Piece<'a> {
    /// Reads a member of `tool_calls`.
    fn new(value: &'a Value) -> Self {
        let function = value.get("function").unwrap_or(&Value::Null);
        let index = value.get("index").and_then(Value::as_u64);
        Piece {
            index,
            id: text_or_empty(value, "id"),
            name: text_or_empty(function, "name"),
            arguments: arguments(function),
        }
    }

    /// Reads `function_call`, the form from before there were several calls.
    fn legacy(function: &'a Value) -> Self {
        Piece { index: Some(0), id: "", name: text_or_empty(function, "name"), arguments: arguments(function) }
    }
}

impl Calls {
    /// Reads a member of `tool_calls`. In a whole answer each is a call of its own.
    pub(super) fn read(
        &mut self,
        value: &Value,
        is_whole: bool,
        assembler: &mut Assembler,
        watch: &mut Watch<'_>,
    ) -> Result<(), ModelError> {
        let piece = Piece::new(value);
        let at = if is_whole { None } else { self.find(&piece) };
        let key = self.take(&piece, at, assembler, watch)?;
        // Google's compatible server signs calls and wants the signature back.
        if let Some(extra) = value.get("extra_content").filter(|extra| extra.is_object())
            && assembler.has_call(&key)
        {
            assembler.call_opaque(&key, extra.clone())?;
        }
        Ok(())
    }

    /// Reads `function_call`.
    pub(super) fn read_legacy(
        &mut self,
        function: &Value,
        assembler: &mut Assembler,
        watch: &mut Watch<'_>,
    ) -> Result<(), ModelError> {
        let piece = Piece::legacy(function);
        let at = self.find(&piece);
        self.take(&piece, at, assembler, watch).map(|_| ())
    }

    /// Returns true if there is a call with a name.
    pub(super) fn is_any_started(&self) -> bool {
        self.calls.iter().any(|call| call.is_started)
    }

    /// Fails if a call has arguments and no name.
    pub(super) fn check(&self, origin: &Origin) -> Result<(), ModelError> {
        if self.calls.iter().any(|call| !call.is_started && !call.waiting.is_empty()) {
            return Err(ModelError::of(origin, ModelErrorKind::Malformed, "a tool call has no name"));
        }
        Ok(())
    }

    /// The call that a piece belongs to. `None`: a new one.
    fn find(&self, piece: &Piece<'_>) -> Option<usize> {
        if piece.index.is_some() {
            // Another id and a name with the same index begin another call.
            let at = self.calls.iter().rposition(|call| call.index == piece.index)?;
            let call = self.calls.get(at)?;
            let is_other = !piece.name.is_empty() && !piece.id.is_empty() && !call.id.is_empty() && call.id != piece.id;
            return (!is_other).then_some(at);
        }
        let same_id = self.calls.iter().rposition(|call| !piece.id.is_empty() && call.id == piece.id);
        // Without a name it cannot begin a call, so it continues the last one.
        same_id.or_else(|| if piece.name.is_empty() { self.calls.len().checked_sub(1) } else { None })
    }

    /// Takes a piece, and gives the key of its call.
    fn take(
        &mut self,
        piece: &Piece<'_>,
        at: Option<usize>,
        assembler: &mut Assembler,
        watch: &mut Watch<'_>,
    ) -> Result<String, ModelError> {
        if piece.id.len() > MAX_ID {
            return Err(too_large(assembler.origin(), "the id of a tool call"));
        }
        let at = match at {
            Some(at) => at,
            None => self.open(piece.index, assembler.origin())?,
        };
        let Some(call) = self.calls.get_mut(at) else {
            return Err(ModelError::of(assembler.origin(), ModelErrorKind::Malformed, "a tool call is unknown"));
        };
        if call.id.is_empty() {
            call.id = piece.id.to_owned();
        }
        if !call.is_started && !piece.name.is_empty() {
            assembler.call(&call.key, &call.id, piece.name, watch)?;
            call.is_started = true;
            let waiting = std::mem::take(&mut call.waiting);
            if !waiting.is_empty() {
                assembler.arguments(&call.key, &waiting, watch)?;
            }
        }
        match piece.arguments {
            Value::Null => {}
            Value::String(text) if text.is_empty() => {}
            Value::String(text) if call.is_started => assembler.arguments(&call.key, text, watch)?,
            Value::String(text) => {
                self.waiting = self.waiting.saturating_add(text.len());
                call.waiting.push_str(text);
            }
            value if call.is_started => assembler.set_arguments(&call.key, &value.to_string(), watch)?,
            value => {
                call.waiting = value.to_string();
                self.waiting = self.waiting.saturating_add(call.waiting.len());
            }
        }
        if self.waiting > MAX_ANSWER {
            return Err(too_large(assembler.origin(), "arguments of tool calls"));
        }
        Ok(call.key.clone())
    }

    fn open(&mut self, index: Option<u64>, origin: &Origin) -> Result<usize, ModelError> {
        let at = self.calls.len();
        if at >= MAX_CALLS {
            return Err(too_large(origin, &format!("more than {MAX_CALLS} tool calls")));
        }
        let key = at.to_string();
        self.calls.push(Call { index, id: String::new(), key, is_started: false, waiting: String::new() });
        Ok(at)
    }
}

fn arguments(function: &Value) -> &Value {
    function.get("arguments").unwrap_or(&Value::Null)
}
