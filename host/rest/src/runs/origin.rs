//! Facts about a run that only the server that continues it needs. They are in its journal.

use crate::spaces::GivenPart;
use agent_spaces_durable::header::Header;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Kind of the command, in [`Header::command`].
const KIND: &str = "rest";

/// Origin of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunOrigin {
    /// Configuration file of the server: another one may have other rules.
    pub(crate) config: String,
    /// Name that its caller gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Stored program that it executes: `report@3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    /// Part of its base that its space took when the run started; `None` for a configured space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) given: Option<GivenPart>,
    /// Host that has the files that it uses; `None` if it uses none, or all hosts have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
}

impl RunOrigin {
    /// Returns the value for the journal.
    pub(crate) fn command(&self) -> Value {
        json!({ "kind": KIND, "origin": self })
    }

    /// Reads the origin of a run; `None` if this API did not start it.
    pub(crate) fn of(header: &Header) -> Option<RunOrigin> {
        let origin = header.command.get("origin").filter(|_| header.command.get("kind") == Some(&json!(KIND)))?;
        RunOrigin::deserialize(origin).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::RunOrigin;
    use crate::spaces::GivenPart;
    use serde::Deserialize;
    use serde_json::json;

    #[test]
    fn a_run_knows_what_its_space_had() {
        let given: GivenPart = serde_json::from_value(json!({ "capabilities": ["mcp:slack"] })).unwrap();
        let origin = RunOrigin { config: "/c.json".to_owned(), given: Some(given), ..RunOrigin::default() };
        let command = origin.command();
        assert_eq!(command["origin"]["given"], json!({ "capabilities": ["mcp:slack"] }));
        assert_eq!(RunOrigin::deserialize(&command["origin"]).unwrap(), origin);
        // As earlier programs wrote it.
        assert_eq!(RunOrigin::deserialize(&json!({ "config": "/c.json" })).unwrap().given, None);
    }
}
