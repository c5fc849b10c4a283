//! Output and exit status of a command.

use serde_json::Value;

/// Output and exit status of a command.
#[derive(Debug)]
pub(crate) struct RunOutput {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl RunOutput {
    /// Parses every line of stdout as JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.stdout.lines().map(parse).collect()
    }

    /// Parses the last line as JSON.
    pub(crate) fn json(&self) -> Value {
        self.lines().pop().unwrap_or_else(|| panic!("{self:?}"))
    }

    /// Returns the value of a run; panics if it failed.
    pub(crate) fn value(&self) -> Value {
        let report = self.json();
        assert_eq!(report["ok"], true, "{report}\n{}", self.stderr);
        report["value"].clone()
    }

    /// Returns the error code of the run.
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }

    /// All events of a type.
    pub(crate) fn events(&self, kind: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["type"] == kind).collect()
    }

    /// Returns the index of the only event of a type, of a named call if given.
    pub(crate) fn place(&self, kind: &str, call: Option<u64>) -> u64 {
        let is_it = |event: &&Value| call.is_none_or(|call| event["callId"] == call);
        let events = self.events(kind);
        let found: Vec<&Value> = events.iter().filter(is_it).collect();
        assert_eq!(found.len(), 1, "{kind} {call:?}: {}", self.stdout);
        found[0]["seq"].as_u64().unwrap()
    }
}
