//! WebSocket transport: one message per text frame, with the subprotocol `mcp`.

use super::decode::decode_apart;
use super::failure::RemoteError;
use super::mailbox::Mailbox;
use super::message_log::MessageLog;
use super::{address, headers, tls};
use crate::advice::unauthorized;
use crate::{ConnectError, Context, RemoteEndpoint, ServerSettings};
use agent_spaces_secrets::Secret;
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{FutureExt, SinkExt, StreamExt};
use http::header::SEC_WEBSOCKET_PROTOCOL;
use http::{HeaderValue, StatusCode};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::{CapacityError, Error, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::{Message, WebSocketConfig};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, client_async_tls_with_config};
use url::{Host, Url};

/// Timeout for writing a message.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Limit on pings from a server that does not read the pongs. Each pong waits in memory until it is read.
const MAX_UNREAD_PINGS: usize = 1_000;

/// Timeout of the closing handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Connection over a WebSocket.
pub struct WebSocketTransport {
    outgoing: Arc<Mutex<SplitSink<Socket, Message>>>,
    incoming: Option<SplitStream<Socket>>,
    mailbox: Mailbox,
    /// Pings since the write buffer was last flushed.
    unread_pings: usize,
}

/// Opens a WebSocket. Proxies are not used. The caller sets the deadline.
pub async fn open(
    settings: &ServerSettings,
    endpoint: &RemoteEndpoint,
    bearer: Option<Secret>,
    context: &Context,
) -> Result<WebSocketTransport, ConnectError> {
    let address = address::parse(&endpoint.url, address::WEBSOCKET)?;
    let headers = headers::of(settings, endpoint, &address, bearer.as_ref(), context)?;
    let log = MessageLog::new(settings, context);
    tls::install_provider();
    let mut request = address.as_str().into_client_request().map_err(|error| refusal(&error, settings))?;
    request.headers_mut().extend(headers);
    request.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static("mcp"));
    let config = WebSocketConfig::default()
        .max_message_size(Some(settings.max_message))
        .max_frame_size(Some(settings.max_message));
    let stream = connect(&address).await?;
    let opened = client_async_tls_with_config(request, stream, Some(config), None).await;
    let (socket, _) = opened.map_err(|error| refusal(&error, settings))?;
    let (outgoing, incoming) = socket.split();
    Ok(WebSocketTransport {
        outgoing: Arc::new(Mutex::new(outgoing)),
        incoming: Some(incoming),
        mailbox: Mailbox::new(log, settings.max_message),
        unread_pings: 0,
    })
}

async fn connect(address: &Url) -> Result<TcpStream, ConnectError> {
    let port = address.port_or_known_default().unwrap_or_default();
    let connecting = async {
        match address.host() {
            Some(Host::Domain(name)) => TcpStream::connect((name, port)).await,
            Some(Host::Ipv4(ip)) => TcpStream::connect((ip, port)).await,
            Some(Host::Ipv6(ip)) => TcpStream::connect((ip, port)).await,
            None => Err(std::io::ErrorKind::InvalidInput.into()),
        }
    };
    let failed = |text: String| ConnectError::Failed(format!("cannot connect: {text}"));
    let stream = match timeout(tls::CONNECT_TIMEOUT, connecting).await {
        Ok(stream) => stream.map_err(|error| failed(error.to_string()))?,
        Err(_) => return Err(failed("timed out".to_owned())),
    };
    stream.set_nodelay(true).map_err(|error| failed(error.to_string()))?;
    Ok(stream)
}

/// Returns the error for a failed WebSocket handshake.
fn refusal(error: &Error, settings: &ServerSettings) -> ConnectError {
    let text = match error {
        Error::Http(response) if response.status() == StatusCode::UNAUTHORIZED => return unauthorized(settings),
        Error::Http(response) => format!("it answered with HTTP {} instead of a WebSocket", response.status().as_u16()),
        Error::Protocol(ProtocolError::SecWebSocketSubProtocolError(_)) => {
            "its WebSocket does not support the subprotocol `mcp`".to_owned()
        }
        // The text of such an error may contain the URL.
        Error::Url(_) => "its `url` cannot be used for a WebSocket".to_owned(),
        other => format!("cannot open a WebSocket: {other}"),
    };
    ConnectError::Failed(text)
}

impl WebSocketTransport {
    /// Counts a ping, which the library answers; returns false if the server does not read the pongs.
    fn takes_pongs(&mut self) -> bool {
        // Do not wait: messages of a server that reads late must still be received.
        let flushed = self.outgoing.try_lock().ok().and_then(|mut outgoing| outgoing.flush().now_or_never());
        self.unread_pings = if matches!(flushed, Some(Ok(()))) { 0 } else { self.unread_pings + 1 };
        self.unread_pings <= MAX_UNREAD_PINGS
    }

    /// Handles the end of the connection.
    fn end(&mut self, error: Option<&Error>) {
        self.incoming = None;
        match error {
            Some(Error::Capacity(CapacityError::MessageTooLong { max_size, .. })) => {
                // The rest of the message cannot be skipped, so the request it answers is known only if it is the only
                // one.
                let only = self.mailbox.only_pending();
                self.mailbox.log().warn(&format!("it sent a message larger than {max_size} bytes; connection closed"));
                if let Some(id) = only {
                    self.mailbox.too_large(vec![id]);
                }
            }
            Some(error) => self.mailbox.log().note(|| format!("connection failed: {error}")),
            None => self.mailbox.log().note(|| "the server closed the connection".to_owned()),
        }
    }
}

impl Transport<RoleClient> for WebSocketTransport {
    type Error = RemoteError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), RemoteError>> + Send + 'static {
        self.mailbox.sends(&message);
        let outgoing = self.outgoing.clone();
        async move {
            let text = serde_json::to_string(&message).map_err(|error| RemoteError::Failed(error.to_string()))?;
            let sending = async { outgoing.lock().await.send(Message::text(text)).await };
            match timeout(WRITE_TIMEOUT, sending).await {
                Ok(sent) => sent.map_err(|error| RemoteError::Failed(error.to_string())),
                Err(_) => Err(RemoteError::Failed("the server accepts no more messages".to_owned())),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(message) = self.mailbox.next().await {
                return Some(message);
            }
            match self.incoming.as_mut()?.next().await {
                Some(Ok(Message::Text(text))) => self.mailbox.decode(decode_apart(Bytes::from(text))),
                Some(Ok(Message::Binary(_))) => self.mailbox.log().noise("a binary frame"),
                Some(Ok(Message::Ping(_))) if !self.takes_pongs() => {
                    self.incoming = None;
                    self.mailbox.log().warn("it sends pings and does not read the pongs; connection closed");
                }
                // The library answers pings; after a close frame the stream ends.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_))) => {}
                Some(Err(error)) => self.end(Some(&error)),
                None => self.end(None),
            }
        }
    }

    async fn close(&mut self) -> Result<(), RemoteError> {
        let Some(mut incoming) = self.incoming.take() else { return Ok(()) };
        let goodbye = async {
            // The server may have closed the connection already.
            let _ = self.outgoing.lock().await.close().await;
            while let Some(Ok(_)) = incoming.next().await {}
        };
        let _ = timeout(CLOSE_TIMEOUT, goodbye).await;
        Ok(())
    }
}

impl fmt::Debug for WebSocketTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("WebSocketTransport").field(self.mailbox.log()).finish()
    }
}

#[cfg(test)]
#[path = "websocket_tests.rs"]
mod tests;
