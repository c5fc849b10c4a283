//! Output and exit status of a command.

use serde_json::Value;

/// Output and exit status of a command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandOutput {
    /// Parses the last line as JSON.
    pub(crate) fn json(&self) -> Value {
        let last = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the value of a run or call; panics if it failed.
    pub(crate) fn value(&self) -> Value {
        let report = self.json();
        assert_eq!(report["ok"], true, "{report}\n{}", self.stderr);
        report["value"].clone()
    }

    /// Returns code and message of the error.
    pub(crate) fn error(&self) -> (String, String) {
        let error = &self.json()["error"];
        let text = |name: &str| error[name].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned();
        (text("code"), text("message"))
    }

    /// Parses every line as JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
