//! The sessions of one caller. Nobody else's requests come here.

use super::presence::{Connected, Presence};
use super::watched::Watched;
use futures_util::{Stream, StreamExt, stream};
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::common::server_side_http::{ServerSseMessage, SessionId};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionConfig,
};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most sessions of one caller, and of all. Where there are so many, the one of the caller that nobody has used for the
/// longest makes room: a client that crashed never said goodbye.
const MAX_OF_CALLER: usize = 32;
pub(super) const MAX_OF_ALL: usize = 512;

/// How long a session that nobody uses lives. People leave their agents for a long lunch, and most clients cannot begin
/// again by themselves.
const IDLE: Duration = Duration::from_secs(12 * 60 * 60);

/// When a client that lost a stream should come back for the rest, and when it counts as gone, which cancels its request.
pub(super) const RETRY: Duration = Duration::from_millis(500);
const GONE: Duration = Duration::from_millis(2_500);

/// Most requests of a session that are not answered, and the longest id of one. Both are kept as long as the request.
const MAX_UNDERWAY: usize = 256;
const MAX_ID: usize = 1 << 10;

/// How many requests of a session are passed on at one time: each is kept until it is, whether its client waits or not.
const MAX_OPENING: usize = 4;

/// The sessions of one caller; clones are one.
#[derive(Clone)]
pub(super) struct Sessions(Arc<Inner>);

struct Inner {
    local: LocalSessionManager,
    presence: Presence,
    own_places: Arc<Semaphore>,
    /// Of all callers.
    places: Arc<Semaphore>,
    book: Mutex<HashMap<SessionId, Session>>,
}

struct Session {
    used: Instant,
    /// Streams that somebody reads.
    readers: usize,
    /// Requests that are not answered, by the name that their events have.
    underway: HashMap<String, Underway>,
    /// The ids of those, and of requests that are about to be.
    ids: HashSet<RequestId>,
    opening: Arc<Semaphore>,
    place: Place,
}

impl Session {
    fn new(place: Place) -> Session {
        let (underway, ids) = (HashMap::new(), HashSet::new());
        let opening = Arc::new(Semaphore::new(MAX_OPENING));
        Session { used: Instant::now(), readers: 0, underway, ids, opening, place }
    }

    /// A request is about to be passed on.
    fn expect(&mut self, request: &RequestId) -> Result<(), SessionsError> {
        self.used = Instant::now();
        if matches!(request, RequestId::String(text) if text.len() > MAX_ID) {
            return Err(SessionsError::LongId);
        }
        // Only one of two could be answered; what is kept of the other would stay as long as the session.
        if self.ids.contains(request) {
            return Err(SessionsError::Twice);
        }
        if self.ids.len() >= MAX_UNDERWAY {
            return Err(SessionsError::Busy);
        }
        self.ids.insert(request.clone());
        Ok(())
    }

    /// Takes a request out that was answered or given up.
    fn end(&mut self, name: &str) -> Option<RequestId> {
        let id = self.underway.remove(name)?.id;
        self.ids.remove(&id);
        Some(id)
    }
}

/// A place among the caller's, and among those of all. Held from before the session is made until it is gone.
struct Place {
    _own: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
    _present: Connected,
}

struct Underway {
    id: RequestId,
    readers: usize,
    /// When the last reader left.
    left: Instant,
}

impl Underway {
    fn new(id: RequestId) -> Underway {
        Underway { id, readers: 0, left: Instant::now() }
    }

    /// Whether nobody came back for it. Who did and left again has their time anew.
    fn is_given_up(&self) -> bool {
        self.readers == 0 && self.left.elapsed() >= GONE
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error("there are too many sessions: end one of them first")]
    Full,
    #[error("a request of this id is under way already")]
    Twice,
    #[error("an id of a request has at most {MAX_ID} bytes")]
    LongId,
    #[error("there are too many requests under way in this session: wait for one of them first")]
    Busy,
    #[error("the session is over")]
    Over,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(super) fn new(places: Arc<Semaphore>, presence: Presence) -> Sessions {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(IDLE);
        config.sse_retry = Some(RETRY);
        // What was said of a request that was cancelled is kept as long as its client may come back for it.
        config.completed_cache_ttl = GONE;
        let mut local = LocalSessionManager::default();
        local.session_config = config;
        let own_places = Arc::new(Semaphore::new(MAX_OF_CALLER));
        Sessions(Arc::new(Inner { local, presence, own_places, places, book: Mutex::default() }))
    }

    /// Ends all of them.
    pub(super) async fn close_all(&self) {
        let all: Vec<SessionId> = self.book().keys().cloned().collect();
        for id in all {
            let _is_gone_anyway = self.close_session(&id).await;
        }
    }

