//! MCP sessions of one caller: limits, idle timeout, and cancellation of requests whose client disconnected.
//!
//! - `permits`: numbers of sessions, per caller and overall, and who loses one for a new one
//! - `shared`: sessions that hosts of a store share

mod permits;
mod shared;

use super::presence::Presence;
use super::tracked_stream::TrackedStream;
use futures_util::{Stream, StreamExt, stream};
use permits::{CallerPermits, SessionPermit};
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::common::server_side_http::{ServerSseMessage, SessionId};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::RestoreOutcome;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionConfig,
};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

pub(super) use permits::AllSessions;
pub(super) use shared::SharedSessions;

/// Idle timeout of a session. It is long because most clients cannot open a new session by themselves.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(12 * 60 * 60);

/// Reconnect delay for a client that lost a stream, and the time after which it counts as gone, which cancels its
/// request.
pub(super) const RETRY: Duration = Duration::from_millis(500);
const GONE_AFTER: Duration = Duration::from_millis(2_500);

/// Maximum number of open requests per session, and maximum length of a request id. Ids are stored as long as the
/// request.
pub(super) const MAX_OPEN_REQUESTS: usize = 256;
pub(super) const MAX_ID: usize = 1 << 10;

/// Maximum number of requests per session that are being passed on: each is stored until then, even if its client
/// disconnects.
const MAX_OPENING: usize = 4;

/// Sessions of one caller. Clones share state.
#[derive(Clone)]
pub(super) struct Sessions(Arc<Inner>);

struct Inner {
    local: LocalSessionManager,
    presence: Presence,
    permits: CallerPermits,
    /// Sessions of all callers.
    all: AllSessions,
    entries: Mutex<HashMap<SessionId, Session>>,
}

struct Session {
    used: Instant,
    /// Number of streams with a reader.
    readers: usize,
    /// Open requests, by the name in their event ids.
    open_requests: HashMap<String, OpenRequest>,
    /// Ids of open requests, and of requests that are being passed on.
    ids: HashSet<RequestId>,
    opening: Arc<Semaphore>,
    permit: SessionPermit,
}

impl Session {
    fn new(permit: SessionPermit) -> Session {
        let (open_requests, ids) = (HashMap::new(), HashSet::new());
        let opening = Arc::new(Semaphore::new(MAX_OPENING));
        Session { used: Instant::now(), readers: 0, open_requests, ids, opening, permit }
    }

    /// Registers a request before it is passed on.
    fn register(&mut self, request: &RequestId) -> Result<(), SessionsError> {
        self.used = Instant::now();
        if matches!(request, RequestId::String(text) if text.len() > MAX_ID) {
            return Err(SessionsError::LongId);
        }
        // Only one of two requests with the same id could be answered; the other would leak until the session ends.
        if self.ids.contains(request) {
            return Err(SessionsError::Twice);
        }
        if self.ids.len() >= MAX_OPEN_REQUESTS {
            return Err(SessionsError::Busy);
        }
        self.ids.insert(request.clone());
        Ok(())
    }

    /// Returns true if it has neither a reader nor an open request.
    fn is_idle(&self) -> bool {
        self.readers == 0 && self.ids.is_empty()
    }

    /// Removes a request that was answered or cancelled.
    fn end(&mut self, name: &str) -> Option<RequestId> {
        let id = self.open_requests.remove(name)?.id;
        self.ids.remove(&id);
        Some(id)
    }
}

struct OpenRequest {
    id: RequestId,
    readers: usize,
    /// Time at which the last reader left.
    left: Instant,
}

impl OpenRequest {
    fn new(id: RequestId) -> OpenRequest {
        OpenRequest { id, readers: 0, left: Instant::now() }
    }

    /// Returns true if no reader came back in time. Each reader that leaves restarts the time.
    fn is_given_up(&self) -> bool {
        self.readers == 0 && self.left.elapsed() >= GONE_AFTER
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error("too many sessions: close one of them first")]
    Full,
    #[error("duplicate request id: a request with this id is in progress")]
    Twice,
    #[error("request id too long: at most {MAX_ID} bytes")]
    LongId,
    #[error("too many open requests in this session: wait for one of them to end")]
    Busy,
    #[error("the session is closed")]
    Over,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(super) fn new(all: &AllSessions, presence: Presence) -> Sessions {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(IDLE_TIMEOUT);
        config.sse_retry = Some(RETRY);
        // The result of a cancelled request is cached as long as its client may come back for it.
        config.completed_cache_ttl = GONE_AFTER;
        let mut local = LocalSessionManager::default();
        local.session_config = config;
        let (permits, entries) = (CallerPermits::new(), Mutex::default());
        let sessions = Sessions(Arc::new(Inner { local, presence, permits, all: all.clone(), entries }));
        all.add(&sessions);
        sessions
    }

