//! First request without a token, to get the server's `WWW-Authenticate` challenge.

use super::target::Target;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use reqwest::{Client, redirect};
use serde_json::json;
use std::net::IpAddr;
use std::time::Duration;

/// Timeout of the request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Length limit of a challenge; longer ones are ignored.
const MAX_CHALLENGE: usize = 8 << 10;

/// Response of a server to an unauthenticated request.
pub(super) struct Reception {
    /// True if it requires authorization.
    pub(super) refused: bool,
    /// Its `WWW-Authenticate` header.
    pub(super) challenge: Option<String>,
    /// IP address it answered from, which is proven to belong to its host name.
    pub(super) peer: Option<IpAddr>,
}

/// Sends an unauthenticated request. Many servers accept `initialize` from anybody, so this is `tools/list`.
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
    // The URL may contain a secret.
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

/// Chooses the most specific challenge of several.
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
