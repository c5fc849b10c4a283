//! Errors of toolbox mode. Clients may match these texts, so they must not change.

use crate::calls::error_text;
use agent_spaces_types::capability_error::CapabilityError;
use rmcp::model::{CallToolResult, ContentBlock};

/// Maximum number of names in an error.
const MAX_NAMES: usize = 100;

/// Error of a toolbox request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ToolboxError {
    #[error("Error: the arguments of {tool} do not fit: {message}")]
    Arguments { tool: &'static str, message: String },
    #[error("Error: the arguments of open_toolbox do not fit: {message}. Available toolboxes: {}", names(.known))]
    OpenArguments { message: String, known: Vec<String> },
    #[error("Error: no toolbox can be opened: {why}")]
    NotAccepted { why: &'static str },
    #[error("Error: Toolbox '{toolbox}' not found. Available toolboxes: {}", names(.known))]
    NoToolbox { toolbox: String, known: Vec<String> },
    #[error("Error: Toolbox '{toolbox}' is not open. Call open_toolbox first.")]
    NotOpen { toolbox: String },
    #[error("Error opening toolbox '{toolbox}': Server '{server}' in toolbox '{toolbox}': {message}")]
    Server { toolbox: String, server: String, message: String },
    #[error("Error opening toolbox '{toolbox}': {message}")]
    Opening { toolbox: String, message: String },
    #[error("Error: Server '{server}' in toolbox '{toolbox}' not found. Available servers: {}", names(.known))]
    NoServer { toolbox: String, server: String, known: Vec<String> },
    #[error(
        "Error: Tool '{tool}' of Server '{server}' in toolbox '{toolbox}' not found. Available tools: {}",
        names(.known)
    )]
    NoTool { toolbox: String, server: String, tool: String, known: Vec<String> },
    #[error("Error: Tool '{tool}' of Server '{server}' in toolbox '{toolbox}' failed: {}", error_text(.error))]
    Failed { toolbox: String, server: String, tool: String, error: CapabilityError },
}

impl ToolboxError {
    /// Converts the error to a tool result.
    pub(super) fn result(&self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(self.to_string())])
    }
}

fn names(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(MAX_NAMES).filter(|more| *more > 0) {
        Some(more) => format!("{shown} and {more} more"),
        None => shown,
    }
}
