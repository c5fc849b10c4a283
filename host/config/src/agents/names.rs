//! Names that agents may have. They are parts of URLs, names of tools and names of models.

use super::super::config_path::ConfigPath;
use super::super::error::quoted;
use super::super::reader::Result;

/// Maximum length of a name: that of a tool.
const MAX_NAME: usize = 64;

/// Names that are routes of ours under `/v1`, where agents are too; and words of the command.
pub const RESERVED_AGENT_NAMES: &[&str] = &[
    "a2a",
    "agents",
    "approvals",
    "audit",
    "capabilities",
    "changes",
    "chat",
    "completions",
    "embeddings",
    "events",
    "files",
    "health",
    "mcp",
    "me",
    "messages",
    "metrics",
    "models",
    "openapi",
    "programs",
    "ready",
    "responses",
    "runs",
    "servers",
    "sessions",
    "slack",
    "spaces",
    "webhooks",
];

/// Refuses a name that agents cannot have.
pub(super) fn check(path: &ConfigPath<'_>, name: &str) -> Result<()> {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let is_first = |byte: u8| byte.is_ascii_alphanumeric();
    if name.len() > MAX_NAME || !name.bytes().all(part) || !name.bytes().next().is_some_and(is_first) {
        return Err(path
            .error(format!("{} cannot be the name of an agent", quoted(name)))
            .with_fix(format!("use at most {MAX_NAME} letters, digits, `_` and `-`, with a letter or a digit first")));
    }
    // Clients differ in whether they keep the case of a path.
    if RESERVED_AGENT_NAMES.iter().any(|reserved| reserved.eq_ignore_ascii_case(name)) {
        let error =
            path.error(format!("{} is a route of the server, and cannot be the name of an agent", quoted(name)));
        return Err(error.with_fix(format!("write another name, such as `{name}-agent`")));
    }
    Ok(())
}
