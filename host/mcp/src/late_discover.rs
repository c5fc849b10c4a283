//! Transport layer that drops a late response to `server/discover`.
//!
//! A server of unknown protocol generation is sent `server/discover`, and `initialize` if there is no response within ten
//! seconds. A process that takes longer to start reads both requests and answers both. The SDK would take the first
//! response for that of `initialize`, and fail.

use rmcp::model::{ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// True if the server answered `server/discover` after its timeout, so it speaks the stateless protocol.
pub(crate) type AnsweredLate = Arc<AtomicBool>;

pub(crate) struct LateDiscover<T> {
    inner: T,
    asked: Option<RequestId>,
    /// True once `initialize` was sent.
    is_over: bool,
    answered: AnsweredLate,
}

impl<T> LateDiscover<T> {
    /// Wraps a transport; sets `answered` when a response is dropped.
    pub(crate) fn new(inner: T, answered: AnsweredLate) -> LateDiscover<T> {
        LateDiscover { inner, asked: None, is_over: false, answered }
    }

    fn is_late(&self, id: &RequestId) -> bool {
        self.is_over && self.asked.as_ref() == Some(id)
    }
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for LateDiscover<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item {
            match &request.request {
                ClientRequest::DiscoverRequest(_) => self.asked = Some(request.id.clone()),
                ClientRequest::InitializeRequest(_) => self.is_over = true,
                _ => {}
            }
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.inner.receive().await? {
                JsonRpcMessage::Response(response) if self.is_late(&response.id) => {
                    self.answered.store(true, Ordering::Relaxed);
                }
                JsonRpcMessage::Error(error) if error.id.as_ref().is_some_and(|id| self.is_late(id)) => {}
                message => return Some(message),
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}
