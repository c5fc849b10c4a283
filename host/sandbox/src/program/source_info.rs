//! `SourceInfo`: the trait that maps errors to a program's original source and suggests fixes.

use super::Program;
use agent_spaces_secrets::Redactor;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::run_error::{Cause, Location, RunError};
use agent_spaces_types::script_error::ScriptError;

/// Information about a program's source. Precompiled programs have none.
pub trait SourceInfo: Send + Sync {
    /// Returns a function that is imported by name and hidden from the program's caller, by interface and JavaScript
    /// name: it counts as a failed call.
    fn hidden_import(&self, program: &Program) -> Option<(String, String)>;

    /// Returns the error of a run that imports what its caller may not use.
    fn refused_import(&self, program: &Program, caller: &Caller) -> Option<RunError>;

    /// Returns an error if the program imports a module of which the caller may call nothing. The operator is notified.
    fn refusal(&self, program: &Program, caller: &Caller) -> Option<ScriptError>;

    /// Returns the import statement that would define a name, among those that the caller may use.
    fn import_of(&self, name: &str, caller: &Caller) -> Option<String>;

    /// Maps every position of an engine stack to the original source. `class` is the error's constructor.
    fn restore_stack(&self, program: &Program, stack: &str, class: &str, message: &str) -> Restored;

    /// Returns a suggested fix for an error.
    fn hint(&self, program: &Program, caller: &Caller, error: &RunError) -> Option<String>;

    /// Serializes it, for a program image.
    fn to_bytes(&self) -> Option<Vec<u8>>;

    /// Returns the source lines around a location, for a terminal. Secrets are shown as `*`.
    fn code_frame(&self, location: &Location, redactor: &Redactor) -> Option<String>;
}

/// Engine stack mapped to the original source.
#[derive(Default)]
pub struct Restored {
    /// Stack, one frame per line.
    pub stack: String,
    /// Location that threw the error.
    pub location: Option<Location>,
    /// Capability function whose call failed.
    pub function: Option<String>,
    /// Causes of the error.
    pub causes: Vec<Cause>,
    /// More precise error message than the engine's.
    pub message: Option<String>,
}
