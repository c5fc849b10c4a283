//! Builds an answer from its deltas, within bounds. Every decoder uses it, and so do wires that read whole answers (with
//! a watch that does nothing), so that both give the same answer.

use std::collections::{HashMap, HashSet};

use agent_spaces_types::json_memory::{self, Allowance, Meter, ReadError, RepeatedKeys};
use serde_json::{Map, Value};

use crate::ModelErrorKind::{Cut, Malformed, TooLarge};
use crate::answer::{Delta, Watch};
use crate::bounds::{MAX_ANSWER, MAX_CALLS, MAX_ID, MAX_PARTS};
use crate::{Answer, Arguments, Finish, ModelError, Opaque, Origin, Part, Reasoning, ToolCall, Usage};

#[cfg(test)]
mod tests;

/// Memory of all parsed arguments of one answer. An item of `[0,0,…]` takes two bytes of text and some seventy of memory.
const MAX_ARGUMENTS_MEMORY: u64 = 64 << 20;

/// Builds an answer. A *key* is how the wire names a block or call: its index or id, as text.
pub(crate) struct Assembler {
    origin: Origin,
    parts: Vec<Open>,
    /// The last part is finished, so that text does not extend it.
    is_closed: bool,
    /// Keys of calls, with their places in `parts`.
    calls: HashMap<String, usize>,
    /// Ids of calls.
    ids: HashSet<String>,
    /// Bytes so far, of all that [`MAX_ANSWER`] bounds.
    size: usize,
    model: Option<String>,
    usage: Usage,
    finish: Option<Finish>,
}

/// A part that may still grow.
enum Open {
    Text(String),
    Reasoning { text: String, data: Value },
    Call(OpenCall),
}

struct OpenCall {
    id: String,
    name: String,
    arguments: String,
    /// Some of the arguments were reported.
    is_told: bool,
    opaque: Option<Value>,
}

