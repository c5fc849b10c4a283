//! A first request without a token, to be told how to get one.

use super::target::Target;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use reqwest::{Client, redirect};
use serde_json::json;
use std::net::IpAddr;
use std::time::Duration;

/// How long the server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// A longer challenge is not read.
const MAX_CHALLENGE: usize = 8 << 10;

/// What a server says to somebody it does not know.
pub(super) struct Reception {
    /// Whether it asks who we are.
    pub(super) refused: bool,
    /// How to answer that: its `WWW-Authenticate`.
    pub(super) challenge: Option<String>,
    /// Where it answered from; it has shown there that it has its name.
    pub(super) peer: Option<IpAddr>,
}

/// Asks a server as somebody it does not know. Many let everybody greet them, so this asks for its tools.
pub(super) async fn ask(target: &Target<'_>, posts: bool) -> Result<Reception, reqwest::Error> {
    crate::transport::tls::install_provider();
    let client = Client::builder().redirect(redirect::Policy::none()).timeout(TIMEOUT).build()?;
    let request = if posts {
        client
            .post(target.address.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", "tools/list")
            .body(question())
    } else {
        client.get(target.address.clone()).header(ACCEPT, "text/event-stream")
    };
    // The address may hold a secret.
    let response = request.headers(headers(target)).send().await.map_err(reqwest::Error::without_url)?;
    let refused = response.status() == StatusCode::UNAUTHORIZED;
    let peer = response.remote_addr().map(|address| address.ip());
    Ok(Reception { refused, challenge: if refused { choose(response.headers()) } else { None }, peer })
}

fn question() -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "agent-spaces", "version": env!("CARGO_PKG_VERSION") },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } }).to_string()
}

fn headers(target: &Target<'_>) -> HeaderMap {
    let configured = target.endpoint.headers.iter().filter_map(|(name, value)| {
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_str(value.expose()).ok()?))
    });
    configured.filter(|(name, _)| name != AUTHORIZATION).collect()
}

/// The challenge that says the most: a server may offer several.
fn choose(headers: &HeaderMap) -> Option<String> {
    let mut challenges: Vec<&str> = headers
        .get_all(WWW_AUTHENTICATE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .filter(|value| value.len() <= MAX_CHALLENGE)
        .collect();
    challenges.sort_by_key(|challenge| {
        let challenge = challenge.to_ascii_lowercase();
        (!challenge.contains("resource_metadata="), !challenge.starts_with("bearer"))
    });
    challenges.first().map(|challenge| (*challenge).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_that_names_the_metadata_is_chosen() {
        let mut headers = HeaderMap::new();
        for value in ["Basic realm=\"x\"", "Bearer", "Bearer resource_metadata=\"https://example.com/\""] {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static(value));
        }
        assert_eq!(choose(&headers).unwrap(), "Bearer resource_metadata=\"https://example.com/\"");
        assert_eq!(choose(&HeaderMap::new()), None);
    }
}
