//! Ending of a run, and the value or error that it has.

use super::stack::unmapped;
use super::trap::trap_error;
use crate::program::Program;
use crate::program::source_info::Restored;
use crate::sandbox::entry::{Answer, ScriptFailure};
use crate::state::Failure;
use agent_spaces_calls::blocking_pool::{BlockingPool, MAX_INLINE_BYTES};
use agent_spaces_calls::host_memory::{HostMemory, message as host_memory_message};
use agent_spaces_calls::memory_budget::{EXHAUSTED, EXHAUSTED_HINT, MemoryBudget};
use agent_spaces_types::code::Code;
use agent_spaces_types::json_memory::{self, ReadError, RepeatedKeys};
use agent_spaces_types::limits::{Limit, Limits};
use agent_spaces_types::run_error::RunError;
use serde_json::Value;
use std::sync::Arc;

/// Maximum size of an error's details, in bytes of JSON: the engine's own bound.
const MAX_DETAILS: usize = 64 << 10;

/// Code of a value that JSON cannot represent.
const RESULT: Code = Code::ScriptResult;
/// End of the engine's message for a BigInt.
const BIG_INT: &str = "a BigInt";
const BIG_INT_HINT: &str =
    "Convert it: `String(value)` keeps every digit, `Number(value)` is exact up to Number.MAX_SAFE_INTEGER.";

/// Ending of a run.
pub enum Ending {
    /// The engine returned a JSON text or an error.
    Answered(Answer),
    /// The engine returned a JSON text, which was parsed.
    Valued(Result<Value, RunError>),
    /// The guest trapped, or a host function returned an error.
    Trapped(wasmtime::Error),
    /// The time limit was reached.
    TimedOut,
    /// The run was cancelled.
    Cancelled,
    /// The durable run waits and left memory, or another host owns it.
    Parked,
    /// The run was refused before it started.
    Refused(RunError),
}

impl Ending {
    /// Parses a large value on a blocking thread. The run's calls are over, so all of its host memory is free.
    pub async fn with_value(
        self,
        limits: &Limits,
        process: &Arc<MemoryBudget>,
        blocking_pool: &BlockingPool,
    ) -> Ending {
        match self {
            Ending::Answered(Ok(json)) if json.len() as u64 > MAX_INLINE_BYTES => {
                let (limits, memory) = (limits.clone(), HostMemory::new(limits, process));
                let read = blocking_pool.run(move |_| read_value(&json, &limits, &memory)).await;
                Ending::Valued(read.unwrap_or_else(|error| Err(RunError::new(Code::HostEngine, error.message))))
            }
            ending => ending,
        }
    }

    /// Returns true if there is a value: `undefined` is none.
    pub fn has_value(&self) -> bool {
        match self {
            Ending::Answered(answer) => answer.as_ref().is_ok_and(|json| !json.is_empty()),
            Ending::Valued(value) => value.is_ok(),
            _ => false,
        }
    }

    /// Returns the value or the error. `failure` takes precedence: it says why the host ended the run.
    pub fn outcome(
        self,
        failure: Option<Failure>,
        limits: &Limits,
        program: Option<&Program>,
    ) -> Result<Value, RunError> {
        match (self, failure) {
            (_, Some(Failure::Limit(limit))) => Err(limit_error(limit, limits)),
            (_, Some(Failure::HostMemory)) => Err(host_memory_error(limits)),
            (_, Some(Failure::ProcessMemory)) => Err(process_memory_error()),
            (_, Some(Failure::Diverged(diverged))) => Err(RunError::new(Code::RunDiverged, diverged.to_string())),
            (_, Some(Failure::NoErrorType(message))) => Err(RunError::new(Code::CallFailed, message)),
            (Ending::TimedOut, _) => Err(limit_error(Limit::Time, limits)),
            (Ending::Cancelled, _) => Err(RunError::new(Code::RunCancelled, "The run was cancelled")),
            (Ending::Parked, _) => Err(RunError::new(Code::RunParked, "The run waits, and left memory")),
            (Ending::Refused(error), _) => Err(error),
            (Ending::Trapped(error), _) => Err(trap_error(&error, limits)),
            // Short: long ones were parsed by `with_value`.
            (Ending::Answered(Ok(json)), _) if json.is_empty() => Ok(Value::Null),
            (Ending::Answered(Ok(json)), _) => serde_json::from_str(&json).map_err(not_json),
            (Ending::Valued(value), _) => value,
            (Ending::Answered(Err(failure)), _) => Err(script_error(failure, limits, program)),
        }
    }
}

fn read_value(json: &str, limits: &Limits, memory: &HostMemory) -> Result<Value, RunError> {
    let share = memory.share();
    let read = share.metered(|meter| json_memory::from_str(json, RepeatedKeys::LastCounts, meter));
    read.map_err(|error| match error {
        ReadError::Memory(_) if memory.is_process_out() => process_memory_error(),
        ReadError::Memory(_) => host_memory_error(limits),
        ReadError::Json(error) => not_json(error),
    })
}

fn not_json(error: serde_json::Error) -> RunError {
    RunError::new(Code::HostEngine, format!("The engine's answer is not JSON: {error}"))
}

fn host_memory_error(limits: &Limits) -> RunError {
    RunError::new(Limit::Memory.code(), host_memory_message(limits)).hint(Limit::Memory.hint())
}

/// Error of a run that the process has no memory for.
pub(crate) fn process_memory_error() -> RunError {
    RunError::new(Code::HostMemory, EXHAUSTED).hint(EXHAUSTED_HINT)
}

pub(super) fn limit_error(limit: Limit, limits: &Limits) -> RunError {
    RunError::new(limit.code(), limit.message(limits)).hint(limit.hint())
}

fn script_error(failure: ScriptFailure, limits: &Limits, program: Option<&Program>) -> RunError {
    if let Some(limit) = Limit::from_code(&failure.code) {
        return limit_error(limit, limits);
    }
    let ScriptFailure { code, name, message, stack, hint, details, retryable } = failure;
    let source = program.and_then(|program| Some((program, program.source()?)));
    let Restored { stack, location, function, causes, message: said } = match (stack, source) {
        (Some(stack), Some((program, source))) => {
            source.restore_stack(program, &stack, name.as_deref().unwrap_or_default(), &message)
        }
        (Some(stack), None) => unmapped(&stack),
        (None, _) => Restored::default(),
    };
    let hint = if code == RESULT && message.ends_with(BIG_INT) { Some(BIG_INT_HINT.to_owned()) } else { hint };
    let details = details.filter(|details| details.len() <= MAX_DETAILS);
    RunError {
        code,
        message: said.unwrap_or(message),
        name,
        stack: Some(stack).filter(|stack| !stack.is_empty()),
        location,
        function,
        causes,
        hint,
        details: details.and_then(|details| serde_json::from_str(&details).ok()),
        retryable,
    }
}
