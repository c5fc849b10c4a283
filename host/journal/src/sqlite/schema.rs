//! Database file: private creation, connections, tables, migrations.

use super::settings::Settings;
use crate::error::StoreError;
use agent_spaces_private_fs::folder;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Name of the database file. SQLite keeps `-wal` and `-shm` beside it, with the same mode.
pub(super) const FILE: &str = "journal.sqlite";

/// Tells our files from other databases: "ASJR".
const APPLICATION: i32 = 0x4153_4a52;

/// Bytes of the write-ahead log that are kept for reuse after a burst.
const KEPT_LOG: i64 = 16 << 20;

/// Prepared statements that a connection keeps: all of ours, with the usual filters of lists.
const STATEMENTS: usize = 64;

/// Steps from each format to the next: format 1 is the result of the first. Never changed, only added to.
const MIGRATIONS: [&str; 4] = [
    include_str!("schema-1.sql"),
    include_str!("schema-2.sql"),
    include_str!("schema-3.sql"),
    include_str!("schema-4.sql"),
];

/// Newest format.
const FORMAT: u32 = MIGRATIONS.len() as u32;

/// Creates the private folder, if it is missing, and returns its path without symlinks.
pub(super) fn make_folder(path: &Path) -> Result<PathBuf, StoreError> {
    refuse_symlink(path)?;
    let is_new = !path.exists();
    folder::make_or_close(path).map_err(io("create", path))?;
    let folder = fs::canonicalize(path).map_err(io("open", path))?;
    if is_new && let Some(parent) = folder.parent() {
        sync(parent)?;
    }
    Ok(folder)
}

/// Creates the database file with mode 0600, if it is missing: SQLite would use the process's umask.
///
/// An existing file is never opened here. Closing it would release the locks that SQLite holds on it for other stores
/// of this process, and the log could be removed under them.
pub(super) fn make_file(folder: &Path) -> Result<(), StoreError> {
    let path = folder.join(FILE);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&path) {
        Ok(_) => sync(folder),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => close_file(&path),
        Err(error) => Err(io("create", &path)(error)),
    }
}

/// Takes the rights of others from an existing file.
fn close_file(path: &Path) -> Result<(), StoreError> {
    refuse_symlink(path)?;
    let found = fs::symlink_metadata(path).map_err(io("open", path))?;
    if !found.is_file() {
        return Err(StoreError::Io(format!("{} is not a file", path.display())));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if found.permissions().mode() & 0o077 != 0 {
            let private = fs::Permissions::from_mode(0o600);
            fs::set_permissions(path, private).map_err(io("change the mode of", path))?;
        }
    }
    Ok(())
}

/// Flushes the names in a folder: a database whose file is not found after a crash is lost.
fn sync(folder: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(io("flush", folder))
    } else {
        Ok(())
    }
}

fn refuse_symlink(path: &Path) -> Result<(), StoreError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            Err(StoreError::Io(format!("{} is a symlink; name the place itself", path.display())))
        }
        _ => Ok(()),
    }
}

pub(super) fn io(action: &'static str, path: &Path) -> impl Fn(std::io::Error) -> StoreError {
    move |error| StoreError::Io(format!("cannot {action} {}: {error}", path.display()))
}

/// Opens the connection of the writer and brings the file to the newest format.
pub(super) fn open_writer(folder: &Path, settings: &Settings) -> Result<Connection, StoreError> {
    let mut connection = connect(folder, settings)?;
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let is_new: bool = connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?;
    if application != APPLICATION && !(is_new && application == 0) {
        return Err(StoreError::Corrupt(format!("{FILE} is a database of another program")));
    }
    if found > FORMAT {
        return Err(StoreError::Newer { found, known: FORMAT });
    }
    if is_new {
        // It is in the file's header from the first page on, so it comes before all that writes.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(StoreError::Io(format!("the file system of {} has no shared memory for WAL", folder.display())));
    }
    // A commit is on the disk before its tickets resolve.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // On macOS a plain flush leaves it in the drive's cache. Elsewhere these have no effect.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update(None, "journal_size_limit", KEPT_LOG)?;
    if found < FORMAT {
        migrate(&mut connection, found)?;
    }
    let page: u64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let most = settings.max_bytes.saturating_add(settings.max_bytes / 16) / page.max(1);
    connection.pragma_update(None, "max_page_count", most.clamp(MIN_PAGES, u64::from(u32::MAX - 1)))?;
    Ok(connection)
}

/// Least pages of a store: the tables themselves and some rows.
const MIN_PAGES: u64 = 64;

/// Opens a connection that cannot write.
pub(super) fn open_reader(folder: &Path, settings: &Settings) -> Result<Connection, StoreError> {
    let connection = connect(folder, settings)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn connect(folder: &Path, settings: &Settings) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(folder.join(FILE), flags)?;
    connection.busy_timeout(settings.busy_timeout)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Functions in a changed schema could otherwise do what ours does not.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Brings an older file to the newest format. The caller holds the lock of opening, so nobody else does.
fn migrate(connection: &mut Connection, found: u32) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for step in MIGRATIONS.get(found as usize..).unwrap_or_default() {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    Ok(transaction.commit()?)
}
