//! Error messages about MCP servers, for agents.
//!
//! They contain no text of a server or configuration that the user has not accepted: that text is for the operator.

use agent_spaces_mcp::{CallError, ConnectError};

/// Returns a message that an agent may read and pass on to its user. The full error is for the operator. `argument` is
/// added to the commands in the message: ` --config FILE`, or nothing.
pub fn brief(server: &str, error: &CallError, argument: &str) -> String {
    match error {
        CallError::Unavailable(ConnectError::Unauthorized { .. }) => {
            format!("its user must log in: `agent-spaces mcp login {server}{argument}`")
        }
        CallError::Unavailable(ConnectError::Refused(_)) | CallError::Changed(_) => {
            format!(
                "it has changed since its user accepted it; `agent-spaces audit --diff{argument}` shows the changes"
            )
        }
        CallError::Timeout { .. } => "it did not answer in time".to_owned(),
        _ => format!("it cannot be reached; `agent-spaces mcp tools {server}{argument}` says why"),
    }
}
