//! One session with a server: requests with deadlines, cancelled when nobody waits for them.

use crate::connect::explain;
use crate::context::Context;
use crate::error::{CallError, ConnectError};
use crate::handler::{Handler, ProgressSink, Shared};
use crate::settings::ServerSettings;
use crate::transport::{Diagnosis, MALFORMED, TOO_LARGE, failure};
use capability_gen::json_memory;
use rmcp::model::*;
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The largest `data` of a JSON-RPC error that is passed on: it is for programs to branch on, and ends up in a script's memory.
const MAX_ERROR_DATA: u64 = 64 << 10;

/// How long a server may take to hear that nobody waits for a call.
const CANCEL: Duration = Duration::from_secs(5);

/// The same, when the session is closed.
const LAST_CANCEL: Duration = Duration::from_secs(1);

/// An open session with a server.
pub struct Connection {
    pub(crate) settings: Arc<ServerSettings>,
    pub(crate) context: Context,
    pub(crate) shared: Arc<Shared>,
    pub(crate) handler: Handler,
    peer: Peer<RoleClient>,
    service: Mutex<Option<RunningService<RoleClient, Handler>>>,
    /// Calls that the server is being told of that nobody waits for them.
    cancelling: std::sync::Mutex<JoinSet<()>>,
    diagnosis: Option<Diagnosis>,
    opened: Instant,
}

/// How long a request may take.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    /// Without a sign of life.
    pub(crate) silence: Duration,
    /// In all, where progress extends it.
    pub(crate) total: Option<Duration>,
}

impl Deadline {
    /// What is left after some time.
    pub(crate) fn after(self, elapsed: Duration) -> Deadline {
        let left = |time: Duration| time.saturating_sub(elapsed);
        // With progress only the whole is bounded; silence begins anew.
        match self.total {
            Some(total) => Deadline { silence: self.silence.min(left(total)), total: Some(left(total)) },
            None => Deadline { silence: left(self.silence), total: None },
        }
    }
}

impl Connection {
    pub(crate) fn new(
        settings: Arc<ServerSettings>,
        context: Context,
        shared: Arc<Shared>,
        service: RunningService<RoleClient, Handler>,
        diagnosis: Option<Diagnosis>,
    ) -> Connection {
        let handler = Handler { settings: settings.clone(), context: context.clone(), shared: shared.clone() };
        let peer = service.peer().clone();
        let service = Mutex::new(Some(service));
        let (cancelling, opened) = (Default::default(), Instant::now());
        Connection { settings, context, shared, handler, peer, service, cancelling, diagnosis, opened }
    }

    /// What the server said of itself.
    pub(crate) fn info(&self) -> Option<Arc<ServerPeerInfo>> {
        self.peer.peer_info()
    }

    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    /// Whether nothing can be asked any more.
    pub fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// How long it has been open.
    pub(crate) fn age(&self) -> Duration {
        self.opened.elapsed()
    }

    /// Ends the session and whatever was started for it.
    pub async fn close(&self) {
        let service = self.service.lock().await.take();
        if let Some(mut service) = service {
            // A run that ends cancels its calls, and may close the session right after.
            let mut cancelling = std::mem::take(&mut *self.cancelling.lock().unwrap_or_else(PoisonError::into_inner));
            let told = async { while cancelling.join_next().await.is_some() {} };
            let _ = tokio::time::timeout(LAST_CANCEL, told).await;
            // The transport bounds its own closing.
            let _ = service.close().await;
            self.context.trace.line(&self.settings.name, || "closed".into());
        }
    }

    /// Sends a request and waits for its answer. Dropping this future cancels the request on the server.
    pub(crate) async fn request(
        &self,
        request: ClientRequest,
        deadline: Deadline,
        progress: Option<ProgressSink>,
    ) -> Result<ServerResult, CallError> {
        let begun = Instant::now();
        let silence = |from: Instant| from + deadline.silence;
        // A server that does not read holds up sending too.
        let sending = self.peer.send_request_with_option(request, PeerRequestOptions::no_options());
        let sent = tokio::time::timeout_at(silence(begun), sending).await;
        let sent = sent.map_err(|_| CallError::Timeout { after: deadline.silence })?;
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => return Err(self.failed(error).await),
        };

