//! Changes by other hosts: a poll of the number of writes, and `NOTIFY` as a hint to poll at once.
//!
//! A notification is never the only news of a change. It is sent apart from the writes, once for many of them, because
//! commits of transactions that notify wait for each other.

use crate::database::Database;
use crate::panics::caught;
use crate::rows::number;
use crate::shared::Shared;
use crate::value::Value;
use agent_spaces_journal::StoreError;
use std::future::poll_fn;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
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

/// Time limit of the connection for notifications.
const CONNECT: Duration = Duration::from_secs(10);

/// Time after which a lost connection for notifications is made again.
const RECONNECT: Duration = Duration::from_secs(5);

/// Channel of all stores in a database; the schema is the payload.
const CHANNEL: &str = "agent_spaces";

/// Returns the number of all writes.
pub(crate) async fn writes(database: &Database) -> Result<u64, StoreError> {
    let rows = database.repeat(include_str!("sql/changes.sql"), &[]).await?;
    rows.first().map_or(Ok(0), |row| number(row, 0))
}

/// Looks for writes while somebody waits for them. `seen` is the number of writes at the start.
pub(crate) async fn poll(database: Arc<Database>, shared: Arc<Shared>, hint: Option<Arc<Notify>>, mut seen: u64) {
    loop {
        if shared.watchers.load(Ordering::SeqCst) == 0 {
            shared.watched.notified().await;
        }
        // Ours are among them, though they are known: a difference of what this host and the server count, as with appends
        // that were written together, would hide writes of others. So somebody may be woken for nothing.
        if let Ok(all) = caught(writes(&database)).await
            && all != seen
        {
            seen = all;
            shared.version.send_modify(|version| *version += 1);
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
    static SQL: LazyLock<String> = LazyLock::new(|| format!("SELECT pg_notify('{CHANNEL}', $1)::text"));
    loop {
        shared.written.notified().await;
        // If it fails, others find the change when they poll.
        let _ = database.query(&SQL, &[Value::Text(database.schema())]).await;
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
    // A server that accepts connections and does not answer is left alone for a while.
    let Ok(connected) = timeout(CONNECT, config.connect(connector)).await else { return Ok(()) };
    let (client, mut connection) = connected?;
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
