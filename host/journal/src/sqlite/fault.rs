//! Failures inside a transaction, and SQLite's errors in the words of the trait.

use crate::error::StoreError;
use rusqlite::{Error, ErrorCode};

/// Failure of one write in a batch.
#[derive(Debug)]
pub(super) enum Failure {
    /// It changed nothing, so the rest of the batch is not affected.
    Refused(StoreError),
    /// It may have changed something: the batch has to be undone.
    Database(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Database(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Refused(error)
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> StoreError {
        match (&error, error.sqlite_error_code()) {
            (_, Some(ErrorCode::DiskFull)) => StoreError::Full(
                "the disk or the journal is full: free disk space, prune ended runs, or raise the journal's limit"
                    .to_owned(),
            ),
            (_, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed)) => {
                StoreError::Busy
            }
            (_, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)) => StoreError::Corrupt(error.to_string()),
            (_, Some(ErrorCode::TooBig)) | (Error::ToSqlConversionFailure(_), _) => {
                StoreError::Invalid(format!("a value is too large: {error}"))
            }
            // Values that we did not write.
            (
                Error::FromSqlConversionFailure(..)
                | Error::IntegralValueOutOfRange(..)
                | Error::InvalidColumnType(..)
                | Error::Utf8Error(..),
                _,
            ) => StoreError::Corrupt(error.to_string()),
            _ => StoreError::Io(error.to_string()),
        }
    }
}
