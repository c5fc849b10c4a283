//! WebSocket transport: one message per text frame, with the subprotocol `mcp`.

use super::channel_session::{ChannelSession, Inbox, SessionStarter};
use super::message::{MAX_BODY, decode};
use super::responses::json_rpc_error_text;
use super::sse::refused;
use agent_spaces_http_server::{HttpResponse, response, text_response};
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use http::header::{CONNECTION, HeaderValue, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE};
use http::{HeaderMap, Request, StatusCode};
use hyper::body::Incoming;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::Error;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{Message, Role, WebSocketConfig};

/// Subprotocol, echoed if the client offers it.
const SUBPROTOCOL: &str = "mcp";

/// Interval of pings, and the time after which a client that sent nothing, not even a pong, is gone.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const GONE_AFTER: Duration = Duration::from_secs(75);

/// Maximum number of pings of a client in an interval. Each pong waits in memory until it is read.
const MAX_PINGS: usize = 1_000;

/// Timeout of the closing handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// Upgrades a connection to a session. `held` is kept until its end.
pub(super) async fn open(
    starter: &SessionStarter,
    mut request: Request<Incoming>,
    held: impl Send + 'static,
) -> HttpResponse {
    let empty = || response(StatusCode::SWITCHING_PROTOCOLS, Bytes::new()).into_body();
    let Ok(mut response) = create_response_with_body(&request, empty) else { return upgrade_required() };
    if is_offered(request.headers()) {
        response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    }
    let session = match starter.start().await {
        Ok(session) => session,
        Err(error) => return refused(&error),
    };
    let upgrading = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let _until_the_end = held;
        // Fails if the client disconnected before the response was sent.
        let Ok(upgraded) = upgrading.await else { return };
        let config = WebSocketConfig::default().max_message_size(Some(MAX_BODY)).max_frame_size(Some(MAX_BODY));
        let socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
        connect(socket, session).await;
    });
    response
}

/// Returns true if a client offers the subprotocol.
fn is_offered(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|name| name.trim() == SUBPROTOCOL)
}

fn upgrade_required() -> HttpResponse {
    let mut response = text_response(StatusCode::UPGRADE_REQUIRED, "Not a WebSocket handshake (send version 13)");
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    response
}

/// Reason of closing a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Closing {
    code: CloseCode,
    reason: &'static str,
}

impl Closing {
    /// The client left.
    const LEFT: Closing = Closing { code: CloseCode::Normal, reason: "" };
    const SESSION_OVER: Closing = Closing { code: CloseCode::Away, reason: "the session is closed" };
    const TOO_LARGE: Closing = Closing { code: CloseCode::Size, reason: "message too large (at most 4 MiB)" };
    const BINARY: Closing = Closing { code: CloseCode::Unsupported, reason: "send messages as text" };
    const NOT_UTF8: Closing = Closing { code: CloseCode::Invalid, reason: "text is not UTF-8" };
    const PROTOCOL: Closing = Closing { code: CloseCode::Protocol, reason: "invalid frame" };
    const PINGS: Closing = Closing { code: CloseCode::Policy, reason: "too many pings" };
    const SILENT: Closing = Closing { code: CloseCode::Error, reason: "no answer to pings" };
}

/// Connects a session with its socket until one of them ends.
async fn connect(socket: Socket, session: ChannelSession) {
    let heard = Mutex::new(Instant::now());
    let (mut sink, mut stream) = socket.split();
    let ChannelSession { inbox, mut outbox, replies, end, running: _running } = session;
    let closing = tokio::select! {
        closing = read(&mut stream, &inbox, &replies, &heard) => closing,
        closing = write(&mut sink, &mut outbox, &heard) => closing,
    };
    // Cancels requests of a client that is gone.
    drop(end);
    let goodbye = async {
        let frame = CloseFrame { code: closing.code, reason: closing.reason.into() };
        // The client may have closed the connection already.
        let _is_gone = sink.send(Message::Close(Some(frame))).await;
        while let Some(Ok(_)) = stream.next().await {}
    };
    let _late_is_too_late = timeout(CLOSE_TIMEOUT, goodbye).await;
}

