//! What is said when something is wrong. Texts that clients may look for are part of the contract, to the letter.

use crate::handlers::CapabilityError;
use crate::serve::calls::told;
use rmcp::model::{CallToolResult, ContentBlock};

/// Most names that an error lists.
const MAX_NAMES: usize = 100;

/// Why a request to a toolbox was not answered.
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
    #[error("Error: Tool '{tool}' of Server '{server}' in toolbox '{toolbox}' failed: {}", told(.error))]
    Failed { toolbox: String, server: String, tool: String, error: CapabilityError },
}

impl ToolboxError {
    /// As a model reads it.
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
