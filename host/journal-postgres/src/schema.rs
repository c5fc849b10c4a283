//! Server and tables: what the store needs of the server, formats, migrations.
//!
//! A migration only adds. So a program of an earlier format goes on while a newer one migrates: `format.oldest_program`
//! names the earliest whose statements still fit.

use crate::database::{Database, STATEMENT};
use crate::fault::{Failure, only};
use crate::rows::get;
use agent_spaces_journal::StoreError;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;

/// Steps from each format to the next: format 1 is the result of the first. Never changed, only added to.
const MIGRATIONS: [&str; 1] = [include_str!("schema-1.sql")];

/// Newest format.
const FORMAT: i32 = MIGRATIONS.len() as i32;

/// Earliest format whose programs may use the newest one. It is raised only where an old program would do harm.
const OLDEST_PROGRAM: i32 = 1;

/// Oldest server, by the number that it has for its version.
const OLDEST_SERVER: i32 = 130_000;

/// Key of the lock that one migration at a time holds until its transaction ends.
const LOCK: i64 = 0x4153_4a52;

/// Table of the format, which every program reads before anything else. It never changes.
const FORMAT_TABLE: &str = "CREATE TABLE {s}.format (\
    id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1), format integer NOT NULL, oldest_program integer NOT NULL)";

/// Checks the server, and brings the tables to the newest format.
pub(crate) async fn open(database: &Database) -> Result<(), StoreError> {
    let found = match check_server(database).await? {
        true => read_format(database).await?,
        false => 0,
    };
    if found < FORMAT {
        migrate(database).await?;
    }
    Ok(())
}

/// Checks the settings that promises depend on. Returns true if there are tables.
async fn check_server(database: &Database) -> Result<bool, StoreError> {
    let row =
        only(database.query(include_str!("sql/server.sql"), &[]).await.map_err(|failure| rights(database, failure))?)?;
    let refused = |fault: String, fix: &str| Err(StoreError::Io(format!("the Postgres server {fault}: {fix}")));
    if get::<i32>(&row, 0)? < OLDEST_SERVER {
        return refused("is older than version 13".to_owned(), "use a newer one");
    }
    if get(&row, 1)? {
        return refused(
            "is a standby, which takes no writes".to_owned(),
            "name the primary in the address of the store",
        );
    }
    for (column, name) in [(2, "fsync"), (3, "synchronous_commit"), (4, "full_page_writes")] {
        if get::<String>(&row, column)? == "off" {
            let fix = "switch it on, or what was stored is lost when the server loses power";
            return refused(format!("has {name} = off"), fix);
        }
    }
    if get::<String>(&row, 3)? == "local" {
        let fix = "set it to on, or what was stored is lost when a standby takes over";
        return refused("has synchronous_commit = local".to_owned(), fix);
    }
    let isolation: String = get(&row, 5)?;
    if isolation != "read committed" {
        let fix = "ALTER ROLE … SET default_transaction_isolation = 'read committed'";
        return refused(format!("has default_transaction_isolation = {isolation}"), fix);
    }
    get(&row, 6)
}

/// Reads the format, if this program may use it.
async fn read_format(database: &Database) -> Result<i32, StoreError> {
    let sql = include_str!("sql/format.sql");
    let row = only(database.query(sql, &[]).await.map_err(|failure| rights(database, failure))?)?;
    usable(get(&row, 0)?, get(&row, 1)?)
}

/// Returns the format, if this program may use it.
fn usable(format: i32, oldest_program: i32) -> Result<i32, StoreError> {
    match oldest_program > FORMAT {
        true => {
            Err(StoreError::Newer { found: u32::try_from(format).unwrap_or_default(), known: FORMAT.unsigned_abs() })
        }
        false => Ok(format),
    }
}

/// Brings older tables to the newest format, in one transaction. Others that do so wait, and find it done.
async fn migrate(database: &Database) -> Result<(), StoreError> {
    let mut connection = database.connection().await?;
    let migrated = timeout(STATEMENT, async {
        let transaction = connection.transaction().await?;
        transaction.batch_execute(&format!("SELECT pg_advisory_xact_lock({LOCK})")).await?;
        // Not `to_regclass`: while it waited for the lock, the server may have kept that there was no such schema. Reading the
        // catalogue takes a lock on it, and with that the server learns what others created.
        let table = database.text(
            "SELECT EXISTS (SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
             WHERE n.nspname = '{s}' AND c.relname = 'format')",
        );
        let has_tables: bool = transaction.query_typed_one(&table, &[]).await?.try_get(0)?;
        let mut found: i32 = 0;
        if has_tables {
            let row = transaction.query_typed_one(&database.text(include_str!("sql/format.sql")), &[]).await?;
            found = row.try_get(0)?;
        } else {
            transaction.batch_execute(&database.text("CREATE SCHEMA IF NOT EXISTS {s}")).await?;
            transaction.batch_execute(&database.text(FORMAT_TABLE)).await?;
            let first = "INSERT INTO {s}.format (format, oldest_program) VALUES (0, 0)";
            transaction.batch_execute(&database.text(first)).await?;
        }
        for step in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
            transaction.batch_execute(&database.text(step)).await?;
        }
        let done = format!(
            "UPDATE {{s}}.format SET format = greatest(format, {FORMAT}), \
             oldest_program = greatest(oldest_program, {OLDEST_PROGRAM})"
        );
        transaction.batch_execute(&database.text(&done)).await?;
        transaction.commit().await
    });
    match migrated.await {
        Ok(Ok(())) => read_format(database).await.map(drop),
        Ok(Err(error)) => Err(rights(database, Failure::Statement(error))),
        Err(_) => Err(Failure::Timeout.into()),
    }
}

/// Names the rights that are missing.
fn rights(database: &Database, failure: Failure) -> StoreError {
    let is_missing = failure.code().is_some_and(|code| *code == SqlState::INSUFFICIENT_PRIVILEGE);
    let error = StoreError::from(failure);
    if !is_missing {
        return error;
    }
    let schema = database.schema();
    StoreError::Io(format!(
        "the role may not use or create the tables of the store: GRANT CREATE ON DATABASE … TO … lets it create the schema \
         {schema} once; if another role created it, GRANT USAGE ON SCHEMA {schema} and SELECT, INSERT, UPDATE, DELETE ON ALL \
         TABLES IN SCHEMA {schema}"
    ))
}

#[cfg(test)]
mod tests {
    use crate::schema::{FORMAT, usable};
    use agent_spaces_journal::StoreError;

    #[test]
    fn a_newer_format_is_used_unless_it_says_otherwise() {
        assert_eq!(usable(FORMAT, 1), Ok(FORMAT));
        assert_eq!(usable(FORMAT + 3, FORMAT), Ok(FORMAT + 3), "what was added is not in the way");
        let newer = StoreError::Newer { found: FORMAT.unsigned_abs() + 3, known: FORMAT.unsigned_abs() };
        assert_eq!(usable(FORMAT + 3, FORMAT + 1), Err(newer));
    }
}
