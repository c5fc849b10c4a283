//! What came of a run, in words.

use super::entry::ScriptFailure;
use super::stack::restore;
use super::state::Failure;
use crate::error_report::RunError;
use crate::events::ConsoleLevel;
use crate::limits::{Limit, Limits, Reached};
use crate::program::Sources;
use crate::usage::Usage;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use wasmtime::Trap;

/// What came of a run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// The run: `run_…`.
    pub run_id: Arc<str>,
    /// The script's value, or why there is none.
    pub outcome: Result<Value, RunError>,
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
    /// The guest trapped, or the host made it.
    Trapped(wasmtime::Error),
    TimedOut,
    Cancelled,
    /// It never began.
    Refused(RunError),
}

impl Ending {
    /// The value, or why there is none.
    pub(crate) fn outcome(
        self,
        failure: Option<Failure>,
        limits: &Limits,
        sources: &Sources,
    ) -> Result<Value, RunError> {
        match (self, failure) {
            (_, Some(Failure::Limit(limit))) => Err(limit_error(limit, limits)),
            (_, Some(Failure::Unspeakable(message))) => Err(RunError::new("call.failed", message)),
            (Ending::TimedOut, _) => Err(limit_error(Limit::Time, limits)),
            (Ending::Cancelled, _) => Err(RunError::new("run.cancelled", "The run was cancelled")),
            (Ending::Refused(error), _) => Err(error),
            (Ending::Trapped(error), _) => Err(trap_error(&error, limits)),
            (Ending::Answered(Ok(json)), _) => serde_json::from_str(&json)
                .map_err(|error| RunError::new("host.engine", format!("The engine's answer is not JSON: {error}"))),
            (Ending::Answered(Err(failure)), _) => Err(script_error(failure, limits, sources)),
        }
    }
}

fn limit_error(limit: Limit, limits: &Limits) -> RunError {
    RunError::new(limit.code(), limit.message(limits)).hint(limit.hint())
}

fn trap_error(error: &wasmtime::Error, limits: &Limits) -> RunError {
    if let Some(Reached(limit)) = error.downcast_ref::<Reached>() {
        return limit_error(*limit, limits);
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => limit_error(Limit::Fuel, limits),
        // The engine's own stack lies at the bottom of its memory: overflowing it is out of bounds.
        Some(Trap::StackOverflow | Trap::MemoryOutOfBounds) => limit_error(Limit::Stack, limits),
        _ if is_hostcall_fuel(error) => limit_error(Limit::Bytes, limits),
        _ => RunError::new("host.engine", format!("The sandbox failed: {}", error.root_cause())),
    }
}

/// Whether the guest passed more than the host takes in one call; wasmtime's error has no public type.
fn is_hostcall_fuel(error: &wasmtime::Error) -> bool {
    error.chain().any(|cause| cause.to_string().contains("too much data"))
}

fn script_error(failure: ScriptFailure, limits: &Limits, sources: &Sources) -> RunError {
    if let Some(limit) = Limit::from_code(&failure.code) {
        return limit_error(limit, limits);
    }
    let (stack, location) = match failure.stack {
        Some(stack) => {
            let (stack, location) = restore(&stack, sources);
            (Some(stack).filter(|stack| !stack.is_empty()), location)
        }
        None => (None, None),
    };
    RunError {
        code: failure.code,
        message: failure.message,
        name: failure.name,
        stack,
        location,
        hint: failure.hint,
        details: failure.details.and_then(|details| serde_json::from_str(&details).ok()),
        retryable: failure.retryable,
    }
}
