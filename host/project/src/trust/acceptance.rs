//! File that needs acceptance, with its trust status.

use super::Status;
use std::path::PathBuf;
use std::sync::Arc;

/// File that needs acceptance, with its trust status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// Path of the file.
    pub file: PathBuf,
    /// Text that was read, so that the accepted text is the one that was shown.
    pub text: Arc<str>,
    /// Trust status.
    pub status: Status,
}

impl Acceptance {
    /// Reason why nothing of the file may be started, with the fix, if there is one.
    pub fn obstacle(&self) -> Option<String> {
        let file = self.file.display();
        match self.status {
            Status::Accepted => None,
            Status::New => Some(format!("{file} is not accepted yet: read it, then run `agent-spaces trust {file}`")),
            Status::Changed => {
                Some(format!("{file} has changed since it was accepted: read it, then run `agent-spaces trust {file}`"))
            }
        }
    }
}
