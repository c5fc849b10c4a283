//! Reasons why types were not checked.

use std::path::PathBuf;
use std::time::Duration;

/// Reason why types were not checked. It contains no text of the program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// No compiler was found.
    #[error(
        "there is no TypeScript compiler: install one (`npm install -g typescript`), or name it in `codeMode.typescript`"
    )]
    NotFound,
    /// The configured compiler is not a program.
    #[error("`codeMode.typescript` names {}, which is not a program", .0.display())]
    NotAProgram(PathBuf),
    /// A compiler in JavaScript needs Node, which was not found.
    #[error("{} needs `node`, which is in no folder of the PATH", .0.display())]
    NoNode(PathBuf),
    /// The folder for the compiler could not be written.
    #[error("the folder for it could not be made: {0}")]
    Folder(String),
    /// The declarations are too large.
    #[error("the declarations have {bytes} bytes, more than {most}")]
    TooLarge {
        /// Actual size.
        bytes: usize,
        /// Maximum size.
        most: usize,
    },
    /// The compiler could not be started.
    #[error("the TypeScript compiler did not start: {0}")]
    Start(String),
    /// The compiler exceeded its time limit.
    #[error("the TypeScript compiler did not end within {} s", .after.as_secs())]
    TooSlow {
        /// Time limit.
        after: Duration,
    },
    /// The compiler failed without a message, for example out of memory.
    #[error("the TypeScript compiler gave no answer ({0})")]
    NoAnswer(String),
    /// The compiler does not support our options, whatever the program.
    #[error("the TypeScript compiler cannot be used, 5.8 is the oldest that can: {0}")]
    Unfit(String),
    /// The compiler reports syntax errors in a program that our parser accepts.
    #[error("the TypeScript compiler could not read the program")]
    Unread,
}
