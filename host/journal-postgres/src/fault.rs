//! Failures of statements, in the words of the trait: each names the fault, then the fix. None has a password.

use agent_spaces_journal::StoreError;
use std::error::Error as _;
use std::fmt::Write as _;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, Row};

/// Failure of a statement.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server refused it, or the connection was lost.
    Statement(Error),
    /// There was no connection: nothing was sent.
    Unreachable(StoreError),
    /// There was no answer in time.
    Timeout,
}

impl Failure {
    /// Returns the code of the server's error.
    pub(crate) fn code(&self) -> Option<&SqlState> {
        match self {
            Failure::Statement(error) => error.code(),
            Failure::Unreachable(_) | Failure::Timeout => None,
        }
    }

    /// True if the connection is of no use any more.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Failure::Statement(error) => match error.code() {
                Some(code) => is_end(code) || *code == SqlState::READ_ONLY_SQL_TRANSACTION,
                None => true,
            },
            Failure::Unreachable(_) | Failure::Timeout => true,
        }
    }

    /// True if nobody knows whether the statement was executed.
    pub(crate) fn is_unknown(&self) -> bool {
        match self {
            Failure::Statement(error) => error.code().is_none_or(is_end),
            Failure::Unreachable(_) => false,
            Failure::Timeout => true,
        }
    }

    /// True if the connection was lost, so that a statement that may be executed twice can be repeated.
    pub(crate) fn may_repeat(&self) -> bool {
        self.is_unknown() && !matches!(self, Failure::Timeout)
    }

    /// True if the statement was undone, and another attempt may succeed.
    pub(crate) fn was_undone(&self) -> bool {
        let transient = [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            // A server that was the primary.
            SqlState::READ_ONLY_SQL_TRANSACTION,
            // A prune removed a blob meanwhile, or somebody referred to one that a prune was about to remove.
            SqlState::FOREIGN_KEY_VIOLATION,
        ];
        self.code().is_some_and(|code| transient.contains(code))
    }
}

/// True if an error is the end of its connection. What it did may have been committed, but not on the standby.
fn is_end(code: &SqlState) -> bool {
    let timeouts = [SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT];
    // Faults of the connection; and what the operator did: shutdown, crash, a server that starts, a dropped database.
    let is_class = ["08", "57P"].iter().any(|class| code.code().starts_with(class));
    is_class || timeouts.contains(code)
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> StoreError {
        let error = match failure {
            Failure::Statement(error) => error,
            Failure::Unreachable(error) => return error,
            Failure::Timeout => {
                return StoreError::Unreachable(
                    "Postgres did not answer in time; look at its load and at locks in pg_stat_activity".to_owned(),
                );
            }
        };
        let text = words(&error);
        let Some(code) = error.code() else {
            return StoreError::Unreachable(format!("Postgres: {text}; the connection was lost"));
        };
        if is_end(code) {
            return StoreError::Unreachable(format!("Postgres: {text}; the connection was lost"));
        }
        match code.code() {
            "53100" => StoreError::Full(format!("the disk of the Postgres server is full: {text}; free disk space")),
            "40001" | "40P01" | "55P03" => StoreError::Busy,
            "42501" => StoreError::Io(format!("{text}; grant the missing right to the role of the store")),
            "42P01" | "3F000" => StoreError::Corrupt(format!("{text}: its tables were removed")),
            "XX001" | "XX002" => StoreError::Corrupt(text),
            "22021" => StoreError::Invalid("a text has a NUL character, which Postgres does not store".to_owned()),
            "22003" | "54000" => StoreError::Invalid(format!("a value is too large: {text}")),
            // It was the primary a moment ago.
            "25006" => StoreError::Unreachable(format!("{text}; name the primary in the address of the store")),
            "53200" | "53300" => {
                StoreError::Unreachable(format!("Postgres: {text}; give the server more memory or connections"))
            }
            "57014" => StoreError::Unreachable(format!("Postgres: {text}; look at its load and at statement_timeout")),
            _ => StoreError::Io(format!("Postgres: {text}")),
        }
    }
}

/// Returns the error of an attempt to connect, and if another attempt may succeed. `name` is the address without password.
pub(crate) fn connecting(name: &str, error: &Error) -> (StoreError, bool) {
    let text = words(error);
    let (fix, may_succeed) = match error.code().map(SqlState::code) {
        Some("28P01" | "28000") => {
            ("correct the user, or the password in the file or variable that has the address; see pg_hba.conf", false)
        }
        Some("3D000") => ("create the database, or name another", false),
        Some("42501") => ("grant the right to connect: GRANT CONNECT ON DATABASE … TO …", false),
        Some("53300") => ("lower `connections` in the address, raise max_connections, or use a pooler", true),
        Some(_) => ("look at the log of the server", true),
        None if text.contains("does not allow writes") => ("it is a standby: name the primary in the address", true),
        None if text.contains("password") => {
            ("the server wants a password: write the address with it to a file, and name that as file:PATH", false)
        }
        None if text.contains("TLS") || text.contains("certificate") => {
            // Also if the server ended during the handshake.
            ("name the server's root certificate in `sslrootcert`; `sslmode=disable` is for private networks", true)
        }
        None => ("check that the server runs, and its host and port", true),
    };
    let text = format!("cannot connect to {name}: {text}; {fix}");
    (if may_succeed { StoreError::Unreachable(text) } else { StoreError::Io(text) }, may_succeed)
}

/// Returns an error with its causes.
fn words(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!("{} ({})", error.message(), error.code().code());
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        // Writing to a text cannot fail.
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    text
}

/// Returns the only row.
pub(crate) fn only(rows: Vec<Row>) -> Result<Row, StoreError> {
    rows.into_iter().next().ok_or_else(|| StoreError::Corrupt("a statement returned no row".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::is_end;
    use tokio_postgres::error::SqlState;

    #[test]
    fn ends_of_a_connection_leave_the_outcome_open() {
        for code in ["08006", "57P01", "57P02", "57P03", "57P05", "25P03"] {
            assert!(is_end(&SqlState::from_code(code)), "{code}");
        }
        for code in ["57014", "25006", "40001", "53300"] {
            assert!(!is_end(&SqlState::from_code(code)), "{code}");
        }
    }
}
