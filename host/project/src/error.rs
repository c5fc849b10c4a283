//! Project errors.

use agent_spaces_config::ConfigError;
use agent_spaces_sandbox::error::{HostError, PrepareError};
use agent_spaces_types::code::Code;
use capability_gen::compile::CompileError;
use capability_gen::registry::Duplicate;
use capability_gen::sources::SourceError;

/// Error of opening, building or changing a project.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A definition cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A definition cannot be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Two definitions have the same name.
    #[error(transparent)]
    Duplicate(#[from] Duplicate),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Path of the file.
        path: String,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A reference to something that does not exist or may not be used.
    #[error("{place}: {message}. {fix}")]
    Unknown {
        /// File and position of the reference.
        place: String,
        /// Description of the fault.
        message: String,
        /// Suggested fix.
        fix: String,
    },
    /// The lock cannot be read.
    #[error("{0}")]
    Lock(String),
    /// A configuration in TypeScript threw an error or reached a limit.
    #[error("{0}")]
    Evaluation(String),
    /// A file of handlers cannot be used.
    #[error("{file}{place}: {message}")]
    Handlers {
        /// Path of the file.
        file: String,
        /// `:line:column`, if known.
        place: String,
        /// Description of the fault.
        message: String,
    },
    /// A script cannot be prepared.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The host failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl ProjectError {
    /// Error of reading or writing a file.
    pub fn file(path: &std::path::Path, source: std::io::Error) -> ProjectError {
        ProjectError::File { path: path.display().to_string(), source }
    }

    /// Error code shown by `--json`.
    pub fn code(&self) -> Code {
        match self {
            ProjectError::Config(_) | ProjectError::Evaluation(_) | ProjectError::Lock(_) => Code::ConfigFile,
            ProjectError::Source(_) | ProjectError::Compile(_) => Code::ConfigDefinition,
            ProjectError::Duplicate(_) => Code::ConfigDuplicate,
            ProjectError::File { .. } => Code::ConfigFile,
            ProjectError::Unknown { .. } => Code::ConfigUnknown,
            ProjectError::Prepare(_) | ProjectError::Handlers { .. } => Code::ConfigHandlers,
            ProjectError::Host(error) => error.code(),
        }
    }
}