/// Reads messages until the client leaves or breaks a rule.
async fn read(
    stream: &mut SplitStream<Socket>,
    inbox: &Inbox,
    replies: &mpsc::WeakSender<String>,
    heard: &Mutex<Instant>,
) -> Closing {
    let mut pings = Pings { since: Instant::now(), count: 0 };
    loop {
        let message = match stream.next().await {
            Some(Ok(message)) => message,
            Some(Err(error)) => return closing_after(&error),
            None => return Closing::LEFT,
        };
        *heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        match message {
            Message::Text(text) => {
                let Some(reply) = pass_on(text.as_bytes(), inbox).await else { continue };
                // Waits until the client reads its replies.
                let Some(replies) = replies.upgrade() else { return Closing::SESSION_OVER };
                if replies.send(reply).await.is_err() {
                    return Closing::SESSION_OVER;
                }
            }
            Message::Binary(_) => return Closing::BINARY,
            Message::Ping(_) if !pings.is_allowed() => return Closing::PINGS,
            // The library answers pings.
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            Message::Close(_) => return Closing::LEFT,
        }
    }
}

/// Passes a message to the session. Returns the error that answers it if it is refused.
async fn pass_on(text: &[u8], inbox: &Inbox) -> Option<String> {
    let message = match decode(text) {
        Ok(message) => message,
        Err(fault) => return Some(json_rpc_error_text(fault.code(), fault.text())),
    };
    let id = match &message {
        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    };
    let error = inbox.accept(message).await.err()?;
    let refused = ServerJsonRpcMessage::error(ErrorData::invalid_request(error.to_string(), None), Some(id?));
    serde_json::to_string(&refused).ok()
}

/// Writes messages and pings until the session is over or the client is gone.
async fn write(
    sink: &mut SplitSink<Socket, Message>,
    outbox: &mut mpsc::Receiver<String>,
    heard: &Mutex<Instant>,
) -> Closing {
    let mut pings = tokio::time::interval_at(tokio::time::Instant::now() + PING_INTERVAL, PING_INTERVAL);
    loop {
        let message = tokio::select! {
            text = outbox.recv() => match text {
                Some(text) => Message::text(text),
                None => return Closing::SESSION_OVER,
            },
            _ = pings.tick() => {
                if heard.lock().unwrap_or_else(PoisonError::into_inner).elapsed() > GONE_AFTER {
                    return Closing::SILENT;
                }
                Message::Ping(Bytes::new())
            }
        };
        // The connection has a write timeout.
        if sink.send(message).await.is_err() {
            return Closing::LEFT;
        }
    }
}

/// Returns how a connection is closed after a read error.
fn closing_after(error: &Error) -> Closing {
    match error {
        Error::Capacity(_) => Closing::TOO_LARGE,
        Error::Utf8(_) => Closing::NOT_UTF8,
        Error::Protocol(_) => Closing::PROTOCOL,
        _ => Closing::LEFT,
    }
}

/// Pings of a client in the current interval.
struct Pings {
    since: Instant,
    count: usize,
}

impl Pings {
    /// Counts one; returns false if there are too many.
    fn is_allowed(&mut self) -> bool {
        if self.since.elapsed() >= PING_INTERVAL {
            (self.since, self.count) = (Instant::now(), 0);
        }
        self.count += 1;
        self.count <= MAX_PINGS
    }
}

#[cfg(test)]
mod tests {
    use crate::http::websocket::*;

    #[test]
    fn the_subprotocol_is_found_among_those_offered() {
        let is_offered = |lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(SEC_WEBSOCKET_PROTOCOL, line.parse().unwrap());
            }
            is_offered(&headers)
        };
        assert!(is_offered(&["mcp"]) && is_offered(&["chat, mcp"]) && is_offered(&["chat", "mcp"]));
        assert!(!is_offered(&[]) && !is_offered(&["chat"]) && !is_offered(&["mcp2"]));
    }

    #[test]
    fn pings_are_bounded() {
        let mut pings = Pings { since: Instant::now(), count: 0 };
        assert!((0..MAX_PINGS).all(|_| pings.is_allowed()));
        assert!(!pings.is_allowed());
    }
}
