//! Path syntax of scripts.

use super::failure::protected;
use super::walk::MAX_DEPTH;
use crate::error::StdError;
use agent_spaces_protected_paths::{Access, is_protected};

/// Limit of Linux; other systems allow less.
const MAX_BYTES: usize = 4096;

/// A lexically checked path below the workspace; symlinks are resolved in [`super::path_resolution`].
#[derive(Debug)]
pub(super) struct WorkspacePath {
    /// As the script wrote it, for errors.
    pub(super) shown: String,
    /// The names in it; none for the workspace itself.
    pub(super) parts: Vec<String>,
    /// Intended access.
    pub(super) access: Access,
}

impl WorkspacePath {
    /// Parses a path; refuses one that could mean something else on another system.
    pub(super) fn parse(text: &str, access: Access) -> Result<WorkspacePath, StdError> {
        if text.is_empty() {
            return Err(StdError::invalid("The path is empty; the workspace itself is \".\""));
        }
        check_spelling("path", text)?;
        let parts: Vec<_> =
            text.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect();
        if parts.len() > MAX_DEPTH {
            return Err(StdError::invalid(format!("The path has more than {MAX_DEPTH} parts")));
        }
        if parts.iter().any(|part| is_protected(part, access)) {
            return Err(protected(text, access));
        }
        Ok(WorkspacePath { shown: text.to_owned(), parts, access })
    }
}

/// True if a name is visible to scripts: names that no path could contain are hidden.
pub(super) fn is_shown(name: &str) -> bool {
    !is_protected(name, Access::Read) && check_spelling("name", name).is_ok()
}

/// Checks common to paths and [patterns](super::pattern); `what` names which it is.
pub(super) fn check_spelling(what: &str, text: &str) -> Result<(), StdError> {
    if text.len() > MAX_BYTES {
        return Err(StdError::invalid(format!("The {what} is longer than {MAX_BYTES} bytes")));
    }
    if text.chars().any(char::is_control) {
        return Err(StdError::invalid(format!("The {what} {text:?} has control characters")));
    }
    if text.contains('\\') {
        return Err(StdError::invalid(format!(
            "The {what} {text:?} has a backslash; its parts are separated by \"/\""
        )));
    }
    let is_drive = text.get(1..2) == Some(":") && text.starts_with(|letter: char| letter.is_ascii_alphabetic());
    if text.starts_with('/') || is_drive {
        let message = format!("The {what} \"{text}\" is absolute; only those relative to the workspace are allowed");
        return Err(StdError::denied(message).because("outside"));
    }
    if text.contains(':') {
        let message = format!("The {what} \"{text}\" has a \":\", which names a drive or a stream on some systems");
        return Err(StdError::invalid(message));
    }
    if text.split('/').any(|part| part == "..") {
        return Err(
            StdError::denied(format!("The {what} \"{text}\" has \"..\", which is not allowed")).because("outside")
        );
    }
    Ok(())
}
