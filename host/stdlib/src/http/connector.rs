//! Hardened HTTP client under all requests.

use super::headers::MAX_HEADERS;
use super::resolver::Guarded;
use crate::error::StdError;
use agent_spaces_policy::NetworkPolicy;
use reqwest::dns::Resolve;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::{ClientBuilder, redirect, retry};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const USER_AGENT: &str = concat!("agent-spaces/", env!("CARGO_PKG_VERSION"));

/// Connect timeout, short enough to try another address of the same name.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Idle timeout. Node closes idle connections after five seconds; a request sent just then would be lost.
const IDLE: Duration = Duration::from_secs(4);

/// Most idle connections per host.
const MAX_IDLE: usize = 4;

/// Returns the client of a cell, which is built at the first request: loading the platform's certificates is slow.
pub(super) fn get_or_build<'c>(
    cell: &'c OnceLock<reqwest::Client>,
    policy: &Arc<NetworkPolicy>,
    names: &Arc<dyn Resolve>,
) -> Result<&'c reqwest::Client, StdError> {
    if let Some(client) = cell.get() {
        return Ok(client);
    }
    let built = builder(policy, names)
        .build()
        .map_err(|_| StdError::unavailable("No request can be sent: this machine has no root certificates"))?;
    Ok(cell.get_or_init(|| built))
}

/// Builds a client without redirects, retries, cookies, proxy variables and decompression, that connects only to
/// addresses that the policy allows. Certificates are verified by the platform's trust store.
pub(super) fn builder(policy: &Arc<NetworkPolicy>, names: &Arc<dyn Resolve>) -> ClientBuilder {
    // An error means that a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let guarded = Guarded { names: Arc::clone(names), policy: Arc::clone(policy) };
    // A script may request a compressed body, and gets its raw bytes.
    let unpacked = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]);
    reqwest::Client::builder()
        .dns_resolver(Arc::new(guarded))
        .user_agent(USER_AGENT)
        .default_headers(unpacked)
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .no_proxy()
        // Other crates may enable these features.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .http1_only()
        .http1_max_headers(MAX_HEADERS)
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(MAX_IDLE)
}
