//! Why a server gave nothing, for agents.
//!
//! In words of ours: what a server says that nobody accepted, and what a configuration says that nobody accepted, is for the
//! operator.

use agent_spaces_mcp::{CallError, ConnectError};

/// In words that an agent may read, and tell its user: why in full is for who runs this.
pub fn brief(server: &str, error: &CallError) -> String {
    match error {
        CallError::Unavailable(ConnectError::Unauthorized { .. }) => {
            format!("it wants its user to sign in: `agent-spaces mcp login {server}`")
        }
        CallError::Unavailable(ConnectError::Refused(_)) | CallError::Changed(_) => {
            "it is not what its user accepted; `agent-spaces audit --diff` says what is different".to_owned()
        }
        CallError::Timeout { .. } => "it did not answer in time".to_owned(),
        _ => format!("it cannot be reached; `agent-spaces mcp tools {server}` says why"),
    }
}
