//! Question: messages, session and settings.

use crate::approver::{Approver, NoApprover};
use crate::definition::{OutputFormat, Sampling};
use crate::error::AgentError;
use crate::event::{Watcher, unwatched};
use crate::record::QuestionSettings;
use agent_spaces_http_server::Client;
use agent_spaces_models::{Message, Tool, ToolChoice};
use agent_spaces_providers::MAX_AGENT_DEPTH;
use agent_spaces_types::shown::Shown;
use capability_gen::validate::Validator;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Messages of one question. Callers that keep conversations themselves send them whole.
const MAX_MESSAGES: usize = 10_000;

/// Tools of a caller. No provider takes more.
const MAX_CALLER_TOOLS: usize = 512;

/// Maximum length of a schema error, in characters.
const MAX_FAULT: usize = 500;

/// A question to an agent.
#[derive(Clone)]
pub struct Question {
    /// Client that asks.
    pub client: Client,
    /// Name of the agent.
    pub agent: String,
    /// The session.
    pub session: SessionChoice,
    /// Messages that are appended to the conversation. If empty, the interrupted question of the session is resumed with
    /// its settings.
    pub messages: Vec<Message>,
    /// Appended to the system prompt.
    pub system: Option<String>,
    /// Tools of the caller: a call of one ends the question, and its result is the next question.
    pub caller_tools: Vec<Tool>,
    /// Tool choice of the first answer.
    pub tool_choice: ToolChoice,
    /// Output format; overrides the agent's.
    pub output: Option<OutputFormat>,
    /// Sampling parameters; override the agent's.
    pub sampling: Sampling,
    /// Approver of calls.
    pub approver: Arc<dyn Approver>,
    /// Event callback. Events of a nested question are not reported: the call that asks it has its own.
    pub watcher: Watcher,
    /// Cancels the question.
    pub cancel: CancellationToken,
    /// Call of another agent that asks this question; `None` for a question of a surface.
    pub parent: Option<ParentCall>,
}

/// Session of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SessionChoice {
    /// No session.
    #[default]
    None,
    /// New session.
    New,
    /// Existing session with this id.
    Resume(String),
}

/// Call of an agent that asks another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParentCall {
    /// Nesting depth of the agent that is asked: 1 or more.
    pub depth: u32,
}

/// Nesting of an agent whose tools may ask other agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nesting {
    /// Its nesting depth.
    pub depth: u32,
}

impl Nesting {
    /// The parent of a question that a call of this agent asks.
    pub fn parent(self) -> ParentCall {
        ParentCall { depth: self.depth.saturating_add(1) }
    }
}

impl Question {
    /// Creates a question without session, event callback and approver.
    pub fn new(client: Client, agent: impl Into<String>, messages: Vec<Message>) -> Question {
        Question {
            client,
            agent: agent.into(),
            session: SessionChoice::None,
            messages,
            system: None,
            caller_tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            output: None,
            sampling: Sampling::default(),
            approver: Arc::new(NoApprover),
            watcher: unwatched(),
            cancel: CancellationToken::new(),
            parent: None,
        }
    }

    /// Validates sizes, schema and nesting depth.
    pub(super) fn check(&self) -> Result<(), AgentError> {
        if self.messages.len() > MAX_MESSAGES || self.caller_tools.len() > MAX_CALLER_TOOLS {
            return Err(AgentError::Invalid(format!(
                "a question has at most {MAX_MESSAGES} messages and {MAX_CALLER_TOOLS} tools of its caller"
            )));
        }
        if self.messages.is_empty() && !matches!(self.session, SessionChoice::Resume(_)) {
            return Err(AgentError::Invalid("the question has no messages; ask something".to_owned()));
        }
        if let Some(OutputFormat::Json(schema)) = &self.output
            && let Err(error) = Validator::new(schema)
        {
            let why = Shown::line(&error.to_string(), MAX_FAULT);
            return Err(AgentError::Invalid(format!("the JSON Schema of the answer is not usable: {why}")));
        }
        if self.depth() > u32::from(MAX_AGENT_DEPTH) {
            return Err(AgentError::Invalid(format!(
                "agents call one another {MAX_AGENT_DEPTH} deep already; answer without another agent"
            )));
        }
        Ok(())
    }

    /// Nesting depth of the agent that is asked.
    pub(super) fn depth(&self) -> u32 {
        self.parent.as_ref().map_or(0, |parent| parent.depth)
    }

    /// Settings of the question, for the session log.
    pub(super) fn settings(&self) -> QuestionSettings {
        QuestionSettings {
            system: self.system.clone(),
            caller_tools: self.caller_tools.clone(),
            tool_choice: self.tool_choice.clone(),
            output: self.output.clone(),
            sampling: self.sampling,
        }
    }

    /// Title of a new session: the first text of a user message.
    pub(super) fn title(&self) -> String {
        let texts = self.messages.iter().filter(|message| message.role == agent_spaces_models::Role::User);
        texts.map(Message::text).find(|text| !text.trim().is_empty()).unwrap_or_default()
    }
}
