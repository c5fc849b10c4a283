//! Opening a session: the transport, then the handshake of the protocol generation that the server speaks.

use crate::auth;
use crate::connection::Connection;
use crate::context::Context;
use crate::error::ConnectError;
use crate::explanation::explain;
use crate::handler::{Handler, Shared};
use crate::late_discover::{AnsweredLate, LateDiscover};
use crate::notifications::Notifications;
use crate::settings::{Auth, BearerSource, Endpoint, Protocol, RemoteEndpoint, ServerSettings};
use crate::throttle::Throttled;
use crate::transport::{Diagnosis, HttpClient, StdioTransport, failure, http, sse, websocket};
use agent_spaces_process::ProcessSpec;
use agent_spaces_secrets::Secret;
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::Transport;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;

type Service = RunningService<RoleClient, Handler>;

impl Connection {
    /// Opens a session with a server.
    pub async fn open(settings: ServerSettings, context: &Context) -> Result<Connection, ConnectError> {
        let after = settings.connect_timeout;
        let settings = Arc::new(settings);
        let opening = Opening {
            settings: settings.clone(),
            context,
            shared: Arc::default(),
            bearer: OnceCell::new(),
            diagnosis: Mutex::default(),
            answered_late: AnsweredLate::default(),
        };
        opening.trace();
        let opened = tokio::time::timeout(after, opening.open_with_warning()).await;
        let diagnosis = opening.diagnosis();
        let service = opened.unwrap_or_else(|_| {
            let unknown = ConnectError::Timeout { after, stderr: String::new() };
            Err(diagnosis.as_ref().map_or(unknown, |diagnosis| diagnosis.timeout(after)))
        })?;
        let shared = opening.shared;
        let connection = Connection::new(settings, context.clone(), shared, service, diagnosis);
        connection.context.trace.line(&connection.settings.name, || {
            let identity = connection.identity();
            let name = identity.name.unwrap_or_else(|| "unnamed server".into());
            format!("connected: {name} {}, MCP {}", identity.version.unwrap_or_default(), identity.protocol)
        });
        Ok(connection)
    }
}

struct Opening<'a> {
    settings: Arc<ServerSettings>,
    context: &'a Context,
    shared: Arc<Shared>,
    /// Cached bearer token: a token command may prompt a person, so it runs only once.
    bearer: OnceCell<Secret>,
    /// Diagnosis of the process started last.
    diagnosis: Mutex<Option<Diagnosis>>,
    /// True if the server answered `server/discover` after its timeout.
    answered_late: AnsweredLate,
}

/// Connecting for longer than this logs a warning: there is no other sign of progress.
const SLOW: Duration = Duration::from_secs(10);

/// Timeout of the SDK for `server/discover`, after which it tries `initialize` in the same session.
const DISCOVERY: Duration = Duration::from_secs(10);

/// Failure of the HTTP transport, with the status if there was a response.
struct Refusal {
    error: ConnectError,
    status: Option<u16>,
}

impl From<ConnectError> for Refusal {
    fn from(error: ConnectError) -> Refusal {
        Refusal { error, status: None }
    }
}

