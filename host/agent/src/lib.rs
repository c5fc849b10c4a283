//! Agents: a model that answers questions with tools, and what keeps it within bounds.
//!
//! [`AgentService::ask`] answers a question in a session. A turn asks a model ([`LanguageModel`]), in the order of the
//! agent's fallbacks, and carries out the calls that it asks for ([`Tools`]) side by side; the last allowed turn has no
//! tools. Every step is in the session's log before its effect leaves the process ([`SessionLog`]), so that a session
//! goes on after a crash and no effect happens twice.
//!
//! # Layout
//! - `definition`: [`AgentDefinition`], what an agent is; `configured`: agents out of settings
//! - `model`: [`LanguageModel`] and [`ModelTarget`]; `tools`: [`Tools`], what it can do
//! - `record`: [`Record`], a step of a session; `conversation`: messages out of records
//! - `turns`: the loop; `prompt`: the system prompt; `fallback`: order of models, retries
//! - `guard`: tokens and context windows; `handles`: large results, read in parts
//! - `spending`: prices and budgets; `output`: form of answers
//! - `space_tools`: tools of a space, as programs or one by one
//! - `sessions`: sessions in the journal
//! - `service`: questions of all surfaces, with a limit each

mod answering;
mod configured;
mod conversation;
mod definition;
mod error;
mod event;
mod fallback;
mod guard;
mod handles;
mod model;
mod output;
mod prompt;
mod record;
mod service;
mod sessions;
mod space_tools;
mod spending;
mod tools;
mod turns;

pub use answering::{Ending, Outcome};
pub use definition::{AgentDefinition, AgentLimits, Budget, Budgets, OutputFormat, Sampling, ToolMode};
pub use error::AgentError;
pub use event::{AgentEvent, Watcher, unwatched};
pub use model::{LanguageModel, ModelTarget, Price, Window};
pub use record::{NoLog, Record, SessionLog};
pub use tools::{Instructions, ToolContext, ToolOutput, ToolRequest, Tools};
