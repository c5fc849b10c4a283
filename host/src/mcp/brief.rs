//! Why a server gave nothing, for agents.
//!
//! In words of ours: what a server says that nobody accepted, and what a configuration says that nobody accepted, is for the
//! operator.

use agent_spaces_mcp::{CallError, ConnectError};

/// In words that an agent may read, and tell its user: why in full is for who runs this. `argument` names the
/// configuration to the commands that are mentioned: ` --config FILE`, or nothing.
pub fn brief(server: &str, error: &CallError, argument: &str) -> String {
    match error {
        CallError::Unavailable(ConnectError::Unauthorized { .. }) => {
            format!("it wants its user to sign in: `agent-spaces mcp login {server}{argument}`")
        }
        CallError::Unavailable(ConnectError::Refused(_)) | CallError::Changed(_) => {
            format!("it is not what its user accepted; `agent-spaces audit --diff{argument}` says what is different")
        }
        CallError::Timeout { .. } => "it did not answer in time".to_owned(),
        _ => format!("it cannot be reached; `agent-spaces mcp tools {server}{argument}` says why"),
    }
}
