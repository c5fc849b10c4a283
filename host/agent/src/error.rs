//! What goes wrong around an agent, apart from what models and tools report.

/// A failure that keeps a question from being answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// There is no such agent.
    #[error("there is no agent {name:?}. {known}")]
    UnknownAgent {
        /// The name that was asked for.
        name: String,
        /// The agents that there are, as a sentence.
        known: String,
    },
    /// There is no such session, or it is another caller's.
    #[error("there is no session {0:?}")]
    UnknownSession(String),
    /// Another question is being answered in the session.
    #[error("session {0:?} is busy: wait for its answer, or start another session")]
    SessionBusy(String),
    /// The question is not acceptable.
    #[error("{0}")]
    Invalid(String),
    /// The caller may not ask this agent.
    #[error("{0}")]
    Denied(String),
    /// Too many questions wait.
    #[error("too many questions wait for an answer: try again later")]
    Busy,
    /// Sessions cannot be read or written.
    #[error("the session cannot be kept: {0}")]
    Store(String),
    /// The tools of the agent cannot be started.
    #[error("the tools of the agent cannot be started: {0}")]
    Tools(String),
    /// The settings of an agent or a model are wrong.
    #[error("{0}")]
    Configuration(String),
}
