//! A transport that takes a server's notifications itself, in the order in which they were sent.
//!
//! The SDK takes every notification in a task of its own. Two of them may change places there, the last word about a call
//! may come after its answer, when nobody listens any more, and a server that tells without end fills the memory with
//! tasks. Here they are taken one after another: progress goes to its call, `tools/list_changed` is counted, and a
//! thousand of them are one comparison at the next call. What nobody here listens to is dropped.
//!
//! The SDK is left what it needs itself: cancellations, and what belongs to a subscription, which it keeps in a queue of
//! a bounded length.

use crate::handler::Handler;
use rmcp::model::{GetMeta, JsonRpcMessage, ServerNotification};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

pub(crate) struct Notifications<T> {
    inner: T,
    handler: Handler,
}

impl<T> Notifications<T> {
    /// Notifications go to this handler.
    pub(crate) fn new(inner: T, handler: Handler) -> Notifications<T> {
        Notifications { inner, handler }
    }
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for Notifications<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.inner.receive().await? {
                JsonRpcMessage::Notification(told) if !is_for_the_sdk(&told.notification) => {
                    self.handler.told(told.notification);
                }
                message => return Some(message),
            }
            // Whoever floods us does not keep others from their turn.
            tokio::task::yield_now().await;
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

fn is_for_the_sdk(told: &ServerNotification) -> bool {
    match told {
        ServerNotification::ProgressNotification(_) => false,
        ServerNotification::CancelledNotification(_) | ServerNotification::SubscriptionsAcknowledgedNotification(_) => {
            true
        }
        other => other.get_meta().subscription_id().is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::Notifications;
    use crate::Context;
    use crate::handler::{Handler, Shared};
    use crate::transport::testing::settings;
    use rmcp::model::JsonRpcMessage;
    use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
    use rmcp::transport::Transport;
    use serde_json::{Value, json};
    use std::collections::VecDeque;
    use std::sync::Arc;

    /// A server that says these things.
    struct Saying(VecDeque<Value>);

    impl Transport<RoleClient> for Saying {
        type Error = std::io::Error;

        fn send(
            &mut self,
            _item: TxJsonRpcMessage<RoleClient>,
        ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            Some(serde_json::from_value(self.0.pop_front()?).expect("a message"))
        }

        async fn close(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    fn told(method: &str, params: Value) -> Value {
        json!({ "jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params })
    }

    #[tokio::test]
    async fn notifications_are_taken_here_and_the_sdk_is_left_what_it_needs() {
        const CHANGES: u64 = 1_000;
        let mut said: VecDeque<Value> = (0..CHANGES).map(|_| told("tools/list_changed", json!({}))).collect();
        said.push_back(told("message", json!({ "level": "info", "data": "x" })));
        said.push_back(told("resources/list_changed", json!({})));
        said.push_back(told("its/own", json!({ "x": [1] })));
        said.push_back(told("cancelled", json!({ "requestId": 1 })));
        let subscribed = json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": 7 } });
        said.push_back(told("tools/list_changed", subscribed));
        said.push_back(json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        let shared = Arc::new(Shared::default());
        let (settings, _) = settings("http://127.0.0.1:1");
        let handler = Handler { settings: Arc::new(settings), context: Context::default(), shared: shared.clone() };
        let mut transport = Notifications::new(Saying(said), handler);
        let mut passed_on = Vec::new();
        while let Some(message) = transport.receive().await {
            passed_on.push(message);
        }
        assert!(
            matches!(
                passed_on.as_slice(),
                [JsonRpcMessage::Notification(_), JsonRpcMessage::Notification(_), JsonRpcMessage::Response(_)]
            ),
            "a cancellation, what was subscribed to, and the answer: {passed_on:?}"
        );
        assert_eq!(shared.tools_generation(), CHANGES);
    }
}
