//! Schema of run errors, which are `agent_spaces_types::run_error`'s.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Error of a run.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RunError)]
pub(crate) struct ScriptFault {
    /// Code that programs can rely on: `script.error`, `limit.fuel`, `run.cancelled`.
    code: String,
    /// Error message.
    message: String,
    /// Constructor name of the thrown error: `TypeError`.
    name: Option<String>,
    /// Stack frames, with positions in the original source.
    stack: Option<String>,
    /// Source location of the error.
    location: Option<FaultLocation>,
    /// Function whose call failed: `weather.getForecast`.
    function: Option<String>,
    /// Causes, outermost first.
    #[schema(required = false)]
    causes: Vec<FaultCause>,
    /// Suggested fix.
    hint: Option<String>,
    /// Details of a failed call.
    #[schema(value_type = Option<Value>)]
    details: Option<Value>,
    /// True if the same run may succeed later.
    #[schema(required = false)]
    retryable: bool,
}

/// Place in a source.
#[derive(Serialize, ToSchema)]
#[schema(as = Location)]
pub(crate) struct FaultLocation {
    /// File name.
    file: String,
    /// Line, 1-based.
    line: u32,
    /// Column, 1-based.
    column: u32,
}

/// Cause of an error.
#[derive(Serialize, ToSchema)]
#[schema(as = Cause)]
pub(crate) struct FaultCause {
    /// `TypeError: message`.
    message: String,
    /// Source location.
    location: Option<FaultLocation>,
}
