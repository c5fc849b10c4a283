//! Connections of the pool, and statements that the server keeps prepared on them.
//!
//! Reading and planning a statement takes the server several times as long as executing it. So a connection that belongs to
//! one process of the server prepares each statement once. A pooler may give the next transaction another process, which does
//! not know it, or knows another one by the same name: there statements are sent whole.

use crate::direct::is_direct;
use crate::value::Value;
use deadpool::managed::{self, Metrics};
use std::collections::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row, Statement};

/// Time after which statements are prepared again: a plan that was made for an empty table stays until then.
const LIFETIME: Duration = Duration::from_secs(120);

/// When a connection prepares its statements: `prepare` of the address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Prepares {
    /// On connections to the server itself.
    #[default]
    Directly,
    /// Always: a pooler knows those of its clients.
    Always,
    Never,
}

/// Maker of connections.
pub(crate) struct Manager {
    inner: deadpool_postgres::Manager,
    prepares: Prepares,
}

/// Connection to the server, or to a pooler before it.
pub(crate) struct Connection {
    client: deadpool_postgres::ClientWrapper,
    /// Time before it was made.
    begun: Instant,
    prepares: Prepares,
    /// `None` where nothing is prepared.
    prepared: Option<Prepared>,
}

/// Prepared statements by their texts.
struct Prepared {
    statements: HashMap<&'static str, Statement>,
    /// Time from which on it was known that they may be prepared.
    since: Instant,
}

impl Manager {
    pub(crate) fn new(inner: deadpool_postgres::Manager, prepares: Prepares) -> Manager {
        Manager { inner, prepares }
    }
}

impl managed::Manager for Manager {
    type Type = Connection;
    type Error = Error;

    async fn create(&self) -> Result<Connection, Error> {
        let begun = Instant::now();
        let mut client = self.inner.create().await?;
        // Its list of statements is not used: without this it would keep one also for each connection that fails below.
        self.inner.detach(&mut client);
        let prepared = Prepared::begin(&client, self.prepares, begun).await?;
        Ok(Connection { client, begun, prepares: self.prepares, prepared })
    }

    async fn recycle(&self, connection: &mut Connection, metrics: &Metrics) -> managed::RecycleResult<Error> {
        self.inner.recycle(&mut connection.client, metrics).await
    }
}

impl Connection {
    /// Executes a statement, prepared if that can be. `complete` makes its whole text.
    pub(crate) async fn execute(
        &mut self,
        sql: &'static str,
        complete: impl Fn() -> String,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, Error> {
        let error = match self.execute_prepared(sql, &complete, values).await {
            Ok(Some(rows)) => return Ok(rows),
            Ok(None) => return self.execute_once(&complete(), values).await,
            Err(error) => error,
        };
        // Each says that nothing was executed.
        match error.code() {
            // The server does not know it, or another one by its name: somebody stands between.
            Some(&(SqlState::INVALID_SQL_STATEMENT_NAME | SqlState::DUPLICATE_PSTATEMENT)) => self.prepared = None,
            // A table has changed since.
            Some(&SqlState::FEATURE_NOT_SUPPORTED) => {
                if let Some(prepared) = &mut self.prepared {
                    prepared.statements.clear();
                }
            }
            _ => return Err(error),
        }
        self.execute_once(&complete(), values).await
    }

    /// Executes a statement that is prepared, or is so now; `None` where nothing is.
    async fn execute_prepared(
        &mut self,
        sql: &'static str,
        complete: impl Fn() -> String,
        values: &[Value<'_>],
    ) -> Result<Option<Vec<Row>>, Error> {
        if self.prepared.as_ref().is_some_and(|prepared| prepared.since.elapsed() > LIFETIME) {
            self.prepared = Prepared::begin(&self.client, self.prepares, self.begun).await?;
        }
        let Some(prepared) = &mut self.prepared else { return Ok(None) };
        let statement = match prepared.statements.get(sql) {
            Some(statement) => statement.clone(),
            None => {
                let types: Vec<Type> = values.iter().map(|value| value.typed().1).collect();
                let statement = self.client.prepare_typed(&complete(), &types).await?;
                let _ = prepared.statements.insert(sql, statement.clone());
                statement
            }
        };
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value.typed().0).collect();
        self.client.query(&statement, &values).await.map(Some)
    }

    /// Executes a statement without preparing it.
    pub(crate) async fn execute_once(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        let values: Vec<(&(dyn ToSql + Sync), Type)> = values.iter().map(Value::typed).collect();
        self.client.query_typed(sql, &values).await
    }
}

impl Prepared {
    /// Returns none yet, or `None` where nothing is to be prepared.
    async fn begin(client: &Client, prepares: Prepares, begun: Instant) -> Result<Option<Prepared>, Error> {
        let is_for_us = match prepares {
            Prepares::Directly => is_direct(client, begun).await?,
            Prepares::Always => true,
            Prepares::Never => false,
        };
        Ok(is_for_us.then(|| Prepared { statements: HashMap::new(), since: Instant::now() }))
    }
}

impl Deref for Connection {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connection").field("prepares", &self.prepared.is_some()).finish_non_exhaustive()
    }
}
