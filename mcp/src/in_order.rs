//! A transport that tells of progress in the order in which it was sent, and before the answer that it belongs to.
//!
//! The SDK takes every notification in a task of its own. Two of them may change places there, and the last word about a
//! call may come after its answer, when nobody listens any more.

use crate::handler::Handler;
use rmcp::model::{JsonRpcMessage, JsonRpcNotification, ServerNotification};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

pub(crate) struct InOrder<T> {
    inner: T,
    handler: Handler,
}

impl<T> InOrder<T> {
    /// Progress goes to this handler, and to nobody else.
    pub(crate) fn new(inner: T, handler: Handler) -> InOrder<T> {
        InOrder { inner, handler }
    }
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for InOrder<T> {
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
                JsonRpcMessage::Notification(JsonRpcNotification {
                    notification: ServerNotification::ProgressNotification(progress),
                    ..
                }) => self.handler.progressed(progress.params),
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
