//! The client under all requests, and what it must not do.

use super::headers::MAX_HEADERS;
use super::resolver::Guarded;
use agent_spaces_policy::NetworkPolicy;
use reqwest::dns::Resolve;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::{ClientBuilder, redirect, retry};
use std::sync::Arc;
use std::time::Duration;

const USER_AGENT: &str = concat!("agent-spaces/", env!("CARGO_PKG_VERSION"));

/// How long a connection may take to be made, so that there is time for another address of the same name.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Node closes idle connections after five seconds. A request that is sent just then is lost, so we leave first.
const IDLE: Duration = Duration::from_secs(4);

/// Connections to one host that wait for another request.
const MAX_IDLE: usize = 4;

/// A client that does no more than it is told: it follows no redirect, tries nothing again, keeps no cookies, heeds no
/// proxy variables, unpacks nothing, and reaches only the addresses that the policy allows. Certificates are checked
/// by what the platform trusts.
pub(super) fn builder(policy: &Arc<NetworkPolicy>, names: &Arc<dyn Resolve>) -> ClientBuilder {
    // An error says that there is a provider already, which is all that is wanted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let guarded = Guarded { names: Arc::clone(names), policy: Arc::clone(policy) };
    // A script may ask for a packed answer, and is given the bytes of it.
    let unpacked = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]);
    reqwest::Client::builder()
        .dns_resolver(Arc::new(guarded))
        .user_agent(USER_AGENT)
        .default_headers(unpacked)
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .no_proxy()
        // Other crates of a program may turn these on.
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
