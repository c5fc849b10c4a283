//! Transport layer that limits the rate of requests and notifications from a server.
//!
//! Every request of a server gets a response, if only an error, and every notification is handled. A server that floods
//! us and reads nothing would fill the memory and keep a core busy. Here it is read more slowly, so its pipe or stream
//! fills up and it has to wait. Responses are read in order with everything else. A server that does not read our
//! responses gets no more of them: each would wait in memory, and over HTTP on a connection of its own.

use rmcp::model::JsonRpcMessage;
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Rate limit for requests.
const REQUESTS: Pace = Pace { burst: 200, each: Duration::from_millis(10) };

/// Rate limit for notifications: honest servers send progress and logs by the hundred, and they are cheap to handle.
const NOTIFICATIONS: Pace = Pace { burst: 1_000, each: Duration::from_millis(1) };

/// Limit on responses of ours that are waiting to be sent.
const MAX_ANSWERS: usize = 64;

/// Token bucket: a burst, then one message per interval.
struct Pace {
    burst: u32,
    each: Duration,
}

impl Pace {
    /// Returns the due time that allows a whole burst.
    fn rested(&self) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.each * self.burst).unwrap_or(now)
    }

    /// Returns when the next message may be read, given the due time of the one before.
    fn next(&self, due: Instant) -> Instant {
        due.max(self.rested()) + self.each
    }
}

pub(crate) struct Throttled<T> {
    inner: T,
    /// Due time of the last request at the steady rate; a burst may run ahead of it.
    request_due: Instant,
    notification_due: Instant,
    /// Message held back, and its due time. Kept here because `receive` may be cancelled and called again.
    held: Option<(RxJsonRpcMessage<RoleClient>, Instant)>,
    /// Permits for responses that are being sent.
    answers: Arc<Semaphore>,
}

impl<T> Throttled<T> {
    pub(crate) fn new(inner: T) -> Throttled<T> {
        Throttled {
            inner,
            request_due: REQUESTS.rested(),
            notification_due: NOTIFICATIONS.rested(),
            held: None,
            answers: Arc::new(Semaphore::new(MAX_ANSWERS)),
        }
    }
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for Throttled<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let is_answer = matches!(item, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        let sending = match is_answer.then(|| self.answers.clone().try_acquire_owned()) {
            Some(Err(_)) => None,
            permit => Some((self.inner.send(item), permit.and_then(Result::ok))),
        };
        async move {
            match sending {
                Some((sending, _permit)) => sending.await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        if self.held.is_none() {
            let message = self.inner.receive().await?;
            let due = match &message {
                JsonRpcMessage::Request(_) => {
                    self.request_due = REQUESTS.next(self.request_due);
                    self.request_due
                }
                JsonRpcMessage::Notification(_) => {
                    self.notification_due = NOTIFICATIONS.next(self.notification_due);
                    self.notification_due
                }
                JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => return Some(message),
            };
            self.held = Some((message, due));
        }
        if let Some((_, due)) = &self.held {
            tokio::time::sleep_until(*due).await;
        }
        self.held.take().map(|(message, _)| message)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use futures_util::future::BoxFuture;
    use serde_json::{Value, json};

    /// Server that sends the same message without end.
    struct Flooding(Value);

    impl Transport<RoleClient> for Flooding {
        type Error = std::io::Error;

        fn send(
            &mut self,
            _item: TxJsonRpcMessage<RoleClient>,
        ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            serde_json::from_value(self.0.clone()).ok()
        }

        async fn close(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    /// Counts the messages read in a second.
    async fn read_in_a_second(message: Value) -> u32 {
        let mut transport = Throttled::new(Flooding(message));
        let begun = Instant::now();
        let mut count = 0_u32;
        while begun.elapsed() < Duration::from_secs(1) {
            // Cancelling `receive` neither loses a message nor speeds up the next one.
            let patience = Duration::from_millis(7);
            count += u32::from(tokio::time::timeout(patience, transport.receive()).await.is_ok());
        }
        count
    }

    #[tokio::test]
    async fn requests_are_rate_limited() {
        let count = read_in_a_second(json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" })).await;
        assert!((90..=110 + REQUESTS.burst).contains(&count), "{count}");
    }

    #[tokio::test]
    async fn notifications_are_rate_limited() {
        for method in ["tools/list_changed", "resources/list_changed", "message", "its/own"] {
            let params = json!({ "level": "info", "data": "x" });
            let method = format!("notifications/{method}");
            let count = read_in_a_second(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
            assert!((NOTIFICATIONS.burst..=1_100 + NOTIFICATIONS.burst).contains(&count), "{method}: {count}");
        }
    }

    #[tokio::test]
    async fn responses_are_not_rate_limited() {
        let count = read_in_a_second(json!({ "jsonrpc": "2.0", "id": 7, "result": {} })).await;
        assert!(count > 2 * (1_000 + NOTIFICATIONS.burst), "{count}");
    }

    /// Server that reads nothing.
    struct NotReading;

    impl Transport<RoleClient> for NotReading {
        type Error = std::io::Error;

        fn send(
            &mut self,
            _item: TxJsonRpcMessage<RoleClient>,
        ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
            std::future::pending()
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            None
        }

        async fn close(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn responses_to_a_server_that_does_not_read_are_dropped() {
        let ours = |message: Value| serde_json::from_value::<TxJsonRpcMessage<RoleClient>>(message).unwrap();
        let answer = || ours(json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": -32601, "message": "no" } }));
        let mut transport = Throttled::new(NotReading);
        let mut waiting: Vec<BoxFuture<'static, _>> =
            (0..MAX_ANSWERS).map(|_| transport.send(answer()).boxed()).collect();
        assert!(waiting.iter_mut().all(|sending| sending.now_or_never().is_none()));
        assert!(transport.send(answer()).now_or_never().is_some(), "it is dropped");
        let request = ours(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
        assert!(transport.send(request).now_or_never().is_none(), "a request is not limited");
        waiting.pop();
        assert!(transport.send(answer()).now_or_never().is_none(), "a permit is free again");
    }
}
