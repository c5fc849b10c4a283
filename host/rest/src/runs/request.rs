//! Runs in requests.

use crate::limits::RunLimits;
use crate::problem::Problem;
use agent_spaces_types::shown::Shown;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Longest name of a run, in characters.
const MAX_NAME: usize = 100;

/// Run to start: a source, or a stored program.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewRun)]
pub(crate) struct NewRunRequest {
    /// TypeScript or JavaScript module. Its value is that of its default export, or of its last expression.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(min_length = 1)]
    pub(crate) source: Option<String>,
    /// Stored program instead of a source: `report`, or `report@3` for one version.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(min_length = 1, max_length = 75, pattern = "^[A-Za-z0-9][A-Za-z0-9_-]*(@[1-9][0-9]*)?$")]
    pub(crate) program: Option<String>,
    /// Value that the program gets: `import input from '@agent-spaces/input'`. Null if it is missing.
    #[serde(default)]
    #[schema(value_type = Option<Value>)]
    pub(crate) input: Option<Value>,
    /// Resource limits, at most those of the space.
    #[serde(default, deserialize_with = "crate::body::object")]
    pub(crate) limits: RunLimits,
    /// Name, for people; also the file name in errors.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) name: Option<String>,
}

impl NewRunRequest {
    /// Checks its members.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        match (&self.source, &self.program) {
            (Some(source), None) if source.is_empty() => {
                return Err(Problem::invalid("/source", "the source is empty"));
            }
            (Some(_), None) | (None, Some(_)) => {}
            _ => return Err(Problem::invalid("/source", "give either `source` or `program`")),
        }
        check_run_name(self.name.as_deref())
    }
}

/// Checks the name of a run, which is also the name of its file.
pub(crate) fn check_run_name(name: Option<&str>) -> Result<(), Problem> {
    let is_name = |name: &str| {
        let is_plain = *Shown::line(name, MAX_NAME) == *name && !name.contains(['/', '\\']);
        !name.trim().is_empty() && name.chars().count() <= MAX_NAME && is_plain
    };
    match name.is_none_or(is_name) {
        true => Ok(()),
        false => {
            Err(Problem::invalid("/name", format!("expected 1 to {MAX_NAME} printable characters without slashes")))
        }
    }
}

/// Answer of a person about a call of which nobody knows whether it took effect.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CallAnswer {
    /// Number of the call in its run.
    #[serde(deserialize_with = "crate::body::whole")]
    #[schema(minimum = 1)]
    pub(crate) call: u64,
    /// Outcome of the call.
    pub(crate) outcome: CallOutcome,
    /// Result of the call, if it happened. Null if it is missing.
    #[serde(default)]
    #[schema(value_type = Option<Value>)]
    pub(crate) value: Option<Value>,
}

/// Outcome of a call in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum CallOutcome {
    /// It took effect; `value` is its result.
    Happened,
    /// It did not take effect: it is made again.
    DidNotHappen,
    /// Nobody knows: it fails with `call.in_doubt`.
    GiveUp,
}
