//! Errors of commands.

use super::known_secrets;
use agent_spaces::project::ProjectError;
use agent_spaces::script::{ImportFault, ScriptError, code_frame};
use agent_spaces::{Code, HostError, Limit, PrepareError, RunError};
use serde_json::Value;

/// Error with an optional code frame.
pub(super) struct Failure {
    pub(super) error: RunError,
    pub(super) frame: Option<String>,
}

impl Failure {
    /// Creates an error.
    pub(super) fn new(code: impl Into<String>, message: impl Into<String>, hint: Option<&str>) -> Failure {
        let error = RunError { hint: hint.map(str::to_owned), ..RunError::new(code, message) };
        Failure { error, frame: None }
    }

    /// Converts the error of a script that was rejected before it ran. `source` is the text of the file `name`.
    pub(super) fn refused(error: PrepareError, name: &str, source: &str) -> Failure {
        match error {
            PrepareError::Host(error) => error.into(),
            PrepareError::Script(error) => Failure::script(error, name, source),
        }
    }

    fn script(error: ScriptError, name: &str, source: &str) -> Failure {
        let source = known_secrets::redactor().starred(source);
        let frame = error.position.filter(|_| error.file == name).map(|position| code_frame(&source, position, None));
        let needs_workspace = error.import_fault == Some(ImportFault::NoWorkspace);
        let mut error = with_setting(RunError::of_script(error));
        error.hint = error.hint.map(|hint| if needs_workspace { format!("{hint} with --workspace") } else { hint });
        Failure { error, frame }
    }

    /// Prints the error as JSON to stdout, or for people to stderr, and returns the exit status.
    pub(super) fn report(&self, json: bool) -> u8 {
        if json {
            let line = serde_json::json!({ "ok": false, "error": self.shown() });
            super::output::print_line(&line);
            return self.error.exit_status();
        }
        self.show()
    }

    /// Returns the error as redacted JSON.
    pub(super) fn shown(&self) -> Value {
        let mut error = serde_json::json!(self.error);
        known_secrets::redactor().value(&mut error);
        error
    }

    /// Returns the message.
    pub(super) fn message(&self) -> &str {
        &self.error.message
    }

    /// Prints the error to stderr and returns the exit status.
    pub(super) fn show(&self) -> u8 {
        super::terminal::error(&self.error, self.frame.as_deref());
        self.error.exit_status()
    }
}

/// Adds to the hint of a reached limit the flag or variable that raises it: the library knows neither.
pub(super) fn with_setting(mut error: RunError) -> RunError {
    let setting = match Limit::from_code(&error.code) {
        Some(Limit::Fuel) => ", or raise the limit with --fuel.",
        Some(Limit::Memory) => ", or raise the limit with --memory.",
        Some(Limit::Time) => ", or raise the limit with --timeout.",
        _ if error.code == Code::HostMemory => " (AGENT_SPACES_MEMORY_BUDGET).",
        _ => return error,
    };
    error.hint = error.hint.map(|hint| format!("{}{setting}", hint.trim_end_matches('.')));
    error
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Failure {
        Failure::new(error.code(), error.to_string(), None)
    }
}

impl From<ProjectError> for Failure {
    fn from(error: ProjectError) -> Failure {
        match error {
            ProjectError::Host(error) => error.into(),
            error => Failure::new(error.code(), error.to_string(), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::failure::with_setting;
    use agent_spaces::{Limit, RunError};

    #[test]
    fn the_hint_of_a_reached_limit_names_its_flag() {
        let hint = |code: &str, hint: &str| with_setting(RunError::new(code, "").hint(hint)).hint.unwrap();
        for (limit, flag) in [(Limit::Fuel, "--fuel"), (Limit::Memory, "--memory"), (Limit::Time, "--timeout")] {
            let expected = format!("{}, or raise the limit with {flag}.", limit.advice());
            assert_eq!(hint(limit.code().as_str(), &limit.hint()), expected);
        }
        assert_eq!(hint(Limit::Calls.code().as_str(), &Limit::Calls.hint()), Limit::Calls.hint());
        assert_eq!(hint("host.memory", "Raise it."), "Raise it (AGENT_SPACES_MEMORY_BUDGET).");
        assert_eq!(hint("script.error", "Fix it."), "Fix it.");
    }
}
