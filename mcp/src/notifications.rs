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
