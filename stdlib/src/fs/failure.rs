//! What a script is told when something cannot be done. Paths are as the script wrote them: where the workspace lies
//! is not its business.

use crate::error::StdError;
use crate::protected::Access;
use std::io::{self, ErrorKind};

/// What went wrong at a path.
pub(super) fn failure(path: &str, error: &io::Error) -> StdError {
    let (message, reason) = match error.kind() {
        ErrorKind::NotFound => return not_found(path),
        ErrorKind::PermissionDenied => {
            (format!("The operating system does not allow access to \"{path}\""), "permission")
        }
        ErrorKind::AlreadyExists => (format!("There is already something at \"{path}\""), "exists"),
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
        ErrorKind::ReadOnlyFilesystem => ("The file system can only be read".to_owned(), "readOnly"),
        // The kind's own words: the text of the error could hold a path.
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
    StdError::failed(format!("\"{path}\" is not a folder, or leads through something that is none"))
        .because("notDirectory")
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
    StdError::denied(format!("\"{path}\" is not allowed: a link in it leads out of the workspace")).because("outside")
}

pub(super) fn too_deep(path: &str) -> StdError {
    StdError::failed(format!("\"{path}\" is, or has, folders that are too deep")).because("tooDeep")
}
