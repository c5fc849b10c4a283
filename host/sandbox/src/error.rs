//! Host errors: configuration, linking, the engine itself.
//!
//! Errors of a script are [`RunError`](agent_spaces_types::run_error::RunError)s.

use agent_spaces_types::code::Code;
use agent_spaces_types::limits::LimitTooHigh;
use agent_spaces_types::script_error::ScriptError;

/// Error that is not the script's fault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The WIT of an interface cannot be parsed or bound.
    #[error("{file}: {message}")]
    Wit {
        /// File of the WIT.
        file: String,
        /// The fault and its fix.
        message: String,
    },
    /// Functions of linked interfaces without a handler.
    #[error("no handler for {}", .0.join(", "))]
    MissingHandlers(Vec<String>),
    /// Handlers for functions that no interface has.
    #[error("{0}")]
    UnknownHandler(String),
    /// Two modules or capabilities with one name.
    #[error("{0}")]
    Duplicate(String),
    /// A policy rule whose label matches functions of two modules.
    #[error("{0}")]
    AmbiguousRule(String),
    /// Wasmtime returned an error.
    #[error("the engine failed: {0}")]
    Engine(String),
    /// A limit above what the engine supports.
    #[error("{0}")]
    Limits(String),
}

impl From<LimitTooHigh> for HostError {
    fn from(error: LimitTooHigh) -> HostError {
        HostError::Limits(error.to_string())
    }
}

impl HostError {
    /// Converts an error of wasmtime.
    pub fn engine(error: impl Into<wasmtime::Error>) -> HostError {
        HostError::Engine(format!("{:#}", error.into()))
    }

    /// Converts an error of building a component.
    pub fn build(error: anyhow::Error) -> HostError {
        HostError::Engine(format!("{error:#}"))
    }

    /// Returns the error code in `--json` output.
    pub fn code(&self) -> Code {
        match self {
            HostError::Wit { .. } => Code::ConfigWit,
            HostError::MissingHandlers(_) | HostError::UnknownHandler(_) => Code::ConfigHandlers,
            HostError::Duplicate(_) => Code::ConfigDuplicate,
            HostError::AmbiguousRule(_) => Code::ConfigPolicy,
            HostError::Limits(_) => Code::ConfigLimits,
            HostError::Engine(_) => Code::HostEngine,
        }
    }
}

/// Error of preparing a script: the script's fault, or the host's.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The script was refused before any of its code ran.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The host failed.
    #[error(transparent)]
    Host(#[from] HostError),
}
