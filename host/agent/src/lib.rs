//! Agents: a model that answers questions with tools, within limits and budgets.
//!
//! [`Surface::ask`] answers a [`Question`] in a session. A turn asks a model ([`LanguageModel`]), in the order of the
//! agent's fallbacks, and carries out the calls that it asks for ([`Tools`]) side by side; the last allowed turn has no
//! tools. Every step is in the session's log before its effect leaves the process ([`SessionLog`]), so that a session
//! goes on after a crash and no effect happens twice.
//!
//! # Layout
//! - `definition`: [`AgentDefinition`]; `configured`: agents from the configuration
//! - `model`: [`LanguageModel`] and [`ModelTarget`]; `tools`: [`Tools`]
//! - `record`: [`Record`], a step of a session; `conversation`: messages from records
//! - `turns`: the agent loop; `prompt`: system prompt; `fallback`: model fallback and retries
//! - `guard`: tokens and context windows; `handles`: large results, read in parts
//! - `spending`: prices and budgets; `output`: structured output
//! - `space_tools`: tools of a space, code mode or direct; `approver`: human approval of calls
//! - `sessions`: sessions in the journal; `replay`: replay of a session from its records
//! - `service`: questions of all surfaces, with a concurrency limit each
//! - `called`: nested agents, called through `@capabilities/agents`

mod answering;
mod approver;
mod called;
mod configured;
mod conversation;
mod definition;
mod error;
mod event;
mod fallback;
#[cfg(test)]
mod fixtures;
mod guard;
mod handles;
mod model;
mod output;
mod prompt;
mod record;
mod replay;
mod service;
mod sessions;
mod space_tools;
mod spending;
mod tools;
mod turns;

pub use answering::{Ending, Outcome};
pub use approver::{ApprovalAnswer, ApprovalRequest, Approver, NoApprover, watched};
pub use called::CalledAgents;
pub use configured::{AgentDefaults, ConfiguredAgents, DEFAULT_AGENT};
pub use definition::{AgentDefinition, AgentLimits, Budget, Budgets, OutputFormat, Sampling, ToolMode};
pub use error::AgentError;
pub use event::{AgentEvent, Watcher, unwatched};
pub use model::{LanguageModel, ModelTarget, Price, Window};
pub use record::{NoLog, QuestionSettings, Record, SessionLog};
pub use replay::{Divergence, Replayed};
pub use service::{AgentService, AgentSource, AgentSummary, Nesting, ParentCall, Question, SessionChoice, Surface};
pub use sessions::{SessionPage, SessionPart, SessionSummary, SessionTotals, SessionUsage};
pub use space_tools::{MAX_DIRECT_FUNCTIONS, MAX_DIRECT_TOKENS, SpaceTools, choose};
pub use tools::{Instructions, ToolContext, ToolOutput, ToolRequest, Tools};
