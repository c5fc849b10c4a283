//! Changes by other hosts: a poll of the number of writes, and `NOTIFY` as a hint to poll at once.
//!
//! A notification is never the only news of a change. It is sent apart from the writes, once for many of them, because
//! commits of transactions that notify wait for each other.

use crate::database::Database;
use crate::lanes::Shared;
use crate::rows::number;
use crate::value::Value;
use agent_spaces_journal::StoreError;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Config, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Interval of polls while somebody waits for changes, without and with notifications.
const POLL: Duration = Duration::from_millis(200);
const POLL_LISTENING: Duration = Duration::from_secs(2);

/// Shortest time between two notifications of this process.
const NOTIFY: Duration = Duration::from_millis(20);

/// Time after which a lost connection for notifications is made again.
const RECONNECT: Duration = Duration::from_secs(5);

/// Channel of all stores in a database; the schema is the payload.
const CHANNEL: &str = "agent_spaces";

/// Returns the number of all writes.
pub(crate) async fn writes(database: &Database) -> Result<u64, StoreError> {
    let rows = database.repeat(include_str!("sql/changes.sql"), &[]).await?;
    rows.first().map_or(Ok(0), |row| number(row, 0))
}

/// Looks for writes of others while somebody waits for them. `seen` is the number of writes at the start.
pub(crate) async fn poll(database: Arc<Database>, shared: Arc<Shared>, hint: Option<Arc<Notify>>, seen: u64) {
    let mut others = seen;
    loop {
        if shared.watchers.load(Ordering::SeqCst) == 0 {
            shared.watched.notified().await;
        }
        // Ours are known. They are counted before the others are, so a race only wakes somebody for nothing.
        let ours = shared.writes.load(Ordering::SeqCst);
        if let Ok(all) = writes(&database).await {
            let now = all.saturating_sub(ours);
            if now != others {
                others = now;
                shared.version.send_modify(|version| *version += 1);
            }
        }
        match &hint {
            None => sleep(POLL).await,
            Some(hint) => {
                let _ = timeout(POLL_LISTENING, hint.notified()).await;
            }
        }
    }
}

/// Tells other hosts of writes of this one.
pub(crate) async fn notify(database: Arc<Database>, shared: Arc<Shared>) {
    let sql = format!("SELECT pg_notify('{CHANNEL}', $1)::text");
    loop {
        shared.written.notified().await;
        // If it fails, others find the change when they poll.
        let _ = database.query(&sql, &[Value::Text(database.schema())]).await;
        sleep(NOTIFY).await;
    }
}

/// Waits for notifications on a connection of its own, which no pooler in transaction mode may hand to others.
pub(crate) async fn listen(config: Config, connector: MakeRustlsConnect, schema: String, hint: Arc<Notify>) {
    loop {
        // Whatever ends it, the poll goes on.
        let _ = receive(&config, connector.clone(), &schema, &hint).await;
        sleep(RECONNECT).await;
    }
}

async fn receive(config: &Config, connector: MakeRustlsConnect, schema: &str, hint: &Notify) -> Result<(), Error> {
    let (client, mut connection) = config.connect(connector).await?;
    let sql = format!("LISTEN {CHANNEL}");
    let mut listening = std::pin::pin!(client.batch_execute(&sql));
    let mut is_listening = false;
    loop {
        let message = poll_fn(|context| {
            // The connection carries the statement, so both make progress here.
            let message = connection.poll_message(context);
            if !is_listening && let std::task::Poll::Ready(done) = listening.as_mut().poll(context) {
                is_listening = true;
                if let Err(error) = done {
                    return std::task::Poll::Ready(Some(Err(error)));
                }
            }
            message
        });
        match message.await {
            Some(Ok(AsyncMessage::Notification(notification))) => {
                if notification.channel() == CHANNEL && notification.payload() == schema {
                    hint.notify_one();
                }
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(error),
            None => return Ok(()),
        }
    }
}
