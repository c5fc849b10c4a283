//! What goes wrong on the host's side: configuration, linking, the engine itself.
//!
//! What goes wrong in a script is a [`RunError`](crate::RunError).

use crate::script::ScriptError;
use agent_spaces_policy::AmbiguousRule;

/// A failure that is not the script's.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The WIT of an interface cannot be read or bound.
    #[error("{file}: {message}")]
    Wit {
        /// Where the WIT came from.
        file: String,
        /// What is wrong and what to do.
        message: String,
    },
    /// Functions of linked interfaces that nobody handles.
    #[error("no handler for {}", .0.join(", "))]
    MissingHandlers(Vec<String>),
    /// Handlers for functions that no interface has.
    #[error("{0}")]
    UnknownHandler(String),
    /// Two modules or capabilities under one name.
    #[error("{0}")]
    Duplicate(String),
    /// A rule whose label stands for functions of two modules.
    #[error("{0}")]
    AmbiguousRule(AmbiguousRule),
    /// Wasmtime refused something.
    #[error("the engine failed: {0:#}")]
    Engine(wasmtime::Error),
    /// A limit beyond what the host can give.
    #[error("{0}")]
    Limits(String),
}

impl HostError {
    pub(crate) fn engine(error: impl Into<wasmtime::Error>) -> HostError {
        HostError::Engine(error.into())
    }

    /// Something the host itself makes could not be made.
    #[cfg(feature = "compiler")]
    pub(crate) fn build(error: anyhow::Error) -> HostError {
        HostError::Engine(wasmtime::Error::from_anyhow(error))
    }

    /// The code that `--json` shows.
    pub fn code(&self) -> &'static str {
        match self {
            HostError::Wit { .. } => "config.wit",
            HostError::MissingHandlers(_) | HostError::UnknownHandler(_) => "config.handlers",
            HostError::Duplicate(_) => "config.duplicate",
            HostError::AmbiguousRule(_) => "config.policy",
            HostError::Limits(_) => "config.limits",
            HostError::Engine(_) => "host.engine",
        }
    }
}

/// Why a script cannot be run: itself, or the host.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The script, before any of its code ran.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The host.
    #[error(transparent)]
    Host(#[from] HostError),
}
