//! Why a server gave nothing, for agents.

use agent_spaces_mcp::{CallError, ConnectError};

/// In words that an agent may read, and tell its user: why in full is for who runs this.
pub fn brief(server: &str, error: &CallError) -> String {
    match error {
        CallError::Unavailable(ConnectError::Unauthorized { .. }) => {
            format!("it wants its user to sign in: `agent-spaces mcp login {server}`")
        }
        CallError::Unavailable(ConnectError::Refused(message)) => message.clone(),
        CallError::Timeout { .. } => "it did not answer in time".to_owned(),
        _ => format!("it cannot be reached; `agent-spaces mcp tools {server}` says why"),
    }
}
