//! Ids of pending requests, so that responses to no request are dropped.

use rmcp::RoleClient;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use std::collections::HashSet;

/// Ids of pending requests.
#[derive(Debug, Default)]
pub(super) struct Pending(HashSet<RequestId>);

impl Pending {
    /// Records a sent message: adds a request, removes a cancelled one.
    pub(super) fn sent(&mut self, message: &TxJsonRpcMessage<RoleClient>) {
        match message {
            JsonRpcMessage::Request(request) => {
                self.0.insert(request.id.clone());
            }
            JsonRpcMessage::Notification(sent) => {
                if let ClientNotification::CancelledNotification(cancelled) = &sent.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.0.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    /// Returns true unless the message is a response to no pending request. A second response to a request is refused.
    pub(super) fn takes(&mut self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        match message {
            JsonRpcMessage::Response(response) => self.answered(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref().is_none_or(|id| self.answered(id)),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => true,
        }
    }

    /// Returns the pending request, if there is exactly one.
    pub(super) fn only(&self) -> Option<RequestId> {
        let mut ids = self.0.iter();
        ids.next().filter(|_| ids.next().is_none()).cloned()
    }

    /// Removes a request. Some servers return a numeric id as a string, which the SDK accepts too.
    fn answered(&mut self, id: &RequestId) -> bool {
        let number = match id {
            RequestId::String(text) => text.parse().ok().map(RequestId::Number),
            RequestId::Number(_) => None,
        };
        self.0.remove(id) || number.is_some_and(|number| self.0.remove(&number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn ours(message: Value) -> TxJsonRpcMessage<RoleClient> {
        serde_json::from_value(message).unwrap()
    }

    fn takes(pending: &mut Pending, message: Value) -> bool {
        pending.takes(&serde_json::from_value(message).unwrap())
    }

    #[test]
    fn only_the_first_response_to_a_request_is_taken() {
        let mut pending = Pending::default();
        let answer = |id: Value| json!({ "jsonrpc": "2.0", "id": id, "result": {} });
        assert!(!takes(&mut pending, answer(json!(1))));
        pending.sent(&ours(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })));
        pending.sent(&ours(json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" })));
        assert!(takes(&mut pending, answer(json!(1))));
        assert!(!takes(&mut pending, answer(json!(1))));
        assert!(takes(&mut pending, answer(json!("2"))));
        assert!(!takes(&mut pending, json!({ "jsonrpc": "2.0", "id": 2, "error": { "code": 1, "message": "" } })));
    }

    #[test]
    fn responses_to_cancelled_requests_are_refused() {
        let mut pending = Pending::default();
        pending.sent(&ours(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })));
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
        pending.sent(&ours(cancel));
        assert!(!takes(&mut pending, json!({ "jsonrpc": "2.0", "id": 1, "result": {} })));
    }

    #[test]
    fn a_single_pending_request_is_known() {
        let mut pending = Pending::default();
        assert_eq!(pending.only(), None);
        pending.sent(&ours(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })));
        assert_eq!(pending.only(), Some(RequestId::Number(1)));
        pending.sent(&ours(json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" })));
        assert_eq!(pending.only(), None);
    }

    #[test]
    fn requests_and_notifications_pass() {
        let mut pending = Pending::default();
        assert!(takes(&mut pending, json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })));
        assert!(takes(&mut pending, json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })));
        assert!(takes(&mut pending, json!({ "jsonrpc": "2.0", "error": { "code": -32700, "message": "m" } })));
    }
}
