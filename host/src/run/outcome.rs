//! What came of a run, in words.

use super::entry::ScriptFailure;
use super::stack::{Restored, restore};
use super::state::Failure;
use super::trap::trap_error;
use crate::engine::{EXHAUSTED, EXHAUSTED_HINT, MemoryBudget};
use crate::error_report::RunError;
use crate::events::ConsoleLevel;
use crate::limits::{HostMemory, Limit, Limits, host_memory_message};
use crate::off_thread::{MAX_INLINE_BYTES, Turns};
use crate::program::Program;
use crate::usage::Usage;
use capability_gen::json_memory::{self, ReadError, RepeatedKeys};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// The longest details of an error, in bytes of JSON: what the engine gives at most.
const MAX_DETAILS: usize = 64 << 10;

/// Code of a value that a run cannot give, and what the engine says of one of them.
const RESULT: &str = "script.result";
const BIG_INT: &str = "a BigInt";
const BIG_INT_HINT: &str =
    "Convert it: `String(value)` keeps every digit, `Number(value)` is exact up to Number.MAX_SAFE_INTEGER.";

/// What came of a run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// The run: `run_…`.
    pub run_id: Arc<str>,
    /// The script's value, or why there is none.
    pub outcome: Result<Value, RunError>,
    /// Whether it has a value at all. A script whose value is `undefined` has none, and its outcome is null.
    pub has_value: bool,
    /// What it printed.
    pub console: Vec<ConsoleLine>,
    /// What it used.
    pub usage: Usage,
}

/// One message on the console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConsoleLine {
    /// How loud.
    pub level: ConsoleLevel,
    /// What.
    pub text: String,
}

/// How a run ended.
pub(crate) enum Ending {
    /// The engine answered.
    Answered(super::entry::Answer),
    /// The same, with its text read.
    Valued(Result<Value, RunError>),
    /// The guest trapped, or the host made it.
    Trapped(wasmtime::Error),
    TimedOut,
    Cancelled,
    /// It never began.
    Refused(RunError),
}

impl Ending {
    /// Parses a large value off the serving threads. The run's calls are over: all of its memory is there for that.
    pub(crate) async fn with_value(self, limits: &Limits, process: &Arc<MemoryBudget>, turns: &Turns) -> Ending {
        match self {
            Ending::Answered(Ok(json)) if json.len() as u64 > MAX_INLINE_BYTES => {
                let (limits, memory) = (limits.clone(), HostMemory::new(limits, process));
                let read = turns.off_thread(move |_| read_value(&json, &limits, &memory)).await;
                Ending::Valued(read.unwrap_or_else(|error| Err(RunError::new("host.engine", error.message))))
            }
            ending => ending,
        }
    }

    /// Whether there is a value: `undefined` is none.
    pub(crate) fn has_value(&self) -> bool {
        match self {
            Ending::Answered(answer) => answer.as_ref().is_ok_and(|json| !json.is_empty()),
            Ending::Valued(value) => value.is_ok(),
            _ => false,
        }
    }

    /// The value, or why there is none.
    pub(crate) fn outcome(
        self,
        failure: Option<Failure>,
        limits: &Limits,
        program: Option<&Program>,
    ) -> Result<Value, RunError> {
        match (self, failure) {
            (_, Some(Failure::Limit(limit))) => Err(limit_error(limit, limits)),
            (_, Some(Failure::HostMemory)) => Err(host_memory_error(limits)),
            (_, Some(Failure::ProcessMemory)) => Err(process_memory_error()),
            (_, Some(Failure::Unspeakable(message))) => Err(RunError::new("call.failed", message)),
            (Ending::TimedOut, _) => Err(limit_error(Limit::Time, limits)),
            (Ending::Cancelled, _) => Err(RunError::new("run.cancelled", "The run was cancelled")),
            (Ending::Refused(error), _) => Err(error),
            (Ending::Trapped(error), _) => Err(trap_error(&error, limits)),
            // Short: a long one became a value before.
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
    RunError::new("host.engine", format!("The engine's answer is not JSON: {error}"))
}

fn host_memory_error(limits: &Limits) -> RunError {
    RunError::new(Limit::Memory.code(), host_memory_message(limits)).hint(Limit::Memory.hint())
}

/// Why a run does not begin or go on while others use all that the process may.
pub(crate) fn process_memory_error() -> RunError {
    RunError::new("host.memory", EXHAUSTED).hint(EXHAUSTED_HINT)
}

pub(super) fn limit_error(limit: Limit, limits: &Limits) -> RunError {
    RunError::new(limit.code(), limit.message(limits)).hint(limit.hint())
}

fn script_error(failure: ScriptFailure, limits: &Limits, program: Option<&Program>) -> RunError {
    if let Some(limit) = Limit::from_code(&failure.code) {
        return limit_error(limit, limits);
    }
    let ScriptFailure { code, name, message, stack, hint, details, retryable } = failure;
    let Restored { stack, location, function, causes, message: said } = match (stack, program) {
        (Some(stack), Some(program)) => restore(&stack, name.as_deref().unwrap_or_default(), &message, program),
        (stack, _) => Restored { stack: stack.unwrap_or_default(), ..Restored::default() },
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
