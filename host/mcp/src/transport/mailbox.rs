//! Incoming messages of a connection that all calls share, matched with pending requests.

use super::decode::{self, Decoded};
use super::message_log::MessageLog;
use super::pending::Pending;
use rmcp::RoleClient;
use rmcp::model::RequestId;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use std::collections::VecDeque;

/// Queue of received messages.
#[derive(Debug)]
pub(super) struct Mailbox {
    log: MessageLog,
    pending: Pending,
    messages: VecDeque<RxJsonRpcMessage<RoleClient>>,
    limit: usize,
}

impl Mailbox {
    /// Creates a queue for messages of at most `limit` bytes.
    pub(super) fn new(log: MessageLog, limit: usize) -> Mailbox {
        Mailbox { log, pending: Pending::default(), messages: VecDeque::new(), limit }
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

    /// Returns the next message.
    pub(super) fn next(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.messages.pop_front()
    }

    /// Queues what was received.
    pub(super) fn arrived(&mut self, decoded: Decoded) {
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
