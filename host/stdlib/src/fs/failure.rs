//! File errors worded for scripts. Paths are as the script wrote them: the host path of the workspace stays hidden.

use crate::error::StdError;
use agent_spaces_protected_paths::Access;
use std::io::{self, ErrorKind};

/// Converts an I/O error at a path.
pub(super) fn failure(path: &str, error: &io::Error) -> StdError {
    let (message, reason) = match error.kind() {
        ErrorKind::NotFound => return not_found(path),
        ErrorKind::PermissionDenied => {
            (format!("The operating system does not allow access to \"{path}\""), "permission")
        }
        ErrorKind::AlreadyExists => (format!("\"{path}\" already exists"), "exists"),
        ErrorKind::DirectoryNotEmpty => {
            return StdError::failed(format!(
                "The folder \"{path}\" is not empty; {{ recursive: true }} deletes it with all that is in it"
            ))
            .because("notEmpty");
        }
        ErrorKind::NotADirectory => return not_a_folder(path),
        ErrorKind::IsADirectory => return is_a_folder(path),
        ErrorKind::InvalidFilename => (format!("A name in \"{path}\" is too long, or not a valid name"), "invalidName"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ("The disk is full".to_owned(), "diskFull"),
        ErrorKind::ReadOnlyFilesystem => ("The file system is read-only".to_owned(), "readOnly"),
        // Only the kind: the error's text could contain a path.
        kind => (format!("\"{path}\" cannot be used: {kind}"), "io"),
    };
    StdError::failed(message).because(reason)
}

pub(super) fn not_found(path: &str) -> StdError {
    StdError::failed(format!("There is no file or folder \"{path}\"")).because("notFound")
}

pub(super) fn is_a_folder(path: &str) -> StdError {
    StdError::failed(format!("\"{path}\" is a folder")).because("isDirectory")
}

pub(super) fn not_a_folder(path: &str) -> StdError {
    StdError::failed(format!("\"{path}\" is not a folder, or a part of it is not")).because("notDirectory")
}

pub(super) fn protected(path: &str, access: Access) -> StdError {
    let why = match access {
        Access::Read => {
            "names of configuration, state and credentials, and all that begin with a dot, are out of reach"
        }
        Access::Write => {
            "names of configuration, state and credentials, all that begin with a dot, and what other programs load or run \
             unasked, are not written"
        }
    };
    let message = format!("\"{path}\" is not allowed: {why}; use another name");
    StdError::denied(message).because("protected")
}

pub(super) fn outside(path: &str) -> StdError {
    StdError::denied(format!("\"{path}\" is not allowed: a symbolic link in it leads out of the workspace"))
        .because("outside")
}

pub(super) fn too_deep(path: &str) -> StdError {
    StdError::failed(format!("\"{path}\" is nested too deeply")).because("tooDeep")
}
