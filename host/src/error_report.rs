//! Why a run has no value, in the shape that other programs rely on.

use crate::script::Position;
use serde::Serialize;
use serde_json::Value;

/// Why a run has no value.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct RunError {
    /// A dotted code: `script.error`, `limit.fuel`, `run.cancelled` …
    pub code: String,
    /// What happened.
    pub message: String,
    /// The thrown error's constructor: `TypeError`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Frames in the script's own files, as their author wrote them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Where it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Further facts of an uncaught `CapabilityError`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Whether the same run may succeed later.
    #[serde(skip_serializing_if = "is_false")]
    pub retryable: bool,
}

/// A place in a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    /// The file as it was named.
    pub file: String,
    /// From one.
    pub line: u32,
    /// From one, in characters.
    pub column: u32,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl RunError {
    pub(crate) fn new(code: impl Into<String>, message: impl Into<String>) -> RunError {
        RunError {
            code: code.into(),
            message: message.into(),
            name: None,
            stack: None,
            location: None,
            hint: None,
            details: None,
            retryable: false,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> RunError {
        self.hint = Some(hint.into());
        self
    }

    /// Why a script cannot run.
    #[cfg(feature = "compiler")]
    pub fn of_script(error: crate::script::ScriptError) -> RunError {
        let location = error.position.map(|position| Location::new(&error.file, position));
        RunError { location, hint: error.hint, ..RunError::new(error.code, error.message) }
    }

    /// The exit status of a command that ends with this error.
    pub fn exit_status(&self) -> u8 {
        match self.code.as_str() {
            code if code.starts_with("limit.") => 3,
            "import.denied" | "call.denied" | "call.approval_denied" | "call.approval_expired" => 4,
            code if code.starts_with("config.") => 2,
            code if code.starts_with("host.") => 5,
            "call.failed" | "call.timeout" | "call.unavailable" | "call.protocol" | "call.audit_unavailable" => 5,
            _ => 1,
        }
    }
}

impl Location {
    pub(crate) fn new(file: &str, position: Position) -> Location {
        Location { file: file.to_owned(), line: position.line, column: position.column }
    }
}
