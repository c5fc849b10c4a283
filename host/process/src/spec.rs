//! Process specification: a program to start.

use agent_spaces_confine::Profile;
use agent_spaces_secrets::Secret;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A program to start.
#[derive(Clone, Debug)]
pub struct ProcessSpec {
    /// The program, looked up in `PATH` unless it is a path. Never a shell command line.
    pub program: String,
    /// Its arguments.
    pub args: Vec<Secret>,
    /// Environment variables, beside the safe base set.
    pub env: BTreeMap<String, Secret>,
    /// Working directory.
    pub cwd: Option<PathBuf>,
    /// Confinement profile. A program that cannot be confined accordingly is not started.
    pub confine: Option<Profile>,
}

/// Error of a program that cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot start `{program}`: {message}")]
pub struct StartError {
    /// The program.
    pub program: String,
    /// Reason.
    pub message: String,
}
