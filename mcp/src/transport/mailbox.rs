//! What arrives over a connection that all calls share, matched with the calls that wait.

use super::decode::{self, Decoded};
use super::pending::Pending;
use super::spoken::Spoken;
use rmcp::RoleClient;
use rmcp::model::RequestId;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use std::collections::VecDeque;

/// Messages that arrived and were not taken yet.
#[derive(Debug)]
pub(super) struct Mailbox {
    spoken: Spoken,
    pending: Pending,
    messages: VecDeque<RxJsonRpcMessage<RoleClient>>,
    limit: usize,
}

impl Mailbox {
    /// For messages of at most `limit` bytes.
    pub(super) fn new(spoken: Spoken, limit: usize) -> Mailbox {
        Mailbox { spoken, pending: Pending::default(), messages: VecDeque::new(), limit }
    }

    pub(super) fn spoken(&self) -> &Spoken {
        &self.spoken
    }

    /// This is about to be sent.
    pub(super) fn sends(&mut self, message: &TxJsonRpcMessage<RoleClient>) {
        self.spoken.sent(message);
        self.pending.sent(message);
    }

    /// The request that waits, if it is the only one.
    pub(super) fn only_pending(&self) -> Option<RequestId> {
        self.pending.only()
    }

    /// The next message.
    pub(super) fn next(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.messages.pop_front()
    }

    /// This arrived.
    pub(super) fn arrived(&mut self, decoded: Decoded) {
        match decoded {
            Decoded::Messages(messages) => messages.into_iter().for_each(|message| self.deliver(message)),
            Decoded::Noise(beginning) => self.spoken.noise(&beginning),
        }
    }

    /// An answer to these requests was too large to be kept.
    pub(super) fn too_large(&mut self, answered: Vec<RequestId>) {
        if answered.is_empty() {
            self.spoken.warn(&format!("it sent a message of more than {} bytes, which is passed over", self.limit));
        }
        for id in answered {
            self.deliver(decode::too_large(id, self.limit));
        }
    }

    fn deliver(&mut self, message: RxJsonRpcMessage<RoleClient>) {
        self.spoken.heard(&message);
        if !self.pending.takes(&message) {
            self.spoken.note(|| "nothing waits for that answer: it is dropped".to_owned());
            return;
        }
        self.messages.push_back(message);
    }
}
