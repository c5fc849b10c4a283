//! Expansion of `${VAR}` in a configuration, when it is loaded. Those of MCP servers are expanded when a session is
//! opened, those of providers when a space is made, those of models when an agent is made, and those of Slack
//! when it connects; prompts have none.

use super::error::ProjectError;
use crate::trust::Status;
use agent_spaces_secrets::{Variables, expand};
use serde_json::Value;

/// Members whose variables are expanded later: at any position, and at one path only.
const DEFERRED: &str = "mcpServers";
const DEFERRED_AT: [(&str, &str); 5] =
    [("$", "providers"), ("$.mcp.client", "servers"), ("$", "models"), ("$", "agents"), ("$", "slack")];

/// Expands `${VAR}` in every string. A file that was not accepted cannot read environment variables.
pub(super) fn fill(file: &str, value: &mut Value, status: Status) -> Result<(), ProjectError> {
    let variables = Variables::of_process();
    walk(value, "$", &mut |text, place| {
        let fail = |message: String, fix: &str| ProjectError::Unknown {
            place: format!("{file}: {place}"),
            message,
            fix: fix.to_owned(),
        };
        if status != Status::Accepted {
            let fix = format!("Read the file, then run `agent-spaces trust {file}`");
            return Err(fail("variables are not expanded until the file is accepted".into(), &fix));
        }
        expand(text, &variables)
            .map(|expanded| expanded.text)
            .map_err(|error| fail(error.to_string(), "Set it, or give it a default: `${NAME:-default}`"))
    })
}

fn walk(
    value: &mut Value,
    place: &str,
    fill: &mut impl FnMut(&str, &str) -> Result<String, ProjectError>,
) -> Result<(), ProjectError> {
    match value {
        Value::String(text) if text.contains("${") => *text = fill(text, place)?,
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                walk(item, &format!("{place}[{index}]"), fill)?;
            }
        }
        Value::Object(members) => {
            let is_deferred = |name: &str| name == DEFERRED || DEFERRED_AT.contains(&(place, name));
            for (name, member) in members.iter_mut().filter(|(name, _)| !is_deferred(name)) {
                walk(member, &format!("{place}.{name}"), fill)?;
            }
        }
        _ => {}
    }
    Ok(())
}
