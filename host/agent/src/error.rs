//! Errors of agents, apart from those that models and tools report.

/// Error that prevents a question from being answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// Unknown agent.
    #[error("there is no agent {name:?}. {known}")]
    UnknownAgent {
        /// Requested name.
        name: String,
        /// Known agents, as a sentence.
        known: String,
    },
    /// Unknown session, or a session of another caller.
    #[error("there is no session {0:?}")]
    UnknownSession(String),
    /// Session in use by another question.
    #[error("session {0:?} is busy: wait for its answer, or start another session")]
    SessionBusy(String),
    /// Invalid question.
    #[error("{0}")]
    Invalid(String),
    /// Access to the agent denied.
    #[error("{0}")]
    Denied(String),
    /// Queue full.
    #[error("too many questions wait for an answer: try again later")]
    Busy,
    /// Session store failure.
    #[error("the session cannot be kept: {0}")]
    Store(String),
    /// Tools failed to start.
    #[error("the tools of the agent cannot be started: {0}")]
    Tools(String),
    /// Invalid configuration of an agent or a model.
    #[error("{0}")]
    Configuration(String),
}
