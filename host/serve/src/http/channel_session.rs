//! Sessions that live as long as one connection, for the transports of older clients: a pair of channels in front of
//! the handler. The connection puts messages into the inbox and sends what the outbox has.

use super::sessions::{IDLE_TIMEOUT, MAX_ID, MAX_OPEN_REQUESTS, Sessions, SessionsError};
use crate::handler::ModeHandler;
use crate::mode::Mode;
use agent_spaces_http_server::{Client, InFlight, InFlightGuard};
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Maximum number of messages that wait for the handler, each of at most some megabytes. It takes them at once, so that
/// more would only hide a client that sends too fast.
const MAX_QUEUED: usize = 4;

/// Maximum number of messages that wait for a client that reads slowly. Then requests wait with their answers.
const MAX_UNSENT: usize = 16;

/// Starts the sessions of one caller.
pub(super) struct SessionStarter {
    pub(super) mode: Mode,
    pub(super) client: Client,
    /// For the permits, which streamable sessions need too.
    pub(super) sessions: Sessions,
    /// Counts open requests, for a graceful shutdown.
    pub(super) requests: InFlight,
    /// Counts sessions.
    pub(super) running: InFlight,
    pub(super) ending: CancellationToken,
}

/// Session of one connection.
pub(super) struct ChannelSession {
    pub(super) inbox: Inbox,
    /// Messages to the client, as JSON. Closed when the session ends.
    pub(super) outbox: mpsc::Receiver<String>,
    /// To put replies into the outbox that are not the handler's, as long as the session is open.
    pub(super) replies: mpsc::WeakSender<String>,
    /// Ends the session and cancels its requests when it is dropped.
    pub(super) end: DropGuard,
    /// Counts the connection as part of the session.
    pub(super) running: InFlightGuard,
}

impl SessionStarter {
    /// Starts a session.
    pub(super) async fn start(&self) -> Result<ChannelSession, SessionsError> {
        let permit = self.sessions.acquire_permit().await?;
        let open = Arc::new(OpenRequests { in_flight: self.requests.clone(), guards: Mutex::default() });
        let (messages, incoming) = mpsc::channel(MAX_QUEUED);
        let (outgoing, outbox) = mpsc::channel(MAX_UNSENT);
        let (replies, cancelled) = (outgoing.downgrade(), self.ending.child_token());
        let transport = ChannelTransport { incoming, outgoing, open: open.clone(), used: Instant::now() };
        let handler = ModeHandler::new(self.mode.clone(), self.client.clone());
        let (ended, running) = (cancelled.clone(), self.running.enter());
        tokio::spawn(async move {
            let _until_the_end = (permit, running);
            // A client that does not initialize its session has none.
            if let Ok(served) = handler.serve_with_ct(transport, ended).await {
                let _ended = served.waiting().await;
            }
        });
        let (inbox, running) = (Inbox { messages, open }, self.running.enter());
        Ok(ChannelSession { inbox, outbox, replies, end: cancelled.drop_guard(), running })
    }
}

/// Takes messages of the client. Clones share state.
#[derive(Clone)]
pub(super) struct Inbox {
    messages: mpsc::Sender<ClientJsonRpcMessage>,
    open: Arc<OpenRequests>,
}

impl Inbox {
    /// Passes a message on. Waits if the handler is behind.
    pub(super) async fn accept(&self, message: ClientJsonRpcMessage) -> Result<(), SessionsError> {
        let place = self.messages.reserve().await.map_err(|_| SessionsError::Over)?;
        match &message {
            ClientJsonRpcMessage::Request(request) => self.open.register(&request.id)?,
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    // A cancelled request is not answered.
                    cancelled.params.request_id.iter().for_each(|id| drop(self.open.end(id)));
                }
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {}
        }
        place.send(message);
        Ok(())
    }
}

/// Requests of a session that are not answered yet.
struct OpenRequests {
    in_flight: InFlight,
    guards: Mutex<HashMap<RequestId, InFlightGuard>>,
}

impl OpenRequests {
    fn register(&self, id: &RequestId) -> Result<(), SessionsError> {
        if matches!(id, RequestId::String(text) if text.len() > MAX_ID) {
            return Err(SessionsError::LongId);
        }
        let mut guards = self.guards();
        if guards.contains_key(id) {
            return Err(SessionsError::Twice);
        }
        if guards.len() >= MAX_OPEN_REQUESTS {
            return Err(SessionsError::Busy);
        }
        guards.insert(id.clone(), self.in_flight.enter());
        Ok(())
    }