impl Opening<'_> {
    fn trace(&self) {
        self.context.trace.line(&self.settings.name, || match &self.settings.endpoint {
            Endpoint::Stdio(endpoint) => {
                let words = endpoint.args.iter().map(Secret::expose);
                format!("starts {} {}", endpoint.program, words.collect::<Vec<_>>().join(" "))
            }
            Endpoint::Http(endpoint) | Endpoint::Sse(endpoint) | Endpoint::WebSocket(endpoint) => {
                format!("connects to {}", endpoint.url.expose())
            }
        });
    }

    fn diagnosis(&self) -> Option<Diagnosis> {
        self.diagnosis.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens a session; warns if that is slow.
    async fn open_with_warning(&self) -> Result<Service, ConnectError> {
        let opening = self.open();
        tokio::pin!(opening);
        if let Ok(opened) = tokio::time::timeout(SLOW, &mut opening).await {
            return opened;
        }
        let [slow, limit] = [SLOW, self.settings.connect_timeout].map(humantime::format_duration);
        let warning = match &self.settings.endpoint {
            Endpoint::Stdio(_) => {
                format!("still starting after {slow} (limit {limit}); a first start may have to download its package")
            }
            _ => format!("no response after {slow} (limit {limit})"),
        };
        self.context.warn(&self.settings.name, &warning);
        opening.await
    }

    /// Returns true if a process was started that has sent no message yet. Our requests wait in its input, so starting it
    /// again would only lose time.
    fn is_starting(&self) -> bool {
        self.diagnosis().is_some_and(|known| !known.has_sent_message() && known.exit_status().is_none())
    }

    /// Makes an attempt that is not the last one: it gets half of the connect timeout, and more if its process is still
    /// starting. Such a process has been sent both handshakes, so another start gains nothing.
    async fn attempt_in_share(&self, protocol: Protocol) -> Result<Service, ConnectError> {
        let after = self.settings.connect_timeout / 2;
        let attempt = self.attempt(protocol);
        tokio::pin!(attempt);
        match tokio::time::timeout(after, &mut attempt).await {
            Ok(opened) => opened,
            Err(_) if after >= DISCOVERY && self.is_starting() => attempt.await,
            Err(_) => Err(ConnectError::Timeout { after, stderr: String::new() }),
        }
    }

    async fn open(&self) -> Result<Service, ConnectError> {
        // A server may commit to the first protocol generation it sees, so each attempt starts a new process.
        let attempts: &[Protocol] = match (self.settings.protocol, self.settings.expected) {
            (Protocol::Auto, Protocol::Auto) => &[Protocol::Auto, Protocol::Session],
            (Protocol::Auto, Protocol::Session) => &[Protocol::Session, Protocol::Auto],
            (Protocol::Auto, Protocol::Stateless) => &[Protocol::Stateless, Protocol::Auto, Protocol::Session],
            (Protocol::Session, _) => &[Protocol::Session],
            (Protocol::Stateless, _) => &[Protocol::Stateless],
        };
        let mut last = None;
        let mut attempts: VecDeque<Protocol> = attempts.iter().copied().collect();
        while let Some(protocol) = attempts.pop_front() {
            let opened = match attempts.is_empty() {
                true => self.attempt(protocol).await,
                // An attempt that gets no response leaves time for the next one.
                false => self.attempt_in_share(protocol).await,
            };
            match opened {
                // These fail the same way in every protocol.
                Err(error @ (ConnectError::Start(_) | ConnectError::Unauthorized { .. })) => return Err(error),
                Err(error) => {
                    self.context.trace.line(&self.settings.name, || format!("as {protocol:?}: {error}"));
                    last = Some(error);
                    if self.answered_late.swap(false, Ordering::Relaxed) {
                        attempts = VecDeque::from([Protocol::Stateless]);
                    }
                }
                Ok(service) => return Ok(service),
            }
        }
        Err(last.unwrap_or_else(|| ConnectError::Failed("no protocol to try".into())))
    }

    async fn attempt(&self, protocol: Protocol) -> Result<Service, ConnectError> {
        match &self.settings.endpoint {
            Endpoint::Stdio(endpoint) => self.stdio(endpoint, protocol).await,
            Endpoint::Http(endpoint) => match self.http(endpoint, protocol).await {
                // Servers from before 2025-03-26 accept no POST at this address.
                Err(Refusal { error, status: Some(400 | 404 | 405) }) if protocol != Protocol::Stateless => {
                    self.sse(endpoint).await.map_err(|_| error)
                }
                opened => opened.map_err(|refusal| refusal.error),
            },
            Endpoint::Sse(endpoint) => self.sse(endpoint).await,
            Endpoint::WebSocket(endpoint) => {
                let token = self.token(endpoint).await?;
                let transport = websocket::open(&self.settings, endpoint, token, self.context).await?;
                self.serve_explained(transport, protocol).await
            }
        }
    }

    async fn stdio(&self, endpoint: &ProcessSpec, protocol: Protocol) -> Result<Service, ConnectError> {
        let transport = StdioTransport::open(&self.settings, endpoint, self.context)?;
        let known = transport.diagnosis();
        *self.diagnosis.lock().unwrap_or_else(PoisonError::into_inner) = Some(known.clone());
        match self.serve(transport, protocol).await {
            Ok(service) => Ok(service),
            Err(error) => match known.ended() {
                Some(ended) => Err(ended),
                None => Err(self.explain(error).await),
            },
        }
    }

    async fn http(&self, endpoint: &RemoteEndpoint, protocol: Protocol) -> Result<Service, Refusal> {
        let client = HttpClient::new(&self.settings, endpoint, self.context)?;
        let bearer = match &endpoint.auth {
            Auth::Bearer(source) => Some(self.bearer(source).await?),
            Auth::None => None,
            Auth::OAuth | Auth::OAuthClient(_) => {
                if let Some(client) = auth::client(&self.settings, endpoint, client.clone(), self.context).await? {
                    let transport = http::open(&self.settings, endpoint, client, None)?;
                    return self.serve_http(transport, protocol).await;
                }
                None
            }
        };
        let transport = http::open(&self.settings, endpoint, client, bearer)?;
        self.serve_http(transport, protocol).await
    }

    async fn serve_http<T: Transport<RoleClient> + 'static>(
        &self,
        transport: T,
        protocol: Protocol,
    ) -> Result<Service, Refusal> {
        let served = self.serve(transport, protocol).await;
        match served {
            Ok(service) => Ok(service),
            Err(error) => {
                let status = failure::of_start(&error).and_then(failure::status);
                Err(Refusal { error: self.explain(error).await, status })
            }
        }
    }

    async fn sse(&self, endpoint: &RemoteEndpoint) -> Result<Service, ConnectError> {
        let token = self.token(endpoint).await?;
        let transport = sse::open(&self.settings, endpoint, token, self.context).await?;
        // This transport predates the stateless protocol.
        self.serve_explained(transport, Protocol::Session).await
    }

    async fn bearer(&self, source: &BearerSource) -> Result<Secret, ConnectError> {
        self.bearer.get_or_try_init(|| auth::bearer(source, self.context)).await.cloned()
    }

    /// Returns the access token for transports that authenticate only when they connect.
    async fn token(&self, endpoint: &RemoteEndpoint) -> Result<Option<Secret>, ConnectError> {
        match &endpoint.auth {
            Auth::None => Ok(None),
            Auth::Bearer(source) => self.bearer(source).await.map(Some),
            Auth::OAuth | Auth::OAuthClient(_) => auth::access_token(&self.settings, endpoint, self.context).await,
        }
    }

    async fn serve_explained<T: Transport<RoleClient> + 'static>(
        &self,
        transport: T,
        protocol: Protocol,
    ) -> Result<Service, ConnectError> {
        match self.serve(transport, protocol).await {
            Ok(service) => Ok(service),
            Err(error) => Err(self.explain(error).await),
        }
    }

    async fn serve<T: Transport<RoleClient> + 'static>(
        &self,
        transport: T,
        protocol: Protocol,
    ) -> Result<Service, ClientInitializeError> {
        let handler =
            Handler { settings: self.settings.clone(), context: self.context.clone(), shared: self.shared.clone() };
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        let mode = match protocol {
            Protocol::Session => ClientLifecycleMode::Initialize,
            Protocol::Stateless => ClientLifecycleMode::Discover { preferred_versions },
            Protocol::Auto => ClientLifecycleMode::Auto {
                preferred_versions,
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
        };
        let transport = LateDiscover::new(Throttled::new(transport), self.answered_late.clone());
        let transport = Notifications::new(transport, handler.clone());
        serve_client_with_lifecycle(handler, transport, mode).await
    }

    async fn explain(&self, error: ClientInitializeError) -> ConnectError {
        let text = |text: String| crate::trace::one_line(&self.context.redactor.text(&text));
        if let Some(error) = failure::of_start(&error) {
            return explain(error, &self.settings, self.context).await;
        }
        match error {
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => Box::pin(self.explain(*fallback)).await,
            ClientInitializeError::JsonRpcError(error) => {
                ConnectError::Failed(text(format!("it refused the handshake: {}", error.message)))
            }
            ClientInitializeError::ConnectionClosed(_) => {
                ConnectError::Failed("it closed the connection before it answered".into())
            }
            ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
                ConnectError::Failed("invalid response to the handshake".into())
            }
            other => ConnectError::Failed(text(other.to_string())),
        }
    }
}
