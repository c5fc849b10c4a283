//! A transport that reads no more requests and notifications from a server than can be taken.
//!
//! Every request of a server is answered, if only with a refusal, and every notification is looked at. A server that asks
//! or tells without end, and reads nothing, would fill the memory and keep a core busy; here it has to wait, as its pipe
//! or stream fills up. What it answers is read with all else that it says, in its order. A server that takes no answers
//! gets no further ones: each would wait in memory, and over HTTP on a connection of its own.

use rmcp::model::JsonRpcMessage;
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Requests that are read at once, and how soon each further one is.
const REQUESTS: Pace = Pace { burst: 200, each: Duration::from_millis(10) };

/// The same for notifications: progress and logs of honest servers come by the hundred, and cost little.
const NOTIFICATIONS: Pace = Pace { burst: 1_000, each: Duration::from_millis(1) };

/// Answers of ours that a server may leave untaken.
const MAX_ANSWERS: usize = 64;

/// So many at once, and then one in so much time.
struct Pace {
    burst: u32,
    each: Duration,
}

impl Pace {
    /// When the last one was due, where a whole burst may be read at once.
    fn rested(&self) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.each * self.burst).unwrap_or(now)
    }

    /// When the next one may be read, where the one before was due then.
    fn next(&self, due: Instant) -> Instant {
        due.max(self.rested()) + self.each
    }
}

pub(crate) struct Throttled<T> {
    inner: T,
    /// When the last request would have been due at the slow pace; a burst may run ahead of it.
    request_due: Instant,
    notification_due: Instant,
    /// A message that waits, and until when: receiving may be given up and begun anew at any time.
    held: Option<(RxJsonRpcMessage<RoleClient>, Instant)>,
    /// Places of answers that are being sent.
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
            place => Some((self.inner.send(item), place.and_then(Result::ok))),
        };
        async move {
            match sending {
                Some((sending, _place)) => sending.await,
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

    /// A server that says one thing without end.
    struct Saying(Value);

    impl Transport<RoleClient> for Saying {
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

    /// How many messages are read in a second.
    async fn read_in_a_second(message: Value) -> u32 {
        let mut transport = Throttled::new(Saying(message));
        let begun = Instant::now();
        let mut count = 0_u32;
        while begun.elapsed() < Duration::from_secs(1) {
            // Giving up in between loses nothing and hastens nothing.
            let patience = Duration::from_millis(7);
            count += u32::from(tokio::time::timeout(patience, transport.receive()).await.is_ok());
        }
        count
    }

    #[tokio::test]
    async fn a_server_that_asks_without_end_has_to_wait() {
        let count = read_in_a_second(json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" })).await;
        assert!((90..=110 + REQUESTS.burst).contains(&count), "{count}");
    }

    #[tokio::test]
    async fn a_server_that_tells_without_end_has_to_wait() {
        for method in ["tools/list_changed", "resources/list_changed", "message", "its/own"] {
            let params = json!({ "level": "info", "data": "x" });
            let method = format!("notifications/{method}");
            let count = read_in_a_second(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
            assert!((NOTIFICATIONS.burst..=1_100 + NOTIFICATIONS.burst).contains(&count), "{method}: {count}");
        }
    }

    #[tokio::test]
    async fn answers_are_never_held_up() {
        let count = read_in_a_second(json!({ "jsonrpc": "2.0", "id": 7, "result": {} })).await;
        assert!(count > 2 * (1_000 + NOTIFICATIONS.burst), "{count}");
    }

    /// A server that takes nothing.
    struct Deaf;

    impl Transport<RoleClient> for Deaf {
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
    async fn a_server_that_takes_no_answers_gets_no_more_of_them() {
        let ours = |message: Value| serde_json::from_value::<TxJsonRpcMessage<RoleClient>>(message).unwrap();
        let answer = || ours(json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": -32601, "message": "no" } }));
        let mut transport = Throttled::new(Deaf);
        let mut waiting: Vec<BoxFuture<'static, _>> =
            (0..MAX_ANSWERS).map(|_| transport.send(answer()).boxed()).collect();
        assert!(waiting.iter_mut().all(|sending| sending.now_or_never().is_none()));
        assert!(transport.send(answer()).now_or_never().is_some(), "it is not kept");
        let request = ours(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
        assert!(transport.send(request).now_or_never().is_none(), "what we ask is not an answer");
        waiting.pop();
        assert!(transport.send(answer()).now_or_never().is_none(), "there is a place again");
    }
}
