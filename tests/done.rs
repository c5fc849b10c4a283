//! Output and exit status of a command.

use serde_json::Value;

/// Output and exit status of a command.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    /// The JSON of its last line.
    pub(crate) fn json(&self) -> Value {
        let last = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The value of a run or a call, which must have one.
    pub(crate) fn value(&self) -> Value {
        let report = self.json();
        assert_eq!(report["ok"], true, "{report}\n{}", self.stderr);
        report["value"].clone()
    }

    /// The code and the message of the error that it ended with.
    pub(crate) fn error(&self) -> (String, String) {
        let error = &self.json()["error"];
        let text = |name: &str| error[name].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned();
        (text("code"), text("message"))
    }

    /// Every line as JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
