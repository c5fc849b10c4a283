//! Transport layer that handles notifications from the server in the order in which they were sent.
//!
//! The SDK spawns a task for every notification. Tasks can run out of order, progress can be delivered after the result
//! of its call, and a server that floods us with notifications fills the memory with tasks. Here they are handled one
//! by one: progress goes to its call and `tools/list_changed` increments a counter, so a thousand of them cause one
//! comparison at the next call. Notifications without a handler are dropped.
//!
//! Two kinds are passed on to the SDK: cancellations, and notifications of a subscription, which it keeps in a bounded
//! queue.

use crate::handler::Handler;
use rmcp::model::{GetMeta, JsonRpcMessage, ServerNotification};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

pub(crate) struct Notifications<T> {
    inner: T,
    handler: Handler,
}

impl<T> Notifications<T> {
    /// Wraps a transport; notifications go to the handler.
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
                JsonRpcMessage::Notification(message) if !is_for_the_sdk(&message.notification) => {
                    self.handler.notified(message.notification);
                }
                message => return Some(message),
            }
            // A flood of notifications must not starve other tasks.
            tokio::task::yield_now().await;
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

fn is_for_the_sdk(notification: &ServerNotification) -> bool {
    match notification {
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

    /// Server that sends these messages.
    struct Sending(VecDeque<Value>);

    impl Transport<RoleClient> for Sending {
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

    fn notification(method: &str, params: Value) -> Value {
        json!({ "jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params })
    }

    #[tokio::test]
    async fn only_cancellations_and_subscriptions_reach_the_sdk() {
        const CHANGES: u64 = 1_000;
        let mut sent: VecDeque<Value> = (0..CHANGES).map(|_| notification("tools/list_changed", json!({}))).collect();
        sent.push_back(notification("message", json!({ "level": "info", "data": "x" })));
        sent.push_back(notification("resources/list_changed", json!({})));
        sent.push_back(notification("its/own", json!({ "x": [1] })));
        sent.push_back(notification("cancelled", json!({ "requestId": 1 })));
        let subscribed = json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": 7 } });
        sent.push_back(notification("tools/list_changed", subscribed));
        sent.push_back(json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        let shared = Arc::new(Shared::default());
        let (settings, _) = settings("http://127.0.0.1:1");
        let handler = Handler { settings: Arc::new(settings), context: Context::default(), shared: shared.clone() };
        let mut transport = Notifications::new(Sending(sent), handler);
        let mut passed_on = Vec::new();
        while let Some(message) = transport.receive().await {
            passed_on.push(message);
        }
        assert!(
            matches!(
                passed_on.as_slice(),
                [JsonRpcMessage::Notification(_), JsonRpcMessage::Notification(_), JsonRpcMessage::Response(_)]
            ),
            "a cancellation, a notification of a subscription, and the response: {passed_on:?}"
        );
        assert_eq!(shared.tools_generation(), CHANGES);
    }
}
