//! One session with a server: requests with deadlines, cancelled when their future is dropped.

use crate::context::Context;
use crate::error::{CallError, ConnectError};
use crate::explanation::explain;
use crate::handler::{Handler, ProgressSink, Shared};
use crate::settings::ServerSettings;
use crate::transport::{Diagnosis, MALFORMED, TOO_LARGE, failure};
use agent_spaces_types::json_memory;
use rmcp::model::*;
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Size limit for `data` of a JSON-RPC error: scripts branch on it, and it ends up in a script's memory.
const MAX_ERROR_DATA: u64 = 64 << 10;

/// Timeout for sending the cancellation of a call.
const CANCEL: Duration = Duration::from_secs(5);

/// The same, while the session is being closed.
const LAST_CANCEL: Duration = Duration::from_secs(1);

/// An open session with a server.
pub struct Connection {
    pub(crate) settings: Arc<ServerSettings>,
    pub(crate) context: Context,
    pub(crate) shared: Arc<Shared>,
    pub(crate) handler: Handler,
    peer: Peer<RoleClient>,
    service: Mutex<Option<RunningService<RoleClient, Handler>>>,
    /// Cancellations that are being sent.
    cancelling: std::sync::Mutex<JoinSet<()>>,
    diagnosis: Option<Diagnosis>,
    opened: Instant,
}

/// Deadline of a request.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    /// Longest time without a response or progress.
    pub(crate) silence: Duration,
    /// Longest total time, if progress extends the deadline.
    pub(crate) total: Option<Duration>,
}

impl Deadline {
    /// Returns the deadline that is left after `elapsed`.
    pub(crate) fn after(self, elapsed: Duration) -> Deadline {
        let left = |time: Duration| time.saturating_sub(elapsed);
        // If progress extends the deadline, only the total shrinks.
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

    /// Returns what the server said about itself in the handshake.
    pub(crate) fn info(&self) -> Option<Arc<ServerPeerInfo>> {
        self.peer.peer_info()
    }

    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    /// Returns true if the connection can send no more requests.
    pub fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// Returns how long the session has been open.
    pub(crate) fn age(&self) -> Duration {
        self.opened.elapsed()
    }

    /// Closes the session and ends its processes.
    pub async fn close(&self) {
        let service = self.service.lock().await.take();
        if let Some(mut service) = service {
            // A run that ends cancels its calls, and may close the session right after.
            let mut cancelling = std::mem::take(&mut *self.cancelling.lock().unwrap_or_else(PoisonError::into_inner));
            let told = async { while cancelling.join_next().await.is_some() {} };
            let _ = tokio::time::timeout(LAST_CANCEL, told).await;
            // The transport limits how long closing takes.
            let _ = service.close().await;
            self.context.trace.line(&self.settings.name, || "closed".into());
        }
    }

    /// Sends a request and waits for its response. Dropping the future cancels the request on the server.
    pub(crate) async fn request(
        &self,
        request: ClientRequest,
        deadline: Deadline,
        progress: Option<ProgressSink>,
    ) -> Result<ServerResult, CallError> {
        let begun = Instant::now();
        let silence = |from: Instant| from + deadline.silence;
        // Sending blocks too if the server does not read.
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
                    // The server is up and has not processed the call.
                    (_, Some(429)) => CallError::RateLimited,
                    (error, Some(503)) => CallError::Unavailable(error),
                    // Some servers use one of these for a session they have forgotten.
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
        CallError::Lost(
            ended.map_or_else(|| "connection closed".into(), |status| format!("its process exited ({status})")),
        )
    }
}

/// Request in progress on the server.
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
        self.connection.context.trace.line(&server, || format!("cancelled {id}: the caller no longer waits for it"));
        let params =
            CancelledNotificationParam::new(Some(id), Some("the caller no longer waits for the result".into()));
        // Without a runtime the connection is gone too.
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
