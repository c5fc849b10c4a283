//! A transport that reads no more requests from a server than can be answered.
//!
//! Every request of a server is answered, if only with a refusal. A server that asks without end and reads no answer
//! would fill the memory with them; here it has to wait, as its pipe or stream fills up.

use rmcp::model::JsonRpcMessage;
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::time::Duration;
use tokio::time::Instant;

/// Requests that are read at once, and how soon each further one is.
const BURST: u32 = 200;
const PACE: Duration = Duration::from_millis(10);

pub(crate) struct Throttled<T> {
    inner: T,
    /// When the next request would be due at the slow pace; a burst may run ahead of it.
    due: Instant,
    /// A request that waits: receiving may be given up and begun anew at any time.
    held: Option<RxJsonRpcMessage<RoleClient>>,
}

impl<T> Throttled<T> {
    pub(crate) fn new(inner: T) -> Throttled<T> {
        Throttled { inner, due: Instant::now(), held: None }
    }
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for Throttled<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        if self.held.is_none() {
            let message = self.inner.receive().await?;
            if !matches!(message, JsonRpcMessage::Request(_)) {
                return Some(message);
            }
            // A clock may have begun less than a burst ago.
            let earliest = Instant::now().checked_sub(PACE * BURST).unwrap_or(self.due);
            self.due = self.due.max(earliest) + PACE;
            self.held = Some(message);
        }
        tokio::time::sleep_until(self.due).await;
        self.held.take()
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A server that asks without end.
    struct Asking;

    impl Transport<RoleClient> for Asking {
        type Error = std::io::Error;

        fn send(
            &mut self,
            _item: TxJsonRpcMessage<RoleClient>,
        ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            serde_json::from_value(json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" })).ok()
        }

        async fn close(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_server_that_asks_without_end_has_to_wait() {
        let mut transport = Throttled::new(Asking);
        let begun = Instant::now();
        let mut count = 0_u32;
        while begun.elapsed() < Duration::from_secs(1) {
            // Giving up in between loses nothing and hastens nothing.
            let patience = Duration::from_millis(7);
            count += u32::from(tokio::time::timeout(patience, transport.receive()).await.is_ok());
        }
        assert!((90..=110 + BURST).contains(&count), "{count}");
    }
}
