//! Accept loop, connection tasks and graceful shutdown.

use crate::callers::Callers;
use crate::connections::Limits;
use crate::origin_check::OriginCheck;
use crate::peer::Peer;
use crate::routes::Routes;
use crate::server::Server;
use crate::sessions::Sessions;
use crate::stop_notice::StopNotice;
use crate::write_timeout::WriteTimeout;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Timeout of a request head, which is also the idle timeout of a connection; buffer size while it is read; number of
/// headers. Until a token is sent, the shorter timeout in `connections` applies.
const HEAD_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_BUFFER: usize = 128 << 10;
const MAX_HEADERS: usize = 100;

/// Write timeout: time a peer may stop reading before its connection is closed.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// At shutdown, default time for requests in flight to complete: people who stop a server wait for it.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Time of each later phase of the shutdown.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// Pause after a failed `accept`.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Callers and their tokens.
    pub callers: Callers,
    /// Sessions of these callers in browsers; without them, cookies mean nothing.
    pub sessions: Option<Sessions>,
    /// Allowed `Host` and `Origin` headers.
    pub origin_check: OriginCheck,
    /// Limits on connections.
    pub limits: Limits,
    /// At shutdown, time for requests in flight to complete.
    pub drain_timeout: Duration,
    /// Notice of the shutdown. Who stops the server gives it before `stop` of [`serve`] completes.
    pub stop_notice: StopNotice,
}

impl Settings {
    /// Settings with the default limits.
    pub fn new(callers: Callers, origin_check: OriginCheck) -> Settings {
        Settings {
            callers,
            sessions: None,
            origin_check,
            limits: Limits::default(),
            drain_timeout: DRAIN_TIMEOUT,
            stop_notice: StopNotice::default(),
        }
    }
}

/// Serves callers until `stop` completes, then shuts down gracefully: requests in flight have the drain timeout to
/// complete, the rest takes a few seconds. A path belongs to the first of `parts` that has it.
pub async fn serve(
    listener: TcpListener,
    settings: Settings,
    parts: Vec<Arc<dyn Routes>>,
    stop: impl Future<Output = ()>,
) {
    let Settings { callers, sessions, origin_check, limits, drain_timeout, stop_notice } = settings;
    let server = Arc::new(Server::new((callers, sessions), origin_check, limits, parts, stop_notice.clone()));
    let closing = CancellationToken::new();
    let mut connections = JoinSet::new();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            Some(_) = connections.join_next() => {}
            (stream, address) = accept(&listener) => {
                connections.spawn(connection(stream, address, server.clone(), closing.clone()));
            }
        }
    }
    drop(listener);
    stop_notice.give_now();
    closing.cancel();
    if tokio::time::timeout(drain_timeout, server.drained()).await.is_err() {
        let _late_is_too_late = tokio::time::timeout(STOP_TIMEOUT, server.stop()).await;
        let _late_is_too_late = tokio::time::timeout(STOP_TIMEOUT, server.drained()).await;
    }
    let _late_is_too_late = tokio::time::timeout(STOP_TIMEOUT, server.stop()).await;
    let _late_is_too_late = tokio::time::timeout(STOP_TIMEOUT, server.close()).await;
    let all = async { while connections.join_next().await.is_some() {} };
    let _late_is_too_late = tokio::time::timeout(STOP_TIMEOUT, all).await;
}

/// Accepts the next connection.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // Too many open files, most often.
            Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
        }
    }
}

/// Serves one connection until it closes or is upgraded. A request whose client disconnects is dropped.
async fn connection(stream: TcpStream, address: SocketAddr, server: Arc<Server>, closing: CancellationToken) {
    let held = server.connections().accept();
    // Avoids the delay of Nagle's algorithm at the end of a response.
    let _slower_is_fine = stream.set_nodelay(true);
    let service = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(address.ip()));
        let (server, held) = (server.clone(), held.clone());
        async move { Ok::<_, Infallible>(server.handle(request, &held).await) }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_BUFFER);
    let serving =
        builder.serve_connection(TokioIo::new(WriteTimeout::new(stream, WRITE_TIMEOUT)), service).with_upgrades();
    let serving = async {
        tokio::pin!(serving);
        // Connection errors concern only the client.
        tokio::select! {
            _ended = &mut serving => return,
            () = closing.cancelled() => serving.as_mut().graceful_shutdown(),
        }
        let _ended = serving.await;
    };
    tokio::select! {
        () = serving => {}
        () = held.closed() => {}
    }
    server.connections().remove_unauthenticated(&held);
}
