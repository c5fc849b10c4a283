//! Calls whose arguments do not match the function's WIT types. The engine cannot make them and reports them instead:
//! they are counted and refused here like any other call.

use super::BegunAnswer;
use crate::imports::{ImportedFunction, ImportedFunctions, end_event};
use crate::state::{State, note_fuel};
use crate::values::NotJson;
use agent_spaces_calls::blocking_pool::MAX_INLINE_BYTES;
use agent_spaces_calls::call_path::TypeIssue;
use agent_spaces_calls::journal::RecordedAnswer;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::json_memory::{self, ReadError, RepeatedKeys};
use agent_spaces_types::limits::text_bytes;
use agent_spaces_types::shape::{Field, Shape};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Instant;
use wasmtime::{Result, StoreContextMut};

/// Maximum issues per call: the engine reports no more.
const MAX_ISSUES: usize = 32;

/// Maximum length of an issue's path or message, in characters: the engine's are shorter.
const MAX_TEXT: usize = 2_000;

/// Arguments that do not match the function's WIT types, as the engine reports them.
pub(crate) struct InvalidArguments {
    /// JSON array of the arguments, if JSON can represent them.
    pub(crate) arguments: Option<String>,
    /// Mismatches.
    pub(crate) issues: Vec<TypeIssue>,
}

impl InvalidArguments {
    /// Returns its host memory.
    fn bytes(&self) -> u64 {
        let issue = |issue: &TypeIssue| size_of::<TypeIssue>() + issue.path.len() + issue.message.len();
        let arguments = self.arguments.as_ref().map_or(0, String::len);
        (arguments + self.issues.iter().map(issue).sum::<usize>()) as u64
    }
}

impl ImportedFunctions {
    /// Refuses a call of a function, by the function's WIT name.
    pub(crate) async fn refuse(
        &self,
        store: StoreContextMut<'_, State>,
        (interface, function): (&str, &str),
        invalid: InvalidArguments,
    ) -> Result<CapabilityError> {
        // The engine names only functions that it was given.
        let import = self.find(interface, function);
        let import = import.ok_or_else(|| wasmtime::Error::msg("not a function of this run"))?;
        import.refuse_arguments(store, invalid).await
    }
}

impl ImportedFunction {
    /// Takes a call through the steps before its provider, one of which refuses it.
    async fn refuse_arguments(
        self: &Arc<ImportedFunction>,
        mut store: StoreContextMut<'_, State>,
        invalid: InvalidArguments,
    ) -> Result<CapabilityError> {
        let begun = Instant::now();
        note_fuel(&mut store);
        let context = store.data().context().clone();
        let (memory, bytes) = (context.memory.share(), invalid.bytes());
        memory.take(bytes).map_err(|_| store.data_mut().out_of_host_memory())?;
        let InvalidArguments { arguments, issues } = invalid;
        let is_large = bytes > MAX_INLINE_BYTES && context.journal.is_none();
        let read = || {
            let text = arguments.as_deref().unwrap_or("null");
            let read = memory.metered(|meter| json_memory::from_str(text, RepeatedKeys::LastCounts, meter));
            let params = match read {
                Ok(arguments) => self.passed(arguments),
                Err(ReadError::Memory(error)) => return Err(NotJson::Memory(error)),
                Err(ReadError::Json(_)) => Value::Null,
            };
            let bytes = text_bytes(&params);
            Ok((params, bytes))
        };
        let params = if is_large { context.blocking_pool.in_place(read).await } else { read() };
        let permit = if is_large { Some(context.blocking_pool.acquire().await) } else { None };
        let BegunAnswer { call, recorded } = self.begin(store.data_mut(), params, &memory, permit)?;
        let id = call.id;
        let error = match recorded {
            Some(RecordedAnswer { answer: Err(error), .. }) => error,
            _ => {
                let path = self.path.clone();
                let error = path.refuse_arguments(call, bounded(issues), self.order(), context).await;
                store.data().record_refusal(id, &error);
                error
            }
        };
        store.data_mut().end_call(false, end_event(id, begun.elapsed(), Err(&error)))?;
        match memory.is_exhausted() {
            true => Err(store.data_mut().out_of_host_memory()),
            false => Ok(error),
        }
    }

    /// Converts the array of arguments to parameters; null if it is not an array.
    fn passed(&self, arguments: Value) -> Value {
        let Value::Array(arguments) = arguments else { return Value::Null };
        let mut arguments = arguments.into_iter();
        if self.takes_params() || self.is_compiled {
            return arguments.next().unwrap_or_default();
        }
        let names = self.shape.parameters.iter().map(|parameter| parameter.name.json.clone());
        Value::Object(names.zip(arguments).collect::<Map<_, _>>())
    }

    /// Returns the names of its parameters in declared order.
    fn order(&self) -> Vec<String> {
        let fields: &[Field] = match self.shape.parameters.as_slice() {
            [Field { shape: Shape::Record(fields), .. }] => fields,
            fields => fields,
        };
        fields.iter().map(|field| field.name.json.clone()).collect()
    }
}

/// Bounds the number and length of issues, which a hostile guest controls.
fn bounded(issues: Vec<TypeIssue>) -> Vec<TypeIssue> {
    let cut = |text: String| match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    };
    let issue = |TypeIssue { path, message, missing }| TypeIssue { path: cut(path), message: cut(message), missing };
    issues.into_iter().take(MAX_ISSUES).map(issue).collect()
}
