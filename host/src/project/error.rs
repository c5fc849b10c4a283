//! What is wrong with a project.

use crate::config::ConfigError;
use crate::error::{HostError, PrepareError};
use capability_gen::compile::CompileError;
use capability_gen::registry::Duplicate;
use capability_gen::sources::SourceError;

/// Why a project cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The configuration says something that it cannot.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A definition cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A definition cannot be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Two definitions of one name.
    #[error(transparent)]
    Duplicate(#[from] Duplicate),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Something that is named is not there.
    #[error("{place}: {message}. {fix}")]
    Unknown {
        /// Where it is named.
        place: String,
        /// What is not there.
        message: String,
        /// What to do.
        fix: String,
    },
    /// The lock cannot be read.
    #[error("{0}")]
    Lock(String),
    /// A configuration in TypeScript failed.
    #[error("{0}")]
    Evaluation(String),
    /// A file of handlers cannot be used.
    #[error("{file}{place}: {message}")]
    Handlers {
        /// Which.
        file: String,
        /// `:line:column`, where it is known.
        place: String,
        /// Why.
        message: String,
    },
    /// A script cannot be made ready.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The host.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl ProjectError {
    pub(crate) fn file(path: &std::path::Path, source: std::io::Error) -> ProjectError {
        ProjectError::File { path: path.display().to_string(), source }
    }

    /// The code that `--json` shows.
    pub fn code(&self) -> &'static str {
        match self {
            ProjectError::Config(_) | ProjectError::Evaluation(_) | ProjectError::Lock(_) => "config.file",
            ProjectError::Source(_) | ProjectError::Compile(_) => "config.definition",
            ProjectError::Duplicate(_) => "config.duplicate",
            ProjectError::File { .. } => "config.file",
            ProjectError::Unknown { .. } => "config.unknown",
            ProjectError::Prepare(_) | ProjectError::Handlers { .. } => "config.handlers",
            ProjectError::Host(error) => error.code(),
        }
    }
}
