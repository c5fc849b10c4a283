//! Answers on their way back: from a provider's JSON to the component value that the function returns.

use super::target::Target;
use crate::handlers::CapabilityError;
use crate::limits::{CallMemory, text_bytes};
use crate::off_thread::MAX_INLINE_BYTES;
use crate::pipeline::{Answered, Outcome};
use crate::run::RunContext;
use crate::values::{Mismatch, Shape, from_json};
use capability_gen::json_memory::{self, Allowance, Meter};
use serde_json::Value;
use std::sync::Arc;
use wasmtime::component::Val;

/// What an error may take of the host's memory as a component's value: far more than any error has.
const MAX_ERROR_BYTES: u64 = 64 << 20;

/// An answer that is on its way to the script.
pub(super) struct Fitted {
    /// How long its text is.
    pub(super) bytes: u64,
    pub(super) value: FittedValue,
    pub(super) is_cached: bool,
    pub(super) outcome: Outcome,
}

/// What a function returns, or why its answer cannot be that.
pub(super) type FittedValue = Result<Option<Val>, CapabilityError>;

impl Target {
    /// Makes what the function returns of an answer, away from the threads that serve where it is large.
    pub(super) async fn fit(
        self: &Arc<Target>,
        answered: Answered,
        max_bytes: u64,
        memory: &Arc<CallMemory>,
        context: &RunContext,
    ) -> Fitted {
        let Answered { value, is_cached, outcome } = answered;
        let is_small = json_memory::size(&value, MAX_INLINE_BYTES) < MAX_INLINE_BYTES;
        let (bytes, value) = if is_small {
            self.fit_now(value, max_bytes, memory)
        } else {
            let (target, memory) = (self.clone(), memory.clone());
            let fitting = context.turns.off_thread(move |_| target.fit_now(value, max_bytes, &memory));
            fitting.await.unwrap_or_else(|error| (0, Err(error)))
        };
        Fitted { bytes, value, is_cached, outcome }
    }

    /// How long an answer is, and what the function returns.
    fn fit_now(&self, value: Value, max_bytes: u64, memory: &CallMemory) -> (u64, FittedValue) {
        let bytes = text_bytes(&value);
        if bytes > max_bytes {
            let message = format!("{}'s answer is larger than one may be", self.pipeline.label());
            return (bytes, Err(CapabilityError::failed(message)));
        }
        (bytes, self.value(value, memory))
    }

    /// A handler's value as the function returns it.
    fn value(&self, value: Value, memory: &CallMemory) -> FittedValue {
        let mismatch = |mismatch: Mismatch| {
            let message = format!("{}'s answer does not fit its type: {mismatch}", self.pipeline.label());
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

    /// An error as the function returns it, where its type can say so.
    pub(super) fn error(&self, error: &CapabilityError) -> Option<Val> {
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
