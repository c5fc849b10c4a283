//! Connections, and statements on them.
//!
//! Each statement is a transaction of its own, without a name and without state of the session, so that a pooler in
//! transaction mode may stand between.

use crate::address::Address;
use crate::fault::{self, Failure};
use crate::settings::Settings;
use crate::tls;
use crate::value::Value;
use agent_spaces_journal::StoreError;
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Time by the server's clock, in milliseconds; `$1` is a clock of tests.
const NOW: &str = "coalesce($1::bigint, (extract(epoch FROM statement_timestamp()) * 1000)::bigint)";

/// Bytes in use.
const USED: &str = "(SELECT coalesce(sum(bytes), 0) FROM {s}.usage)";

/// Rows that the use is counted in; the first format has as many.
const SHARDS: u64 = 64;

/// Time limit of a statement: the largest takes seconds on a slow disk.
pub(crate) const STATEMENT: Duration = Duration::from_secs(60);

/// Interval of attempts to connect, and to repeat a statement that was undone.
const RETRY: Duration = Duration::from_millis(100);

/// Most attempts of a statement that was undone, or of one that may be repeated.
const MAX_ATTEMPTS: usize = 5;

/// Pool of connections to a store.
pub(crate) struct Database {
    pool: Pool,
    /// Address without password.
    name: String,
    schema: String,
    settings: Settings,
    next_shard: AtomicU64,
    /// Begin of the time in which no connection could be made.
    outage: Mutex<Option<Instant>>,
    /// True if nobody waits for an unreachable server: while the store opens, and while it closes.
    is_hasty: AtomicBool,
}

impl Database {
    /// Prepares connections. None is made.
    pub(crate) fn new(address: &Address, settings: Settings) -> Result<(Database, MakeRustlsConnect), StoreError> {
        let connector = tls::connector(address)?;
        // Without a test statement: after a failure each statement is handled as it must be anyway.
        let config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(address.config.clone(), connector.clone(), config);
        let pool = Pool::builder(manager).max_size(address.connections).build();
        let database = Database {
            pool: pool.map_err(|error| StoreError::Io(error.to_string()))?,
            name: address.to_string(),
            schema: address.schema.clone(),
            settings,
            next_shard: AtomicU64::new(u64::from(std::process::id())),
            outage: Mutex::new(None),
            is_hasty: AtomicBool::new(true),
        };
        Ok((database, connector))
    }

    /// Returns the schema of the tables.
    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }

    /// Returns the parameter of the time: the server's, unless a test has a clock.
    pub(crate) fn now(&self) -> Value<'static> {
        Value::OptionalNumber(self.settings.clock.as_ref().map(|clock| clock()))
    }

    /// Like [`now`](Database::now), for a caller who has a time: it counts in tests only.
    pub(crate) fn now_or(&self, time: i64) -> Value<'static> {
        Value::OptionalNumber(self.settings.clock.as_ref().map(|_| time))
    }

    /// Returns the bytes from which on ordinary writes are refused.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.settings.max_bytes
    }

    /// Returns the limit of ordinary writes.
    pub(crate) fn most(&self) -> Value<'static> {
        Value::Number(i64::try_from(self.settings.max_bytes).unwrap_or(i64::MAX))
    }

    /// Returns the limit of writes that end or park a run, or free it.
    pub(crate) fn utmost(&self) -> Value<'static> {
        let most = self.settings.max_bytes.saturating_add(self.settings.max_bytes / 16);
        Value::Number(i64::try_from(most).unwrap_or(i64::MAX))
    }

    /// Returns the error of a full store.
    pub(crate) fn full(&self) -> StoreError {
        let text = "the journal has reached its limit of";
        StoreError::Full(format!(
            "{text} {} bytes: prune ended runs, or raise the limit on all hosts",
            self.settings.max_bytes
        ))
    }

    /// Says whether to fail at once if the server cannot be reached.
    pub(crate) fn set_hasty(&self, is_hasty: bool) {
        self.is_hasty.store(is_hasty, Ordering::SeqCst);
    }

    /// Closes all connections.
    pub(crate) fn close(&self) {
        self.pool.close();
    }

    /// Completes the text of a statement.
    pub(crate) fn text(&self, sql: &str) -> String {
        let shard = self.next_shard.fetch_add(1, Ordering::Relaxed) % SHARDS;
        let sql = sql.replace("{used}", USED).replace("{now}", NOW).replace("{shard}", &shard.to_string());
        sql.replace("{s}", &self.schema)
    }

    /// Executes a statement. One that was undone is tried again; one whose connection was lost is not.
    pub(crate) async fn query(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        let sql = self.text(sql);
        let values: Vec<(&(dyn ToSql + Sync), Type)> = values.iter().map(Value::typed).collect();
        for attempt in 1.. {
            let connection = self.connection().await?;
            let failure = match timeout(STATEMENT, connection.query_typed(&sql, &values)).await {
                Ok(Ok(rows)) => return Ok(rows),
                Ok(Err(error)) => Failure::Statement(error),
                Err(_) => Failure::Timeout,
            };
            if failure.is_lost() {
                drop(Object::take(connection));
            }
            if !failure.was_undone() || attempt >= MAX_ATTEMPTS {
                return Err(failure);
            }
            sleep(RETRY).await;
        }
        Err(Failure::Timeout)
    }

    /// Executes a statement that may be executed twice.
    pub(crate) async fn repeat(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        for _ in 1..MAX_ATTEMPTS {
            match self.query(sql, values).await {
                Err(failure) if failure.is_unknown() && !matches!(failure, Failure::Timeout) => sleep(RETRY).await,
                outcome => return outcome,
            }
        }
        self.query(sql, values).await
    }

    /// Returns a connection. While there is none, it waits as long as the patience of the settings, counted from the begin
    /// of the outage: what is queued does not wait one after the other.
    pub(crate) async fn connection(&self) -> Result<Object, Failure> {
        loop {
            let error = match timeout(STATEMENT, self.pool.get()).await {
                Ok(Ok(connection)) => {
                    self.set_outage(false);
                    return Ok(connection);
                }
                // All are busy.
                Err(_) => return Err(Failure::Unreachable(StoreError::Busy)),
                Ok(Err(PoolError::Backend(error))) => {
                    let (error, may_succeed) = fault::connecting(&self.name, &error);
                    if !may_succeed {
                        return Err(Failure::Unreachable(error));
                    }
                    error
                }
                Ok(Err(PoolError::Closed)) => return Err(Failure::Unreachable(StoreError::closed())),
                Ok(Err(error)) => StoreError::Unreachable(error.to_string()),
            };
            if self.set_outage(true) >= self.settings.patience || self.is_hasty.load(Ordering::SeqCst) {
                return Err(Failure::Unreachable(error));
            }
            sleep(RETRY).await;
        }
    }

    /// Notes whether the server can be reached, and returns for how long it could not.
    fn set_outage(&self, is_out: bool) -> Duration {
        let mut outage = self.outage.lock().unwrap_or_else(PoisonError::into_inner);
        match is_out {
            true => outage.get_or_insert_with(Instant::now).elapsed(),
            false => {
                *outage = None;
                Duration::ZERO
            }
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut database = formatter.debug_struct("Database");
        database.field("name", &self.name).field("schema", &self.schema).finish_non_exhaustive()
    }
}
