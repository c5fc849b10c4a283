//! Tools of an agent.

use agent_spaces_models::{Image, Tool};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Tools of one agent for one caller.
pub trait Tools: Send + Sync {
    /// Tools as a model sees them. They do not change while a question is answered.
    fn list(&self) -> Vec<Tool>;

    /// Texts for the system prompt, in a fixed order.
    fn instructions(&self) -> Vec<Instructions>;

    /// Configuration problems of the tools, for the user. They are reported with each question.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Calls a tool. Policy, approvals, limits and the audit log are behind it. It returns at the deadline or when it is
    /// cancelled, with a failure that says so.
    fn call<'a>(&'a self, call: ToolRequest, context: &'a ToolContext) -> BoxFuture<'a, ToolOutput>;
}

/// Instructions of a server or of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instructions {
    /// Name of the server or tool.
    pub of: String,
    /// The text.
    pub text: String,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRequest {
    /// Id of the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments.
    pub arguments: Map<String, Value>,
}

/// Bounds of a call.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// Cancels the call.
    pub cancel: CancellationToken,
    /// Timeout.
    pub timeout: Duration,
}

/// Result of a call, for the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// Text.
    pub text: String,
    /// Images.
    pub images: Vec<Image>,
    /// True if it failed.
    pub is_error: bool,
    /// The MCP server or capability that answered, for accounting.
    pub server: Option<String>,
}

impl ToolOutput {
    /// A failure.
    pub fn error(text: impl Into<String>) -> Self {
        ToolOutput { text: text.into(), is_error: true, ..ToolOutput::default() }
    }
}
