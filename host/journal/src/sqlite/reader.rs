//! Reader threads, each with a connection of its own, and queries that are not lists.
//!
//! Readers never wait for the writer, nor it for them: in WAL mode a reader sees the last commit.

use super::owner::Owners;
use super::rows;
use super::writer::used_bytes;
use crate::content::hash;
use crate::error::StoreError;
use crate::run::{Size, Status};
use crate::store::Pending;
use rusqlite::{Connection, params};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use tokio::sync::oneshot;

type Query = Box<dyn FnOnce(&Connection) + Send>;

/// Pool of reader threads. Dropping it waits for the queries that were asked.
#[derive(Debug)]
pub(super) struct Readers {
    sender: Option<Sender<Query>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(super) fn start(connections: Vec<Connection>) -> Result<Readers, StoreError> {
        let (sender, receiver) = channel::<Query>();
        let receiver = Arc::new(Mutex::new(receiver));
        let start = |connection: Connection| {
            let receiver = Arc::clone(&receiver);
            let thread = Builder::new().name("journal-reader".to_owned());
            thread.spawn(move || answer(&connection, &receiver)).map_err(|error| StoreError::Io(error.to_string()))
        };
        let threads = connections.into_iter().map(start).collect::<Result<_, _>>()?;
        Ok(Readers { sender: Some(sender), threads })
    }

    /// Queues a query.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Pending<T> {
        let (sender, receiver) = oneshot::channel();
        let query: Query = Box::new(move |connection| {
            // Nobody waits for it any more.
            if !sender.is_closed() {
                drop(sender.send(query(connection)));
            }
        });
        if let Some(queue) = &self.sender {
            // If it fails, the receiver tells.
            let _ = queue.send(query);
        }
        Box::pin(async move { receiver.await.unwrap_or_else(|_| Err(StoreError::closed())) })
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.sender = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn answer(connection: &Connection, queue: &Mutex<Receiver<Query>>) {
    loop {
        let query = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match query {
            Ok(query) => query(connection),
            Err(_) => return,
        }
    }
}

/// Returns runs that can be claimed.
pub(super) fn due(connection: &Connection, owners: &Owners, now: i64, limit: usize) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT DISTINCT owner FROM runs INDEXED BY runs_owner WHERE status = 'running' AND owner IS NOT NULL";
    let mut dead: Vec<String> = rows::list(connection, sql, [], |row| row.get(0))?;
    dead.retain(|owner| owners.is_dead(owner));
    // One order for all, so that none starves behind another kind. Hosts ask this all the time, so it must not look at
    // every parked run; without statistics SQLite would.
    let sql = "SELECT id FROM (\
               SELECT id, updated AS since FROM runs WHERE status = 'ready' \
               UNION ALL SELECT id, wake_at FROM runs INDEXED BY runs_wake WHERE status = 'parked' AND wake_at <= ?1 \
               UNION ALL SELECT id, min(lease_until, updated) FROM runs WHERE status = 'running' \
               AND (lease_until <= ?1 OR owner IN (SELECT value FROM json_each(?2)))\
               ) ORDER BY since, id LIMIT ?3";
    // SQLite's integers are signed.
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values = params![now, rows::json_list(&dead), limit];
    Ok(rows::list(connection, sql, values, |row| row.get(0))?)
}

/// Returns the bytes with this hash, which are checked.
pub(super) fn blob(connection: &Connection, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let body: Option<Vec<u8>> =
        rows::query(connection, "SELECT body FROM blobs WHERE hash = ?1", [name], |row| row.get(0))?;
    match body {
        Some(body) if hash(&body) != name => Err(StoreError::Corrupt(format!("blob {name} does not have its hash"))),
        body => Ok(body),
    }
}

pub(super) fn size(connection: &Connection, file: &Path) -> Result<Size, StoreError> {
    let sql = "SELECT status, count(*) FROM runs GROUP BY status";
    let runs = rows::list(connection, sql, [], |row| Ok((row.get::<_, Status>(0)?, row.get(1)?)))?;
    let log = file.with_extension("sqlite-wal");
    let file_bytes = [file, &log].iter().map(|path| std::fs::metadata(path).map_or(0, |found| found.len())).sum();
    Ok(Size { bytes: used_bytes(connection)?, file_bytes, runs: runs.into_iter().collect() })
}