    fn book(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.0.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more: a free one, or that of the session that nobody has used for the longest, which ends.
    async fn place(&self) -> Result<Place, SessionsError> {
        let free = |places: &Arc<Semaphore>| places.clone().try_acquire_owned().ok();
        if let (Some(_own), Some(_of_all)) = (free(&self.0.own_places), free(&self.0.places)) {
            return Ok(Place { _own, _of_all, _present: self.0.presence.session() });
        }
        let unused = {
            let mut book = self.book();
            let idle = book.iter().filter(|(_, session)| session.readers == 0 && session.ids.is_empty());
            let oldest = idle.min_by_key(|(_, session)| session.used).map(|(id, _)| id.clone());
            oldest.and_then(|id| book.remove_entry(&id))
        };
        let (id, session) = unused.ok_or(SessionsError::Full)?;
        self.0.local.close_session(&id).await?;
        Ok(session.place)
    }

    /// Somebody who is about to read a stream of a session, and of one request where it is one's.
    fn reader(&self, id: &SessionId, request: Option<String>) -> Reader {
        if let Some(session) = self.book().get_mut(id) {
            session.readers += 1;
            let underway = request.as_ref().and_then(|name| session.underway.get_mut(name));
            underway.into_iter().for_each(|underway| underway.readers += 1);
        }
        Reader { sessions: self.clone(), id: id.clone(), request, is_done: false }
    }

    /// A reader is gone. Whether the stream was over counts with the last one alone: one that another takes the place of
    /// is over too.
    fn left(&self, id: &SessionId, request: Option<&str>, is_done: bool) {
        let mut book = self.book();
        let Some(session) = book.get_mut(id) else { return };
        session.readers = session.readers.saturating_sub(1);
        session.used = Instant::now();
        let Some(name) = request else { return };
        let Some(underway) = session.underway.get_mut(name) else { return };
        underway.readers = underway.readers.saturating_sub(1);
        if underway.readers > 0 {
            return;
        }
        if is_done {
            session.end(name);
            return;
        }
        underway.left = Instant::now();
        // Without a runtime everything is over anyway.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (sessions, id, name) = (self.clone(), id.clone(), name.to_owned());
            runtime.spawn(async move {
                tokio::time::sleep(GONE).await;
                sessions.cancel_unread(&id, &name).await;
            });
        }
    }

    /// Passes a request on, and gives the stream of its answer.
    async fn open(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<Watched, SessionsError> {
        let request = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        if let (Some(request), Some(session)) = (&request, self.book().get_mut(id)) {
            session.expect(request)?;
        }
        let opened = match self.0.local.create_stream(id, message).await {
            Ok(messages) => {
                let mut messages = Box::pin(messages);
                // The first is there at once: it tells the client how to come back, and us how the request is called.
                let first = messages.next().await;
                let name = first.as_ref().and_then(|first| request_of(first.event_id.as_deref()?)).map(str::to_owned);
                Ok((first, messages, name))
            }
            Err(error) => Err(error),
        };
        if let (Some(request), Some(session)) = (request, self.book().get_mut(id)) {
            match &opened {
                Ok((_, _, Some(name))) => {
                    session.underway.insert(name.clone(), Underway::new(request));
                }
                _ => {
                    session.ids.remove(&request);
                }
            }
        }
        let (first, messages, name) = opened?;
        Ok(Watched::new(stream::iter(first).chain(messages), self.reader(id, name)))
    }

    /// Cancels a request whose client did not come back.
    async fn cancel_unread(&self, id: &SessionId, name: &str) {
        let request = {
            let mut book = self.book();
            let Some(session) = book.get_mut(id) else { return };
            match session.underway.get(name) {
                Some(underway) if underway.is_given_up() => session.end(name),
                _ => None,
            }
        };
        if let Some(request) = request {
            let param = CancelledNotificationParam::new(Some(request), Some("the client went away".to_owned()));
            let cancelled = ClientNotification::CancelledNotification(CancelledNotification::new(param));
            let message = ClientJsonRpcMessage::notification(cancelled);
            // A session that is over has no requests.
            let _is_over = self.0.local.accept_message(id, message).await;
        }
    }
}

/// Somebody who reads a stream, until this is dropped.
pub(super) struct Reader {
    sessions: Sessions,
    id: SessionId,
    request: Option<String>,
    /// Whether the stream came to its end.
    pub(super) is_done: bool,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.sessions.left(&self.id, self.request.as_deref(), self.is_done);
    }
}

/// The name of the request that an event belongs to; those of no request have none.
fn request_of(event_id: &str) -> Option<&str> {
    event_id.split_once('/').map(|(_, request)| request)
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        let place = self.place().await?;
        let (id, transport) = self.0.local.create_session().await?;
        self.book().insert(id.clone(), Session::new(place));
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        Ok(self.0.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        Ok(self.0.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        // Its place is nobody else's before it is gone.
        let _session = self.book().remove(id);
        Ok(self.0.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        let opening = self.book().get(id).map(|session| session.opening.clone()).ok_or(SessionsError::Over)?;
        // Nobody closes it.
        let turn = opening.acquire_owned().await.map_err(|_| SessionsError::Over)?;
        let (sessions, id) = (self.clone(), id.clone());
        // Who waits for this is dropped with their connection. What was begun is seen to its end all the same: a reader
        // that nobody takes leaves as any other, and the request is given up.
        let opened = tokio::spawn(async move {
            let _turn = turn;
            sessions.open(&id, message).await
        });
        opened.await.unwrap_or(Err(SessionsError::Over))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), SessionsError> {
        if let Some(session) = self.book().get_mut(id) {
            session.used = Instant::now();
        }
        Ok(self.0.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        let reader = self.reader(id, None);
        Ok(Watched::new(self.0.local.create_standalone_stream(id).await?, reader))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        // Before whoever read it until now sees that their stream is over.
        let reader = self.reader(id, request_of(&last_event_id).map(str::to_owned));
        Ok(Watched::new(self.0.local.resume(id, last_event_id).await?, reader))
    }
}

#[cfg(test)]
mod tests;
