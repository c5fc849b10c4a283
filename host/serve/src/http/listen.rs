//! Accept loop, connection tasks and graceful shutdown.

use super::callers::Callers;
use super::origin_check::OriginCheck;
use super::server::HttpServer;
use super::write_timeout::WriteTimeout;
use crate::mode::Mode;
use agent_spaces_project::mcp::McpClients;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
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

/// At shutdown, time for requests in flight to complete, and then to return after their runs were ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// Pause after a failed `accept`.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

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
    let server = Arc::new(HttpServer::new(mode, callers, origin_check));
    let closing = CancellationToken::new();
    let mut connections = JoinSet::new();
    let reaping = server.reap_gone_callers(clients, silence);
    tokio::pin!(stop, reaping);
    loop {
        tokio::select! {
            () = &mut stop => break,
            // Never ends by itself.
            () = &mut reaping => {}
            Some(_) = connections.join_next() => {}
            stream = accept(&listener) => {
                connections.spawn(connection(stream, server.clone(), closing.clone()));
            }
        }
    }
    drop(listener);
    closing.cancel();
    if tokio::time::timeout(DRAIN_TIMEOUT, server.drained()).await.is_err() {
        let _late_is_too_late = tokio::time::timeout(STOP_TIMEOUT, server.end_all()).await;
        let _late_is_too_late = tokio::time::timeout(STOP_TIMEOUT, server.drained()).await;
    }
    let _late_is_too_late = tokio::time::timeout(STOP_TIMEOUT, server.end_all()).await;
    let _late_is_too_late = tokio::time::timeout(STOP_TIMEOUT, server.close()).await;
    let all = async { while connections.join_next().await.is_some() {} };
    let _late_is_too_late = tokio::time::timeout(STOP_TIMEOUT, all).await;
}

/// Accepts the next connection.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            // Too many open files, most often.
            Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
        }
    }
}

/// Serves one connection until it closes. A request whose client disconnects is dropped.
async fn connection(stream: TcpStream, server: Arc<HttpServer>, closing: CancellationToken) {
    let held = server.connections().accept();
    // Avoids the delay of Nagle's algorithm at the end of a response.
    let _slower_is_fine = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let (server, held) = (server.clone(), held.clone());
        async move { Ok::<_, Infallible>(server.handle(request, &held).await) }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_BUFFER);
    let serving = builder.serve_connection(TokioIo::new(WriteTimeout::new(stream, WRITE_TIMEOUT)), service);
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
