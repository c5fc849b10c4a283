//! Connections, and the end of all.

use super::callers::Callers;
use super::doors::Doors;
use super::gate::Gate;
use super::stalled::Stalled;
use crate::mcp::McpClients;
use crate::serve::mode::Mode;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How long the head of a request may take, which is also how long a connection may lie idle; what is kept of it while it
/// comes; its lines. Until a token is shown, all of it together has the shorter time of strangers (`connections`).
const HEAD: Duration = Duration::from_secs(20);
const MAX_KEPT: usize = 128 << 10;
const MAX_HEADERS: usize = 100;

/// How long a peer may read nothing of what is sent to it.
const UNREAD: Duration = Duration::from_secs(30);

/// At the end, how long requests have to be answered, and then to hear that their runs were ended.
const ANSWERED: Duration = Duration::from_secs(2);
const ENDED: Duration = Duration::from_secs(1);

/// How long nobody is let in after the system refused to.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves callers until it is told to stop. Then what is under way is answered or ended, within a few seconds. What
/// `clients` has open for a caller ends when the caller is gone: after half an hour without a request, or after `silence`
/// where they have ended all of their sessions.
pub async fn serve_http(
    listener: TcpListener,
    mode: Mode,
    clients: &McpClients,
    callers: Callers,
    doors: Doors,
    silence: Duration,
    stop: impl Future<Output = ()>,
) {
    let gate = Arc::new(Gate::new(mode, callers, doors));
    let closing = CancellationToken::new();
    let mut connections = JoinSet::new();
    let tidying = gate.tidy(clients, silence);
    tokio::pin!(stop, tidying);
    loop {
        tokio::select! {
            () = &mut stop => break,
            // Never ends by itself.
            () = &mut tidying => {}
            Some(_) = connections.join_next() => {}
            stream = accept(&listener) => {
                connections.spawn(connection(stream, gate.clone(), closing.clone()));
            }
        }
    }
    drop(listener);
    closing.cancel();
    if tokio::time::timeout(ANSWERED, gate.rest()).await.is_err() {
        let _late_is_too_late = tokio::time::timeout(ENDED, gate.end_runs()).await;
        let _late_is_too_late = tokio::time::timeout(ENDED, gate.rest()).await;
    }
    let _late_is_too_late = tokio::time::timeout(ENDED, gate.end_runs()).await;
    let _late_is_too_late = tokio::time::timeout(ENDED, gate.close()).await;
    let all = async { while connections.join_next().await.is_some() {} };
    let _late_is_too_late = tokio::time::timeout(ENDED, all).await;
}

/// The next connection.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            // Too many open files, most often.
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// One connection until its end. A request whose client goes away is dropped.
async fn connection(stream: TcpStream, gate: Arc<Gate>, closing: CancellationToken) {
    let held = gate.connections().meet();
    // The end of an answer would wait for the client to confirm its beginning.
    let _slower_is_fine = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let (gate, held) = (gate.clone(), held.clone());
        async move { Ok::<_, Infallible>(gate.answer(request, &held).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD).max_headers(MAX_HEADERS).max_buf_size(MAX_KEPT);
    let serving = builder.serve_connection(TokioIo::new(Stalled::new(stream, UNREAD)), service);
    let serving = async {
        tokio::pin!(serving);
        // What goes wrong on a connection is its client's to know.
        tokio::select! {
            _ended = &mut serving => return,
            () = closing.cancelled() => serving.as_mut().graceful_shutdown(),
        }
        let _ended = serving.await;
    };
    tokio::select! {
        () = serving => {}
        () = held.over() => {}
    }
    gate.connections().part(&held);
}
