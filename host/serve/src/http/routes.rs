//! Paths of MCP, and an HTTP server that has no others.

use super::channel_session::SessionStarter;
use super::presence::Presence;
use super::responses::method_not_allowed;
use super::sessions::{AllSessions, Sessions};
use super::sse::SseSessions;
use super::streamable::Streamable;
use super::{PATH, SSE_MESSAGE_PATH, SSE_PATH, WEBSOCKET_PATH, sse, websocket};
use crate::mode::Mode;
use agent_spaces_http_server::{
    Access, Authenticated, Callers, Client, Handling, HttpResponse, InFlight, OriginCheck, Refusal, Routes, Settings,
    Stopping, serve, text_response,
};
use agent_spaces_journal::Store;
use agent_spaces_project::mcp::McpClients;
use http::{Method, Request, StatusCode};
use hyper::body::Incoming;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Minimum interval between checks for callers that are gone.
const MIN_REAP_INTERVAL: Duration = Duration::from_millis(100);

/// MCP at [`PATH`] and at the paths of older transports.
pub struct McpRoutes {
    /// In the order of the callers.
    services: Vec<Service>,
    mode: Mode,
    /// Requests in sessions that are one connection.
    requests: InFlight,
    /// Such sessions.
    running: InFlight,
    ending: CancellationToken,
}

/// One caller.
struct Service {
    client: Client,
    presence: Presence,
    sessions: Sessions,
    streamable: Streamable,
    starter: SessionStarter,
    sse: Arc<SseSessions>,
}

impl McpRoutes {
    /// Creates the routes. The server must have the same callers.
    pub fn new(mode: Mode, callers: &Callers) -> McpRoutes {
        McpRoutes::with_store(mode, callers, None)
    }

    /// As [`McpRoutes::new`]. Hosts that share the store go on with each other's sessions.
    pub fn with_store(mode: Mode, callers: &Callers, store: Option<Arc<dyn Store>>) -> McpRoutes {
        let (all_sessions, ending) = (AllSessions::new(), CancellationToken::new());
        let (requests, running) = (InFlight::default(), InFlight::default());
        let services = callers.clients().map(|client| {
            let presence = Presence::default();
            let sessions = Sessions::new(&all_sessions, presence.clone());
            let (own_mode, own_client) = (mode.clone(), client.clone());
            let streamable = Streamable::new(own_mode, own_client, sessions.clone(), ending.clone(), store.clone());
            let starter = SessionStarter {
                mode: mode.clone(),
                client: client.clone(),
                sessions: sessions.clone(),
                requests: requests.clone(),
                running: running.clone(),
                ending: ending.clone(),
            };
            Service { client: client.clone(), presence, sessions, streamable, starter, sse: Arc::default() }
        });
        let services = services.collect();
        McpRoutes { services, mode, requests, running, ending }
    }

    async fn answer(&self, request: Request<Incoming>, caller: Authenticated<'_>) -> HttpResponse {
        let Some(service) = self.services.get(caller.index) else { return self.refuse(&Refusal::Token) };
        let guard = service.presence.request().await;
        let (path, method) = (request.uri().path(), request.method());
        match path {
            PATH => service.streamable.handle(request, &service.presence, guard).await,
            SSE_PATH if method != Method::GET => method_not_allowed("GET"),
            SSE_PATH => sse::open(&service.sse, &service.starter, guard).await,
            SSE_MESSAGE_PATH if method != Method::POST => method_not_allowed("POST"),
            SSE_MESSAGE_PATH => sse::accept(&service.sse, request).await,
            WEBSOCKET_PATH if method != Method::GET => method_not_allowed("GET"),
            WEBSOCKET_PATH => websocket::open(&service.starter, request, (guard, caller.connection)).await,
            _ => self.refuse(&Refusal::NotFound),
        }
    }

    /// Ends the runs and MCP servers of callers that are gone: after half an hour without a request, or after `silence`
    /// if the caller has ended all its sessions. `elsewhere` returns the time of a caller's last activity in another part
    /// of the server, which holds up its end for half an hour. Never returns.
    pub async fn reap_gone_callers(
        &self,
        clients: &McpClients,
        silence: Duration,
        elsewhere: impl Fn(&Client) -> Option<Instant>,
    ) {
        loop {
            tokio::time::sleep((silence / 6).max(MIN_REAP_INTERVAL)).await;
            for Service { client, presence, .. } in &self.services {
                // A busy caller has had a request recently.
                if self.mode.is_busy(client) {
                    continue;
                }
                let Some(cleanup) = presence.expire(Instant::now(), silence, elsewhere(client)) else { continue };
                let (mode, clients, client) = (self.mode.clone(), clients.clone(), client.clone());
                // A slow shutdown of one caller's servers does not delay the others.
                tokio::spawn(async move {
                    let _cleanup = cleanup;
                    mode.end_all(&client).await;
                    clients.let_go(client.caller().name.as_deref());
                });
            }
        }
    }
}

impl Routes for McpRoutes {
    fn access(&self, _method: &Method, path: &str) -> Option<Access> {
        matches!(path, PATH | SSE_PATH | SSE_MESSAGE_PATH | WEBSOCKET_PATH).then_some(Access::Caller)
    }

    fn handle<'a>(&'a self, request: Request<Incoming>, caller: Option<Authenticated<'a>>) -> Handling<'a> {
        Box::pin(async move {
            match caller {
                Some(caller) => self.answer(request, caller).await,
                None => self.refuse(&Refusal::Token),
            }
        })
    }

    fn refuse(&self, refusal: &Refusal) -> HttpResponse {
        match refusal {
            Refusal::NotFound => text_response(StatusCode::NOT_FOUND, "Not found (the MCP endpoint is /mcp)"),
            other => other.text_response(),
        }
    }

    fn drained(&self) -> Stopping<'_> {
        Box::pin(self.requests.drained())
    }

    /// Ends the runs of all callers.
    fn stop(&self) -> Stopping<'_> {
        Box::pin(async {
            for service in &self.services {
                self.mode.end_all(&service.client).await;
            }
        })
    }

    fn close(&self) -> Stopping<'_> {
        Box::pin(async {
            self.ending.cancel();
            for service in &self.services {
                service.sessions.close_all().await;
            }
            self.running.drained().await;
        })
    }
}

/// Serves callers until `stop` completes, then shuts down gracefully within a few seconds. The MCP servers that
/// `clients` has open for a caller are closed after half an hour without a request, or after `silence` if the caller
/// has ended all its sessions.
pub async fn serve_http(
    listener: TcpListener,
    mode: Mode,
    clients: &McpClients,
    callers: Callers,
    origin_check: OriginCheck,
    silence: Duration,
    stop: impl Future<Output = ()>,
) {
    let routes = Arc::new(McpRoutes::new(mode, &callers));
    let stop = async {
        tokio::select! {
            () = stop => {}
            // Never ends by itself.
            () = routes.reap_gone_callers(clients, silence, |_| None) => {}
        }
    };
    let part: Arc<dyn Routes> = routes.clone();
    serve(listener, Settings::new(callers, origin_check), vec![part], stop).await;
}