    /// Closes all sessions.
    pub(super) async fn close_all(&self) {
        let all: Vec<SessionId> = self.entries().keys().cloned().collect();
        for id in all {
            let _is_gone_anyway = self.close_session(&id).await;
        }
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.0.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a reader of a session's stream, and of a request's if it is one.
    fn reader(&self, id: &SessionId, request: Option<String>) -> Reader {
        if let Some(session) = self.entries().get_mut(id) {
            session.readers += 1;
            let open_request = request.as_ref().and_then(|name| session.open_requests.get_mut(name));
            open_request.into_iter().for_each(|open_request| open_request.readers += 1);
        }
        Reader { sessions: self.clone(), id: id.clone(), request, is_done: false }
    }

    /// Deregisters a reader. Only the last one's `is_done` counts: a stream that is replaced by a resumed one also
    /// ends.
    fn reader_left(&self, id: &SessionId, request: Option<&str>, is_done: bool) {
        let mut entries = self.entries();
        let Some(session) = entries.get_mut(id) else { return };
        session.readers = session.readers.saturating_sub(1);
        session.used = Instant::now();
        let Some(name) = request else { return };
        let Some(open_request) = session.open_requests.get_mut(name) else { return };
        open_request.readers = open_request.readers.saturating_sub(1);
        if open_request.readers > 0 {
            return;
        }
        if is_done {
            session.end(name);
            return;
        }
        open_request.left = Instant::now();
        // Without a runtime the server is shutting down.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (sessions, id, name) = (self.clone(), id.clone(), name.to_owned());
            runtime.spawn(async move {
                tokio::time::sleep(GONE_AFTER).await;
                sessions.cancel_unread(&id, &name).await;
            });
        }
    }

    /// Passes a request on and returns the stream of its response.
    async fn open(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<TrackedStream, SessionsError> {
        let request = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        if let (Some(request), Some(session)) = (&request, self.entries().get_mut(id)) {
            session.register(request)?;
        }
        let opened = match self.0.local.create_stream(id, message).await {
            Ok(messages) => {
                let mut messages = Box::pin(messages);
                // The first event comes at once: its id lets the client resume, and holds the name of the request.
                let first = messages.next().await;
                let name = first.as_ref().and_then(|first| request_of(first.event_id.as_deref()?)).map(str::to_owned);
                Ok((first, messages, name))
            }
            Err(error) => Err(error),
        };
        if let (Some(request), Some(session)) = (request, self.entries().get_mut(id)) {
            match &opened {
                Ok((_, _, Some(name))) => {
                    session.open_requests.insert(name.clone(), OpenRequest::new(request));
                }
                _ => {
                    session.ids.remove(&request);
                }
            }
        }
        let (first, messages, name) = opened?;
        Ok(TrackedStream::new(stream::iter(first).chain(messages), self.reader(id, name)))
    }

    /// Cancels a request whose client did not reconnect.
    async fn cancel_unread(&self, id: &SessionId, name: &str) {
        let request = {
            let mut entries = self.entries();
            let Some(session) = entries.get_mut(id) else { return };
            match session.open_requests.get(name) {
                Some(open_request) if open_request.is_given_up() => session.end(name),
                _ => None,
            }
        };
        if let Some(request) = request {
            let param = CancelledNotificationParam::new(Some(request), Some("the client disconnected".to_owned()));
            let cancelled = ClientNotification::CancelledNotification(CancelledNotification::new(param));
            let message = ClientJsonRpcMessage::notification(cancelled);
            // A closed session has no requests.
            let _is_over = self.0.local.accept_message(id, message).await;
        }
    }
}

/// Reader of a stream, deregistered on drop.
pub(super) struct Reader {
    sessions: Sessions,
    id: SessionId,
    request: Option<String>,
    /// True once the stream has ended.
    pub(super) is_done: bool,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.sessions.reader_left(&self.id, self.request.as_deref(), self.is_done);
    }
}

/// Returns the request name in an event id, if the event belongs to a request.
fn request_of(event_id: &str) -> Option<&str> {
    event_id.split_once('/').map(|(_, request)| request)
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        let permit = self.acquire_permit().await?;
        let (id, transport) = self.0.local.create_session().await?;
        self.entries().insert(id.clone(), Session::new(permit));
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        Ok(self.0.local.initialize_session(id, message).await?)
    }

    /// Goes on with a session of another host.
    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<Self::Transport>, SessionsError> {
        let permit = self.acquire_permit().await?;
        let restored = self.0.local.restore_session(id.clone()).await?;
        if matches!(restored, RestoreOutcome::Restored(_)) {
            self.entries().insert(id, Session::new(permit));
        }
        Ok(restored)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        Ok(self.0.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        // The permit is released only after the session is closed.
        let _session = self.entries().remove(id);
        Ok(self.0.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        let opening = self.entries().get(id).map(|session| session.opening.clone()).ok_or(SessionsError::Over)?;
        // The semaphore is never closed.
        let turn = opening.acquire_owned().await.map_err(|_| SessionsError::Over)?;
        let (sessions, id) = (self.clone(), id.clone());
        // This future is dropped with its connection, so a task completes the work: an unused reader is dropped like
        // any other, and the request is cancelled.
        let opened = tokio::spawn(async move {
            let _turn = turn;
            sessions.open(&id, message).await
        });
        opened.await.unwrap_or(Err(SessionsError::Over))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), SessionsError> {
        if let Some(session) = self.entries().get_mut(id) {
            session.used = Instant::now();
        }
        Ok(self.0.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        let reader = self.reader(id, None);
        Ok(TrackedStream::new(self.0.local.create_standalone_stream(id).await?, reader))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        // Register before the previous reader sees the end of its stream.
        let reader = self.reader(id, request_of(&last_event_id).map(str::to_owned));
        Ok(TrackedStream::new(self.0.local.resume(id, last_event_id).await?, reader))
    }
}

#[cfg(test)]
mod tests;
