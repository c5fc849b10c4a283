//! Reasons why types were not checked.

use std::path::PathBuf;
use std::time::Duration;

/// Reason why types were not checked. It contains no text of the program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// No compiler was found.
    #[error("no TypeScript compiler found: install one (`npm install -g typescript`), or set `codeMode.typescript`")]
    NotFound,
    /// The configured compiler is not a program.
    #[error("`codeMode.typescript`: {} is not a program", .0.display())]
    NotAProgram(PathBuf),
    /// A compiler in JavaScript needs Node, which was not found.
    #[error("{} needs `node`, which is not on the PATH", .0.display())]
    NoNode(PathBuf),
    /// The folder for the compiler could not be written.
    #[error("cannot create the folder for the TypeScript compiler: {0}")]
    Folder(String),
    /// The declarations are too large.
    #[error("declarations too large: {bytes} bytes, more than {most}")]
    TooLarge {
        /// Actual size.
        bytes: usize,
        /// Maximum size.
        most: usize,
    },
    /// The compiler could not be started.
    #[error("cannot start the TypeScript compiler: {0}")]
    Start(String),
    /// The compiler exceeded its time limit.
    #[error("the TypeScript compiler timed out after {} s", .after.as_secs())]
    TooSlow {
        /// Time limit.
        after: Duration,
    },
    /// The compiler failed without a message, for example out of memory.
    #[error("the TypeScript compiler failed without a message ({0})")]
    NoAnswer(String),
    /// The compiler does not support our options, whatever the program.
    #[error("unsupported TypeScript compiler (5.8 or newer is required): {0}")]
    Unfit(String),
    /// The compiler reports syntax errors in a program that our parser accepts.
    #[error("the TypeScript compiler could not parse the program")]
    Unread,
}
