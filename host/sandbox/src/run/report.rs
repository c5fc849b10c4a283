//! Run report: the value or error of a run, its console output and usage.

use agent_spaces_types::code::Code;
use agent_spaces_types::event::ConsoleLine;
use agent_spaces_types::run_error::RunError;
use agent_spaces_types::usage::Usage;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Report of a finished run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunReport {
    /// Run id: `run_…`.
    pub run_id: Arc<str>,
    /// Value of the script, or the error.
    pub outcome: Result<Value, RunError>,
    /// True if the script has a value. One that returns `undefined` has none, and its outcome is null.
    pub has_value: bool,
    /// Console output.
    pub console: Vec<ConsoleLine>,
    /// Resource usage.
    pub usage: Usage,
    /// Codes with which the host refused calls of the run: [`Code::is_refusal`]. A script may throw such a code too.
    pub refusals: Vec<Code>,
}

impl RunReport {
    /// Creates the report of a run whose script has no value, without console output, usage and refusals.
    pub(super) fn without_value(run_id: Arc<str>, outcome: Result<Value, RunError>) -> RunReport {
        let (console, usage, refusals) = Default::default();
        RunReport { run_id, outcome, has_value: false, console, usage, refusals }
    }

    /// Creates the report of a run whose task panicked or was aborted.
    pub(super) fn task_failed(run_id: Arc<str>, error: &dyn fmt::Display) -> RunReport {
        let error = RunError::new(Code::HostEngine, format!("The run's task failed: {error}"));
        RunReport::without_value(run_id, Err(error))
    }

    /// Returns the script's value as a Rust type.
    ///
    /// # Errors
    /// The error of the run, or `script.result` if the value is not of the type.
    pub fn value<T: DeserializeOwned>(self) -> Result<T, RunError> {
        let value = self.outcome?;
        T::deserialize(value).map_err(|error| {
            let message = format!("The script's value does not match its Rust type: {error}");
            RunError::new(Code::ScriptResult, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::RunReport;
    use agent_spaces_types::run_error::RunError;
    use serde_json::{Value, json};

    fn report(outcome: Result<Value, RunError>) -> RunReport {
        RunReport { has_value: true, ..RunReport::without_value("run_1".into(), outcome) }
    }

    #[test]
    fn a_value_has_its_rust_type_or_an_error() {
        assert_eq!(report(Ok(json!([1, 2]))).value::<Vec<u32>>(), Ok(vec![1, 2]));
        let error = report(Ok(json!(["one"]))).value::<Vec<u32>>().unwrap_err();
        assert!(error.code == "script.result" && error.message.contains("expected u32"), "{error}");
        let failed = RunError::new("script.error", "no");
        assert_eq!(report(Err(failed.clone())).value::<u32>(), Err(failed));
    }

    #[tokio::test]
    async fn a_run_whose_task_is_aborted_fails() {
        let task = tokio::spawn(std::future::pending::<()>());
        task.abort();
        let failed = RunReport::task_failed("run_1".into(), &task.await.unwrap_err());
        let error = failed.outcome.unwrap_err();
        assert!(error.code == "host.engine" && error.message.starts_with("The run's task failed: "), "{error}");
        assert!(!failed.has_value && failed.console.is_empty() && failed.refusals.is_empty());
    }
}
