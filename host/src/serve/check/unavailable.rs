//! Why types were not checked.

use std::path::PathBuf;
use std::time::Duration;

/// Why types were not checked. Nothing in it comes from the program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// There is no compiler.
    #[error(
        "there is no TypeScript compiler: install one (`npm install -g typescript`), or name it in `codeMode.typescript`"
    )]
    NotFound,
    /// What the configuration names is none.
    #[error("`codeMode.typescript` names {}, which is not a program", .0.display())]
    NotAProgram(PathBuf),
    /// A compiler in JavaScript needs Node.
    #[error("{} needs `node`, which is in no folder of the PATH", .0.display())]
    NoNode(PathBuf),
    /// It could not be given its files.
    #[error("the folder for it could not be made: {0}")]
    Folder(String),
    /// The declarations are more than a compiler reads in time.
    #[error("the declarations have {bytes} bytes, more than {most}")]
    TooLarge {
        /// How many they are.
        bytes: usize,
        /// How many there may be.
        most: usize,
    },
    /// It could not be started.
    #[error("the TypeScript compiler did not start: {0}")]
    Start(String),
    /// It took too long.
    #[error("the TypeScript compiler did not end within {} s", .after.as_secs())]
    TooSlow {
        /// The time that it had.
        after: Duration,
    },
    /// It ended without an answer, as it does when its memory is used up.
    #[error("the TypeScript compiler gave no answer ({0})")]
    NoAnswer(String),
    /// It does not understand what it is told, whatever the program.
    #[error("the TypeScript compiler cannot be used, 5.8 is the oldest that can: {0}")]
    Unfit(String),
    /// It reads the program otherwise than we do.
    #[error("the TypeScript compiler could not read the program")]
    Unread,
}
