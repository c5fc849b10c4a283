//! Conversion of answers: from a provider's JSON to the component value that the function returns.

use super::function::ImportedFunction;
use crate::values::{Mismatch, from_json};
use agent_spaces_calls::blocking_pool::MAX_INLINE_BYTES;
use agent_spaces_calls::call_path::{Answered, Outcome};
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::host_memory::CallMemory;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::json_memory::{self, Allowance, Meter};
use agent_spaces_types::limits::text_bytes;
use agent_spaces_types::shape::Shape;
use serde_json::Value;
use std::sync::Arc;
use wasmtime::component::Val;

/// Maximum host memory of an error as a component value: far more than any error needs.
const MAX_ERROR_BYTES: u64 = 64 << 20;

/// Answer with its component value.
pub(crate) struct ConvertedAnswer {
    /// Size of its JSON text.
    pub(crate) bytes: u64,
    pub(crate) value: ConvertedValue,
    pub(crate) is_cached: bool,
    pub(crate) outcome: Outcome,
}

/// Component value that a function returns, or the error of an answer that does not match its type.
pub(crate) type ConvertedValue = Result<Option<Val>, CapabilityError>;

impl ImportedFunction {
    /// Converts an answer to the function's result type; large ones on a blocking thread.
    pub(crate) async fn convert(
        self: &Arc<ImportedFunction>,
        answered: Answered,
        max_bytes: u64,
        memory: &Arc<CallMemory>,
        context: &RunContext,
    ) -> ConvertedAnswer {
        let Answered { value, is_cached, outcome } = answered;
        let is_small = json_memory::size(&value, MAX_INLINE_BYTES) < MAX_INLINE_BYTES;
        let (bytes, value) = if is_small {
            self.convert_now(value, max_bytes, memory)
        } else {
            let (import, memory) = (self.clone(), memory.clone());
            let converting = context.blocking_pool.run(move |_| import.convert_now(value, max_bytes, &memory));
            converting.await.unwrap_or_else(|error| (0, Err(error)))
        };
        ConvertedAnswer { bytes, value, is_cached, outcome }
    }

    /// Returns the size of an answer's JSON text, and its component value.
    fn convert_now(&self, value: Value, max_bytes: u64, memory: &CallMemory) -> (u64, ConvertedValue) {
        let bytes = text_bytes(&value);
        if bytes > max_bytes {
            let message = format!("{}'s answer is too large", self.path.label());
            return (bytes, Err(CapabilityError::failed(message)));
        }
        (bytes, self.value(value, memory))
    }

    /// Converts a handler's value to the function's result type.
    fn value(&self, value: Value, memory: &CallMemory) -> ConvertedValue {
        let mismatch = |mismatch: Mismatch| {
            let message = format!("{}'s answer does not fit its type: {mismatch}", self.path.label());
            let details = Some(serde_json::json!({ "hint": "malformed_response" }));
            CapabilityError { details, ..CapabilityError::failed(message) }
        };
        memory.take_answer(&value).map_err(|error| mismatch(error.into()))?;
        let from_json = |value, shape: &Shape| memory.metered(|meter| from_json(value, shape, meter)).map_err(mismatch);
        match &self.shape.result {
            None => Ok(None),
            Some(Shape::Result(None, _)) => Ok(Some(Val::Result(Ok(None)))),
            Some(Shape::Result(Some(ok), _)) => Ok(Some(Val::Result(Ok(Some(Box::new(from_json(value, ok)?)))))),
            Some(shape) => from_json(value, shape).map(Some),
        }
    }

    /// Converts an error to the function's result type, or returns `None` if that has no error case.
    pub(crate) fn error(&self, error: &CapabilityError) -> Option<Val> {
        let Some(Shape::Result(_, err)) = &self.shape.result else { return None };
        let payload = match err.as_deref() {
            None => None,
            Some(Shape::String) => Some(Val::String(error.message.clone())),
            Some(shape) => {
                let record = serde_json::to_value(error).ok()?;
                let fit = |value| from_json(value, shape, &mut Meter::new(&mut Allowance(MAX_ERROR_BYTES))).ok();
                // An interface with errors of its own gets them from the details.
                let own = || fit(error.details.clone()?);
                Some(fit(record).or_else(own)?)
            }
        };
        Some(Val::Result(Err(payload.map(Box::new))))
    }
}