    /// Removes a request that is answered or cancelled.
    fn end(&self, id: &RequestId) -> Option<InFlightGuard> {
        self.guards().remove(id)
    }

    fn is_empty(&self) -> bool {
        self.guards().is_empty()
    }

    fn guards(&self) -> MutexGuard<'_, HashMap<RequestId, InFlightGuard>> {
        self.guards.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The handler's end of the channels.
struct ChannelTransport {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    outgoing: mpsc::Sender<String>,
    open: Arc<OpenRequests>,
    /// Time of the last message.
    used: Instant,
}

#[derive(Debug, thiserror::Error)]
enum ChannelError {
    #[error("the client disconnected")]
    Gone,
    #[error("the message is not JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Transport<RoleServer> for ChannelTransport {
    type Error = ChannelError;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), ChannelError>> + Send + 'static {
        self.used = Instant::now();
        let answered = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => None,
        };
        let answered = answered.and_then(|id| self.open.end(id));
        let outgoing = self.outgoing.clone();
        async move {
            let _in_flight_until_sent = answered;
            let text = serde_json::to_string(&message)?;
            outgoing.send(text).await.map_err(|_| ChannelError::Gone)
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            match tokio::time::timeout_at(self.used + IDLE_TIMEOUT, self.incoming.recv()).await {
                Ok(Some(message)) => {
                    self.used = Instant::now();
                    return Some(message);
                }
                // The session is cancelled: an end of the messages would wait for open requests instead.
                Ok(None) => std::future::pending::<()>().await,
                Err(_) if self.open.is_empty() => return None,
                Err(_) => self.used = Instant::now(),
            }
        }
    }

    async fn close(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::http::channel_session::*;
    use serde_json::json;

    fn message(value: serde_json::Value) -> ClientJsonRpcMessage {
        serde_json::from_value(value).unwrap()
    }

    fn ping(id: serde_json::Value) -> ClientJsonRpcMessage {
        message(json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }))
    }

    /// An inbox that something empties, and the requests that it counts.
    fn inbox() -> (Inbox, ChannelTransport, mpsc::Receiver<String>) {
        let open = Arc::new(OpenRequests { in_flight: InFlight::default(), guards: Mutex::default() });
        let (messages, incoming) = mpsc::channel(MAX_QUEUED);
        let (outgoing, outbox) = mpsc::channel(MAX_UNSENT);
        let transport = ChannelTransport { incoming, outgoing, open: open.clone(), used: Instant::now() };
        (Inbox { messages, open }, transport, outbox)
    }

    #[tokio::test]
    async fn a_request_is_open_until_its_answer_is_sent() {
        let (inbox, mut transport, mut outbox) = inbox();
        inbox.accept(ping(json!(1))).await.unwrap();
        assert!(matches!(inbox.accept(ping(json!(1))).await, Err(SessionsError::Twice)));
        assert!(transport.receive().await.is_some());
        let answer = serde_json::from_value(json!({ "jsonrpc": "2.0", "id": 1, "result": {} })).unwrap();
        transport.send(answer).await.unwrap();
        assert!(outbox.recv().await.unwrap().contains("\"id\":1"));
        inbox.open.in_flight.drained().await;
        inbox.accept(ping(json!(1))).await.unwrap();
    }

    #[tokio::test]
    async fn a_cancelled_request_is_not_open() {
        let (inbox, _transport, _outbox) = inbox();
        inbox.accept(ping(json!(1))).await.unwrap();
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
        inbox.accept(message(cancelled)).await.unwrap();
        assert!(inbox.open.is_empty());
    }

    #[tokio::test]
    async fn ids_and_open_requests_are_bounded() {
        let (inbox, mut transport, _outbox) = inbox();
        assert!(matches!(inbox.accept(ping(json!("x".repeat(MAX_ID + 1)))).await, Err(SessionsError::LongId)));
        for id in 0..MAX_OPEN_REQUESTS {
            inbox.accept(ping(json!(id))).await.unwrap();
            assert!(transport.receive().await.is_some());
        }
        assert!(matches!(inbox.accept(ping(json!("more"))).await, Err(SessionsError::Busy)));
        drop(transport);
        assert!(matches!(inbox.accept(ping(json!("late"))).await, Err(SessionsError::Over)));
    }
}
