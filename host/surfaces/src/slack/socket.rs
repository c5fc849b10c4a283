//! Socket Mode: a WebSocket over which Slack sends envelopes, each of which is acknowledged before anything else.

use super::Slack;
use super::api::ApiError;
use super::settings::is_loopback;
use agent_spaces_secrets::Secret;
use agent_spaces_types::shown::Shown;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_tungstenite::tungstenite::error::Error;
use tokio_tungstenite::tungstenite::protocol::{Message, WebSocketConfig};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};
use tokio_util::sync::CancellationToken;
use url::Url;

/// Timeout of a connection with its handshakes.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// Timeout of writing a message.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout of the closing handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Bytes of one message.
const MAX_MESSAGE: usize = 4 << 20;

/// Interval of pings, and the time after which a server that sent nothing, not even a pong, is gone.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const GONE_AFTER: Duration = Duration::from_secs(75);

/// Waits before another attempt: the first, and the longest.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A connection that lasted this long was a good one.
const GOOD_AFTER: Duration = Duration::from_secs(5);

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// End of a connection.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    /// Slack asks for another connection, or this one broke.
    Again(String),
    /// No other connection is of use.
    For(String),
}

impl From<ApiError> for Ended {
    fn from(error: ApiError) -> Ended {
        if error.is_fatal() { Ended::For(error.to_string()) } else { Ended::Again(error.to_string()) }
    }
}

/// Stays connected until `stop`.
///
/// # Errors
/// The settings of the app are wrong, so that no connection is of use.
pub(super) async fn run(slack: &Slack, app_token: &Secret, stop: &CancellationToken) -> Result<(), String> {
    let mut wait = FIRST_WAIT;
    loop {
        let began = Instant::now();
        let ended = tokio::select! {
            () = stop.cancelled() => return Ok(()),
            ended = connection(slack, app_token) => ended,
        };
        let lasted = began.elapsed();
        match ended {
            Ended::For(why) => return Err(why),
            Ended::Again(why) => tracing::info!(target: "agent_spaces::slack", "connecting again: {why}"),
        }
        if lasted >= GOOD_AFTER {
            wait = FIRST_WAIT;
            continue;
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(wait) => {}
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// Connects once, and handles what comes until the connection is over.
async fn connection(slack: &Slack, app_token: &Secret) -> Ended {
    let socket = async {
        slack.learn_identity().await?;
        let opened = slack.api().call_with("apps.connections.open", app_token, &json!({})).await?;
        let url = opened.get("url").and_then(Value::as_str).and_then(|url| Url::parse(url).ok());
        match url.filter(|url| is_usable(url, &slack.settings().base_url)) {
            Some(url) => open(&url).await,
            None => Err(Ended::Again("Slack gave no usable address for the WebSocket".to_owned())),
        }
    };
    match socket.await {
        Ok(mut socket) => {
            let ended = serve(slack, &mut socket).await;
            let _late_is_too_late = timeout(CLOSE_TIMEOUT, socket.close(None)).await;
            ended
        }
        Err(ended) => ended,
    }
}

/// Returns true if a WebSocket may be opened there: with TLS, or within this machine if the API is there too.
fn is_usable(url: &Url, base: &Url) -> bool {
    url.scheme() == "wss" || (url.scheme() == "ws" && is_loopback(url) && is_loopback(base))
}

async fn open(url: &Url) -> Result<Socket, Ended> {
    let config = WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
    let connecting = connect_async_with_config(url.as_str(), Some(config), true);
    match timeout(CONNECT_TIMEOUT, connecting).await {
        Ok(Ok((socket, _))) => Ok(socket),
        Ok(Err(error)) => Err(Ended::Again(describe(&error))),
        Err(_) => Err(Ended::Again("the WebSocket did not open in time".to_owned())),
    }
}

/// Describes a failure. The URL is left out: it has a ticket.
fn describe(error: &Error) -> String {
    match error {
        Error::Url(_) => "the address of the WebSocket is wrong".to_owned(),
        Error::Http(response) => format!("the WebSocket was answered with HTTP {}", response.status().as_u16()),
        other => String::from(Shown::line(&format!("the WebSocket failed: {other}"), 300)),
    }
}

/// Handles what comes until the connection is over.
async fn serve(slack: &Slack, socket: &mut Socket) -> Ended {
    let mut heard = Instant::now();
    let mut ping = interval(PING_INTERVAL);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            message = socket.next() => message,
            _ = ping.tick() => {
                if heard.elapsed() > GONE_AFTER {
                    return Ended::Again("Slack does not answer pings".to_owned());
                }
                if let Err(ended) = send(socket, Message::Ping(Default::default())).await {
                    return ended;
                }
                continue;
            }
        };
        heard = Instant::now();
        let text = match message {
            Some(Ok(Message::Text(text))) => text,
            // The library answers pings.
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_))) => continue,
            Some(Ok(Message::Close(_))) | None => return Ended::Again("Slack closed the WebSocket".to_owned()),
            Some(Err(error)) => return Ended::Again(describe(&error)),
        };
        if let Err(ended) = handle(slack, socket, &text).await {
            return ended;
        }
    }
}

/// Handles one message.
async fn handle(slack: &Slack, socket: &mut Socket, text: &str) -> Result<(), Ended> {
    // What is not JSON has no envelope to acknowledge.
    let Ok(message) = serde_json::from_str::<Value>(text) else { return Ok(()) };
    let kind = message.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind == "disconnect" {
        return Err(match message.get("reason").and_then(Value::as_str) {
            Some("link_disabled") => Ended::For("Socket Mode is switched off for the app: switch it on".to_owned()),
            Some(reason) => Ended::Again(String::from(Shown::line(&format!("Slack says {reason}"), 100))),
            None => Ended::Again("Slack asks for another connection".to_owned()),
        });
    }
    let Some(id) = message.get("envelope_id").and_then(Value::as_str) else { return Ok(()) };
    send(socket, Message::text(json!({ "envelope_id": id }).to_string())).await?;
    slack.accept(kind, id, message.get("payload").unwrap_or(&Value::Null));
    Ok(())
}

async fn send(socket: &mut Socket, message: Message) -> Result<(), Ended> {
    match timeout(WRITE_TIMEOUT, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Ended::Again(describe(&error))),
        Err(_) => Err(Ended::Again("Slack does not read".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::is_usable;
    use url::Url;

    #[test]
    fn sockets_have_tls_or_stay_within_this_machine() {
        let usable = |url: &str, base: &str| is_usable(&Url::parse(url).unwrap(), &Url::parse(base).unwrap());
        assert!(usable("wss://wss-primary.slack.com/link/?ticket=1", "https://slack.com/api/"));
        assert!(usable("ws://127.0.0.1:1/", "http://127.0.0.1:2/api/"));
        assert!(!usable("ws://127.0.0.1:1/", "https://slack.com/api/"));
        assert!(!usable("ws://slack.example/", "http://127.0.0.1:2/api/"));
    }
}
