//! Connections, and statements on them.
//!
//! Each statement is a transaction of its own and depends on no state of the session, so that a pooler in transaction mode may
//! stand between.

use crate::address::Address;
use crate::connection::Manager;
use crate::fault::{self, Failure};
use crate::outage::Outage;
use crate::settings::Settings;
use crate::tls;
use crate::value::Value;
use agent_spaces_journal::StoreError;
use deadpool::Runtime;
use deadpool::managed::{Object, Pool, PoolError, QueueMode};
use deadpool_postgres::{ManagerConfig, RecyclingMethod};
use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use tokio_postgres::{Error, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Time by the server's clock, in milliseconds; `$1` is a clock of tests.
const NOW: &str = "coalesce($1::bigint, (extract(epoch FROM statement_timestamp()) * 1000)::bigint)";

/// Bytes in use.
const USED: &str = "(SELECT coalesce(sum(bytes), 0) FROM {s}.usage)";

/// Rows that the use is counted in; the first format has as many.
const SHARDS: u64 = 64;

/// Place of the row's number in a statement. It becomes one more parameter, so that the text is always the same.
const SHARD: &str = "{shard}";

/// Time limit of a statement: the largest takes seconds on a slow disk.
pub(crate) const STATEMENT: Duration = Duration::from_secs(60);

/// Time of an attempt to connect beyond that of its socket: encryption and sign-in. A server that accepts connections and
/// then says nothing, as one that was stopped does, must not keep a host from the next one.
const SIGN_IN: Duration = Duration::from_secs(5);

/// Interval of attempts to connect, and to repeat a statement that was undone.
const RETRY: Duration = Duration::from_millis(100);

/// Most attempts of a statement that was undone, or of one that may be repeated.
const MAX_ATTEMPTS: usize = 5;

/// Pool of connections to a store.
pub(crate) struct Database {
    pool: Pool<Manager>,
    /// Address without password.
    name: String,
    schema: String,
    settings: Settings,
    next_shard: AtomicU64,
    outage: Mutex<Outage>,
    /// True if nobody waits for an unreachable server: while the store opens, and while it closes.
    is_hasty: AtomicBool,
}

impl Database {
    /// Prepares connections. None is made.
    pub(crate) fn new(address: &Address, settings: Settings) -> Result<(Database, MakeRustlsConnect), StoreError> {
        let connector = tls::connector(address)?;
        // Without a test statement: after a failure each statement is handled as it must be anyway.
        let config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = deadpool_postgres::Manager::from_config(address.config.clone(), connector.clone(), config);
        let connect = address.config.get_connect_timeout().copied().unwrap_or_default();
        let pool = Pool::builder(Manager::new(manager, address.prepares)).max_size(address.connections);
        // The last that was used knows the most statements.
        let pool = pool.queue_mode(QueueMode::Lifo);
        let pool = pool.create_timeout(Some(connect.saturating_add(SIGN_IN))).runtime(Runtime::Tokio1).build();
        let database = Database {
            pool: pool.map_err(|error| StoreError::Io(error.to_string()))?,
            name: address.to_string(),
            schema: address.schema.clone(),
            settings,
            next_shard: AtomicU64::new(u64::from(std::process::id())),
            outage: Mutex::default(),
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
        sql.replace("{used}", USED).replace("{now}", NOW).replace("{s}", &self.schema)
    }

    /// Executes a statement, prepared if that can be. One that was undone is tried again; one whose connection was lost is not.
    pub(crate) async fn query(&self, sql: &'static str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        let mut values = values.to_vec();
        let shard = sql.contains(SHARD).then(|| {
            let number = self.next_shard.fetch_add(1, Ordering::Relaxed) % SHARDS;
            values.push(Value::Number(number as i64));
            format!("${}", values.len())
        });
        let complete = || {
            let text = self.text(sql);
            shard.as_ref().map_or_else(|| text.clone(), |shard| text.replace(SHARD, shard))
        };
        for attempt in 1.. {
            let mut connection = self.connection().await?;
            let failure = match self.within_limit(connection.execute(sql, complete, &values)).await {
                Ok(rows) => return Ok(rows),
                Err(failure) => failure,
            };
            self.give_back(connection, &failure);
            if !failure.was_undone() || attempt >= MAX_ATTEMPTS {
                return Err(failure);
            }
            sleep(RETRY).await;
        }
        Err(Failure::Timeout)
    }

    /// Executes a statement that reads, without preparing it: it was made for its conditions, and so is its plan.
    pub(crate) async fn read(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        let sql = self.text(sql);
        for attempt in 1.. {
            let connection = self.connection().await?;
            let failure = match self.within_limit(connection.execute_once(&sql, values)).await {
                Ok(rows) => return Ok(rows),
                Err(failure) => failure,
            };
            self.give_back(connection, &failure);
            let may_repeat = failure.was_undone() || failure.may_repeat();
            if !may_repeat || attempt >= MAX_ATTEMPTS {
                return Err(failure);
            }
            sleep(RETRY).await;
        }
        Err(Failure::Timeout)
    }

    /// Waits for the rows of a statement, as long as any may take.
    async fn within_limit(&self, rows: impl Future<Output = Result<Vec<Row>, Error>>) -> Result<Vec<Row>, Failure> {
        let begun = Instant::now();
        match timeout(STATEMENT, rows).await {
            Ok(outcome) => outcome.map_err(Failure::Statement),
            Err(_) => {
                self.outage().begin(begun, Instant::now());
                Err(Failure::Timeout)
            }
        }
    }

    /// Gives back the connection of a statement that failed, if it is of any use.
    fn give_back(&self, connection: Object<Manager>, failure: &Failure) {
        if failure.is_lost() {
            drop(Object::take(connection));
            // Those that nobody uses are to the same server: one after the other would fail, or wait as long.
            drop(self.pool.retain(|_, _| false));
        }
    }

    /// Executes a statement that may be executed twice.
    pub(crate) async fn repeat(&self, sql: &'static str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        self.repeat_knowing(sql, values).await.map(|(rows, _)| rows)
    }

    /// Like [`repeat`](Database::repeat). It also returns true if it was executed before, for all that is known.
    pub(crate) async fn repeat_knowing(
        &self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<(Vec<Row>, bool), Failure> {
        let mut is_again = false;
        for _ in 1..MAX_ATTEMPTS {
            match self.query(sql, values).await {
                Err(failure) if failure.may_repeat() => {
                    is_again = true;
                    sleep(RETRY).await;
                }
                outcome => return outcome.map(|rows| (rows, is_again)),
            }
        }
        self.query(sql, values).await.map(|rows| (rows, is_again))
    }

    /// Returns a connection. While there is none, it waits as long as the patience of the settings, counted from the begin
    /// of the outage: what is queued does not wait one after the other.
    pub(crate) async fn connection(&self) -> Result<Object<Manager>, Failure> {
        loop {
            let error = match timeout(STATEMENT, self.pool.get()).await {
                Ok(Ok(connection)) => {
                    self.outage().end(Instant::now());
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
                Ok(Err(PoolError::Timeout(_))) => {
                    let text = "the server accepts connections and does not answer; look at its load";
                    StoreError::Unreachable(format!("cannot connect to {}: {text}", self.name))
                }
                Ok(Err(error)) => StoreError::Unreachable(error.to_string()),
            };
            let now = Instant::now();
            let length = self.outage().begin(now, now);
            if length >= self.settings.patience || self.is_hasty.load(Ordering::SeqCst) {
                return Err(Failure::Unreachable(error));
            }
            sleep(RETRY).await;
        }
    }

    /// True if the server was away until a moment ago: owners of runs could not renew their leases meanwhile.
    pub(crate) fn was_away(&self) -> bool {
        self.outage().is_recent(Instant::now())
    }

    fn outage(&self) -> MutexGuard<'_, Outage> {
        self.outage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut database = formatter.debug_struct("Database");
        database.field("name", &self.name).field("schema", &self.schema).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::address::Address;
    use crate::database::Database;
    use crate::settings::Settings;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// A server that ends during the handshake, as in a failover: writes must not fail for it.
    #[tokio::test]
    async fn a_handshake_that_is_cut_off_is_tried_again() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("postgres://ann@{}/agents?sslmode=require", server.local_addr().unwrap());
        let attempts = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&attempts);
        std::thread::spawn(move || {
            for stream in server.incoming() {
                let (mut stream, mut request) = (stream.unwrap(), [0; 8]);
                stream.read_exact(&mut request).unwrap();
                stream.write_all(b"S").unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
            }
        });
        let settings = Settings { patience: Duration::from_secs(1), ..Settings::default() };
        let (database, _) = Database::new(&Address::parse(&url).unwrap(), settings).unwrap();
        assert!(database.connection().await.is_err());
        assert_eq!(attempts.load(Ordering::SeqCst), 1, "while the store opens, a fault is told at once");
        database.set_hasty(false);
        assert!(database.connection().await.is_err());
        assert!(attempts.load(Ordering::SeqCst) > 2 && database.was_away(), "{attempts:?}");
    }
}