        let alive = Arc::new(Notify::new());
        let pending = Pending { connection: self, id: Some(handle.id.clone()), token: handle.progress_token.clone() };
        let told = alive.clone();
        self.shared.follow(
            handle.progress_token.clone(),
            Arc::new(move |progressed| {
                told.notify_one();
                if let Some(sink) = &progress {
                    sink(progressed);
                }
            }),
        );
        let mut until = silence(begun);
        loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    pending.answered();
                    return match answer {
                        Ok(Ok(result)) => Ok(result),
                        Ok(Err(error)) => Err(self.failed(error).await),
                        Err(_) => Err(self.lost()),
                    };
                }
                () = alive.notified(), if deadline.total.is_some() => {
                    let end = begun + deadline.total.unwrap_or(deadline.silence);
                    until = silence(Instant::now()).min(end);
                }
                () = tokio::time::sleep_until(until) => {
                    return Err(CallError::Timeout { after: begun.elapsed() });
                }
            }
        }
    }

    async fn failed(&self, error: ServiceError) -> CallError {
        let text = |text: &str| crate::trace::one_line(&self.context.redactor.text(text));
        match error {
            ServiceError::McpError(error) if error.code.0 == TOO_LARGE => {
                CallError::TooLarge { limit: self.settings.max_message }
            }
            ServiceError::McpError(error) if error.code.0 == MALFORMED => CallError::Malformed(text(&error.message)),
            ServiceError::McpError(error) => {
                let mut data = error
                    .data
                    .filter(|data| !data.is_null() && json_memory::size(data, MAX_ERROR_DATA) < MAX_ERROR_DATA);
                if let Some(data) = &mut data {
                    self.context.redactor.value(data);
                }
                CallError::Protocol { code: error.code.0.into(), message: text(&error.message), data }
            }
            ServiceError::TransportSend(error) => {
                let explained = explain(&error, &self.settings, &self.context).await;
                match (explained, failure::status(&error)) {
                    (error @ ConnectError::Unauthorized { .. }, _) => CallError::Unavailable(error),
                    (_, Some(404)) if failure::is_expired(&error) => CallError::Expired,
                    // It is there, and has not looked at the call.
                    (_, Some(429)) => CallError::RateLimited,
                    (error, Some(503)) => CallError::Unavailable(error),
                    // Some servers forget a session with one of these.
                    (error, None | Some(400 | 404 | 410)) => CallError::Lost(error.to_string()),
                    (error, Some(status)) => {
                        CallError::Protocol { code: status.into(), message: text(&error.to_string()), data: None }
                    }
                }
            }
            ServiceError::TransportClosed => self.lost(),
            other => CallError::Malformed(text(&other.to_string())),
        }
    }

    fn lost(&self) -> CallError {
        let ended = self.diagnosis.as_ref().and_then(Diagnosis::exit_status);
        CallError::Lost(ended.map_or_else(|| "it was closed".into(), |status| format!("its process ended ({status})")))
    }
}

/// A request that the server is working on.
struct Pending<'a> {
    connection: &'a Connection,
    id: Option<RequestId>,
    token: ProgressToken,
}

impl Pending<'_> {
    fn answered(mut self) {
        self.id = None;
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.connection.shared.forget(&self.token);
        let Some(id) = self.id.take() else { return };
        let peer = self.connection.peer.clone();
        let server = self.connection.settings.name.clone();
        self.connection.context.trace.line(&server, || format!("cancelled {id}: nobody waits for it"));
        let params = CancelledNotificationParam::new(Some(id), Some("nobody waits for the answer".into()));
        // Without a runtime there is no connection either.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let mut cancelling = self.connection.cancelling.lock().unwrap_or_else(PoisonError::into_inner);
            while cancelling.try_join_next().is_some() {}
            let told = async move {
                let _ = tokio::time::timeout(CANCEL, peer.notify_cancelled(params)).await;
            };
            cancelling.spawn_on(told, &runtime);
        }
    }
}
