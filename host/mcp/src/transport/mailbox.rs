//! Incoming messages of a connection that all calls share, matched with pending requests.

use super::decode::{self, Decoded};
use super::message_log::MessageLog;
use super::pending::Pending;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::model::RequestId;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use std::collections::VecDeque;

/// Queue of received messages.
pub(super) struct Mailbox {
    log: MessageLog,
    pending: Pending,
    messages: VecDeque<RxJsonRpcMessage<RoleClient>>,
    /// Message being decoded. Kept here because `receive` of a transport may be cancelled and called again.
    decoding: Option<BoxFuture<'static, Decoded>>,
    limit: usize,
}

impl Mailbox {
    /// Creates a queue for messages of at most `limit` bytes.
    pub(super) fn new(log: MessageLog, limit: usize) -> Mailbox {
        Mailbox { log, pending: Pending::default(), messages: VecDeque::new(), decoding: None, limit }
    }

    pub(super) fn log(&self) -> &MessageLog {
        &self.log
    }

    /// Records a message that is about to be sent.
    pub(super) fn sends(&mut self, message: &TxJsonRpcMessage<RoleClient>) {
        self.log.sent(message);
        self.pending.sent(message);
    }

    /// Returns the pending request, if there is exactly one.
    pub(super) fn only_pending(&self) -> Option<RequestId> {
        self.pending.only()
    }

    /// Returns the next message, decoded first if it was received. Without one, the transport reads on.
    pub(super) async fn next(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(message) = self.messages.pop_front() {
                return Some(message);
            }
            let decoded = self.decoding.as_mut()?.await;
            self.decoding = None;
            self.arrived(decoded);
        }
    }

    /// Begins to decode a received message.
    pub(super) fn decode(&mut self, decoding: impl Future<Output = Decoded> + Send + 'static) {
        self.decoding = Some(decoding.boxed());
    }

    /// Queues decoded messages.
    fn arrived(&mut self, decoded: Decoded) {
        match decoded {
            Decoded::Messages(messages) => messages.into_iter().for_each(|message| self.deliver(message)),
            Decoded::Noise(beginning) => self.log.noise(&beginning),
        }
    }

    /// Queues errors for requests whose response was over the size limit.
    pub(super) fn too_large(&mut self, answered: Vec<RequestId>) {
        if answered.is_empty() {
            self.log.warn(&format!("it sent a message larger than {} bytes, which is skipped", self.limit));
        }
        for id in answered {
            self.deliver(decode::too_large(id, self.limit));
        }
    }

    fn deliver(&mut self, message: RxJsonRpcMessage<RoleClient>) {
        self.log.received(&message);
        if !self.pending.takes(&message) {
            self.log.note(|| "dropped: no pending request for this response".to_owned());
            return;
        }
        self.messages.push_back(message);
    }
}
