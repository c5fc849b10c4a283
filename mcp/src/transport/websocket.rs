//! MCP over a WebSocket: one message to a text frame, under the subprotocol `mcp`.

use super::decode::{Decoded, decode_apart};
use super::failure::RemoteError;
use super::mailbox::Mailbox;
use super::spoken::Spoken;
use super::{address, headers, tls};
use crate::auth::unauthorized;
use crate::secrets::Secret;
use crate::{ConnectError, Context, RemoteEndpoint, ServerSettings};
use bytes::Bytes;
use futures_util::future::BoxFuture;
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

/// How long the server may take to accept a message of ours.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

/// Pings that a server may send without reading the answers to them. Each answer waits in memory until it is read.
const MAX_UNREAD_PINGS: usize = 1_000;

/// How long the server may take to say goodbye.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A connection over a WebSocket.
pub struct WebSocketTransport {
    outgoing: Arc<Mutex<SplitSink<Socket, Message>>>,
    incoming: Option<SplitStream<Socket>>,
    mailbox: Mailbox,
    /// A message that is being read: receiving may be given up and begun anew at any time.
    reading: Option<BoxFuture<'static, Decoded>>,
    /// Pings since everything that we wrote was last taken.
    unread_pings: usize,
}

/// Opens a WebSocket. Proxies are not used. The caller has the deadline.
pub async fn open(
    settings: &ServerSettings,
    endpoint: &RemoteEndpoint,
    bearer: Option<Secret>,
    context: &Context,
) -> Result<WebSocketTransport, ConnectError> {
    let address = address::parse(&endpoint.url, address::WEBSOCKET)?;
    let headers = headers::of(settings, endpoint, &address, bearer.as_ref(), context)?;
    let spoken = Spoken::new(settings, context);
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
        mailbox: Mailbox::new(spoken, settings.max_message),
        reading: None,
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
        Err(_) => return Err(failed("nobody answers".to_owned())),
    };
    stream.set_nodelay(true).map_err(|error| failed(error.to_string()))?;
    Ok(stream)
}

/// Why no WebSocket was opened.
fn refusal(error: &Error, settings: &ServerSettings) -> ConnectError {
    let text = match error {
        Error::Http(response) if response.status() == StatusCode::UNAUTHORIZED => return unauthorized(settings),
        Error::Http(response) => format!("it answered with HTTP {} instead of a WebSocket", response.status().as_u16()),
        Error::Protocol(ProtocolError::SecWebSocketSubProtocolError(_)) => {
            "it does not speak the subprotocol `mcp` over its WebSocket".to_owned()
        }
        // The text of such an error may show the address.
        Error::Url(_) => "its `url` cannot be used for a WebSocket".to_owned(),
        other => format!("cannot open a WebSocket: {other}"),
    };
    ConnectError::Failed(text)
}

impl WebSocketTransport {
    /// Counts a ping, which is answered below us; gives whether the server reads enough of the answers.
    fn takes_pongs(&mut self) -> bool {
        // Nobody waits here: a server that reads late must still be heard.
        let flushed = self.outgoing.try_lock().ok().and_then(|mut outgoing| outgoing.flush().now_or_never());
        self.unread_pings = if matches!(flushed, Some(Ok(()))) { 0 } else { self.unread_pings + 1 };
        self.unread_pings <= MAX_UNREAD_PINGS
    }

    /// The connection is of no use any more.
    fn end(&mut self, error: Option<&Error>) {
        self.incoming = None;
        match error {
            Some(Error::Capacity(CapacityError::MessageTooLong { max_size, .. })) => {
                // The rest of the message cannot be passed over, so what it answers is known only by elimination.
                let only = self.mailbox.only_pending();
                self.mailbox
                    .spoken()
                    .warn(&format!("it sent a message of more than {max_size} bytes; the connection is ended"));
                if let Some(id) = only {
                    self.mailbox.too_large(vec![id]);
                }
            }
            Some(error) => self.mailbox.spoken().note(|| format!("the connection broke: {error}")),
            None => self.mailbox.spoken().note(|| "the server ended the connection".to_owned()),
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
            match timeout(WRITE_PATIENCE, sending).await {
                Ok(sent) => sent.map_err(|error| RemoteError::Failed(error.to_string())),
                Err(_) => Err(RemoteError::Failed("the server takes no more messages".to_owned())),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(message) = self.mailbox.next() {
                return Some(message);
            }
            if let Some(reading) = &mut self.reading {
                let decoded = reading.await;
                self.reading = None;
                self.mailbox.arrived(decoded);
                continue;
            }
            match self.incoming.as_mut()?.next().await {
                Some(Ok(Message::Text(text))) => self.reading = Some(decode_apart(Bytes::from(text)).boxed()),
                Some(Ok(Message::Binary(_))) => self.mailbox.spoken().noise("a binary frame"),
                Some(Ok(Message::Ping(_))) if !self.takes_pongs() => {
                    self.incoming = None;
                    self.mailbox.spoken().warn("it sends pings and does not read the answers; the connection is ended");
                }
                // Pings are answered below us; after a close the stream ends.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_))) => {}
                Some(Err(error)) => self.end(Some(&error)),
                None => self.end(None),
            }
        }
    }

    async fn close(&mut self) -> Result<(), RemoteError> {
        let Some(mut incoming) = self.incoming.take() else { return Ok(()) };
        let goodbye = async {
            // A server that is gone already needs no goodbye.
            let _ = self.outgoing.lock().await.close().await;
            while let Some(Ok(_)) = incoming.next().await {}
        };
        let _ = timeout(CLOSE_PATIENCE, goodbye).await;
        Ok(())
    }
}

impl fmt::Debug for WebSocketTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("WebSocketTransport").field(self.mailbox.spoken()).finish()
    }
}

#[cfg(test)]
#[path = "websocket_tests.rs"]
mod tests;