impl Assembler {
    pub(crate) fn new(origin: &Origin) -> Self {
        Assembler {
            origin: origin.clone(),
            parts: Vec::new(),
            is_closed: false,
            calls: HashMap::new(),
            ids: HashSet::new(),
            size: 0,
            model: None,
            usage: Usage::default(),
            finish: None,
        }
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Appends text. Consecutive text without another part between is one part. Empty text changes nothing.
    pub(crate) fn text(&mut self, text: &str, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        if text.is_empty() {
            return Ok(());
        }
        self.grow(text.len())?;
        match self.open() {
            Some(Open::Text(open)) => open.push_str(text),
            _ => self.add(Open::Text(text.to_owned()))?,
        }
        watch(Delta::Text(text));
        Ok(())
    }

    /// Appends reasoning text to the open reasoning part, or opens one. Empty text changes nothing.
    pub(crate) fn reasoning(&mut self, text: &str, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        if text.is_empty() {
            return Ok(());
        }
        self.grow(text.len())?;
        match self.open() {
            Some(Open::Reasoning { text: open, .. }) => open.push_str(text),
            _ => self.add(Open::Reasoning { text: text.to_owned(), data: Value::Null })?,
        }
        watch(Delta::Reasoning(text));
        Ok(())
    }

    /// Changes the data of the open reasoning part in place, or opens one without text. The data is null at first.
    /// `size` is the number of bytes that the change adds.
    pub(crate) fn reasoning_data(&mut self, size: usize, edit: impl FnOnce(&mut Value)) -> Result<(), ModelError> {
        self.grow(size)?;
        if let Some(Open::Reasoning { data, .. }) = self.open() {
            edit(data);
            return Ok(());
        }
        let mut data = Value::Null;
        edit(&mut data);
        self.add(Open::Reasoning { text: String::new(), data })
    }

    /// Ends the open text or reasoning part: what follows is a new one.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Begins a call, and reports it. An empty id becomes `call_N`; an id that exists already gets `_N` appended. A key
    /// that exists already names the new call from now on.
    pub(crate) fn call(&mut self, key: &str, id: &str, name: &str, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        if self.ids.len() >= MAX_CALLS {
            return Err(too_large(format!("more than {MAX_CALLS} calls")));
        }
        if [key, id, name].iter().any(|text| text.len() > MAX_ID) {
            return Err(too_large(format!("a call whose id or name has more than {MAX_ID} bytes")));
        }
        let id = self.unique_id(id);
        self.grow(id.len().saturating_add(name.len()))?;
        watch(Delta::CallStarted { id: &id, name });
        self.calls.insert(key.to_owned(), self.parts.len());
        self.ids.insert(id.clone());
        let (name, arguments) = (name.to_owned(), String::new());
        self.add(Open::Call(OpenCall { id, name, arguments, is_told: false, opaque: None }))
    }

    pub(crate) fn has_call(&self, key: &str) -> bool {
        self.calls.contains_key(key)
    }

    /// Appends to a call's arguments.
    ///
    /// # Errors
    /// `Malformed`, if no call has the key.
    pub(crate) fn arguments(&mut self, key: &str, text: &str, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        self.grow(text.len())?;
        let call = self.call_of(key)?;
        call.arguments.push_str(text);
        call.tell(text, watch);
        Ok(())
    }

    /// Replaces a call's arguments, for formats that repeat them whole at the end. Reports them if none were reported
    /// before.
    ///
    /// # Errors
    /// `Malformed`, if no call has the key.
    pub(crate) fn set_arguments(&mut self, key: &str, text: &str, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        let before = self.call_of(key)?.arguments.len();
        self.size = self.size.saturating_sub(before);
        self.grow(text.len())?;
        let call = self.call_of(key)?;
        text.clone_into(&mut call.arguments);
        if !call.is_told {
            call.tell(text, watch);
        }
        Ok(())
    }

    /// Sets the data that the provider requires back with a call. Some servers repeat it with every piece of the call.
    ///
    /// # Errors
    /// `Malformed`, if no call has the key.
    pub(crate) fn call_opaque(&mut self, key: &str, value: Value) -> Result<(), ModelError> {
        let before = self.call_of(key)?.opaque.as_ref().map_or(0, size);
        self.size = self.size.saturating_sub(before);
        self.grow(size(&value))?;
        self.call_of(key)?.opaque = Some(value);
        Ok(())
    }

    /// Sets the name of the model that answers. An empty name, or one that is too long to be a name, changes nothing.
    pub(crate) fn model(&mut self, model: &str) {
        if (1..=MAX_ID).contains(&model.len()) && self.model.as_deref() != Some(model) {
            self.model = Some(model.to_owned());
        }
    }

    pub(crate) fn usage(&mut self) -> &mut Usage {
        &mut self.usage
    }

    /// Sets the finish reason. The last one counts.
    pub(crate) fn set_finish(&mut self, finish: Finish) {
        self.finish = Some(finish);
    }

    /// Builds the answer and parses arguments: empty text is an empty object, unless the token limit cut it, and text that
    /// is not a JSON object is [`Arguments::Broken`]. `Stop` after a call means `ToolCalls`.
    ///
    /// # Errors
    /// `Cut`, if there is no finish reason.
    pub(crate) fn build(self) -> Result<Answer, ModelError> {
        let Assembler { origin, parts, ids, model, usage, finish, .. } = self;
        let finish = match finish {
            Some(Finish::Stop) if !ids.is_empty() => Finish::ToolCalls,
            Some(finish) => finish,
            None => return Err(ModelError::new(Cut, "The answer ended before its end")),
        };
        // A call that was cut before its arguments is not a call without any.
        let is_cut = finish == Finish::Length
            && matches!(parts.last(), Some(Open::Call(call)) if call.arguments.trim().is_empty());
        let mut allowance = Allowance(MAX_ARGUMENTS_MEMORY);
        let built = parts.into_iter().map(|part| part.build(&origin, &mut allowance));
        let mut parts = built.collect::<Result<Vec<_>, _>>()?;
        if is_cut && let Some(Part::ToolCall(call)) = parts.last_mut() {
            call.arguments = Arguments::Broken(String::new());
        }
        Ok(Answer { parts, finish, usage, model })
    }

    /// The last part, if it may be extended.
    fn open(&mut self) -> Option<&mut Open> {
        if self.is_closed { None } else { self.parts.last_mut() }
    }

    fn add(&mut self, part: Open) -> Result<(), ModelError> {
        if self.parts.len() >= MAX_PARTS {
            return Err(too_large(format!("more than {MAX_PARTS} parts")));
        }
        self.parts.push(part);
        self.is_closed = false;
        Ok(())
    }

    fn grow(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.size = self.size.saturating_add(bytes);
        if self.size > MAX_ANSWER { Err(too_large(format!("more than {MAX_ANSWER} bytes"))) } else { Ok(()) }
    }

    fn call_of(&mut self, key: &str) -> Result<&mut OpenCall, ModelError> {
        let place = self.calls.get(key).copied();
        match place.and_then(|place| self.parts.get_mut(place)) {
            Some(Open::Call(call)) => Ok(call),
            _ => Err(ModelError::new(Malformed, "The answer has arguments of a call that did not begin")),
        }
    }

    fn unique_id(&self, id: &str) -> String {
        if !id.is_empty() && !self.ids.contains(id) {
            return id.to_owned();
        }
        let base = if id.is_empty() { "call" } else { id };
        // Among one number more than there are ids, one is free.
        let numbers = self.ids.len()..=self.ids.len().saturating_mul(2);
        let mut free = numbers.map(|number| format!("{base}_{number}")).filter(|id| !self.ids.contains(id));
        free.next().unwrap_or_else(|| base.to_owned())
    }
}

impl OpenCall {
    fn tell(&mut self, text: &str, watch: &mut Watch<'_>) {
        if !text.is_empty() {
            self.is_told = true;
            watch(Delta::CallArguments { id: &self.id, text });
        }
    }
}

impl Open {
    fn build(self, origin: &Origin, allowance: &mut Allowance) -> Result<Part, ModelError> {
        Ok(match self {
            Open::Text(text) => Part::Text(text),
            Open::Reasoning { text, data } => {
                let data = if data.is_null() { None } else { Some(data) };
                Part::Reasoning(Reasoning { text, from: origin.clone(), data })
            }
            Open::Call(OpenCall { id, name, arguments, opaque, .. }) => {
                let arguments = parsed(arguments, allowance)?;
                let opaque = opaque.map(|value| Opaque { from: origin.clone(), value });
                Part::ToolCall(ToolCall { id, name, arguments, opaque })
            }
        })
    }
}

/// Memory of a value, for [`MAX_ANSWER`]: it may be a multiple of its text.
pub(crate) fn size(value: &Value) -> usize {
    let most = u64::try_from(MAX_ANSWER).unwrap_or(u64::MAX).saturating_add(1);
    usize::try_from(json_memory::size(value, most)).unwrap_or(usize::MAX)
}

/// Parses arguments. The parser refuses more than [`crate::bounds::MAX_DEPTH`] levels.
fn parsed(text: String, allowance: &mut Allowance) -> Result<Arguments, ModelError> {
    if text.trim().is_empty() {
        return Ok(Arguments::Object(Map::new()));
    }
    match json_memory::from_str(&text, RepeatedKeys::LastCounts, &mut Meter::new(allowance)) {
        Ok(Value::Object(members)) => Ok(Arguments::Object(members)),
        Ok(_) | Err(ReadError::Json(_)) => Ok(Arguments::Broken(text)),
        Err(ReadError::Memory(_)) => Err(too_large("calls whose arguments have too many values".to_owned())),
    }
}

fn too_large(what: String) -> ModelError {
    ModelError::new(TooLarge, format!("The answer has {what}"))
}
