//! HTTP client and TLS crypto provider.

use super::address;
use crate::ConnectError;
use reqwest::redirect::{Attempt, Policy};
use reqwest::{ClientBuilder, StatusCode};
use std::time::Duration;
use url::Url;

const USER_AGENT: &str = concat!("agent-spaces/", env!("CARGO_PKG_VERSION"));

/// Timeout of a TCP connection including its TLS handshake.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Idle timeout. Node closes idle connections after five seconds and loses a call sent at that moment, so we close first.
const IDLE: Duration = Duration::from_secs(4);

const MAX_REDIRECTS: usize = 5;

/// Builds an HTTP client, as used by the whole crate.
///
/// Certificates are verified with the platform's trust store. There are no cookies. The variables `HTTPS_PROXY`,
/// `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` apply, but loopback addresses are never reached through a proxy.
/// Only redirects within an origin that keep the request unchanged (307, 308) are followed.
pub(super) fn client_for(address: &Url) -> Result<reqwest::Client, ConnectError> {
    let builder = if address::is_loopback(address) { builder().no_proxy() } else { builder() };
    builder.build().map_err(|error| ConnectError::Failed(super::failure::words(error)))
}

/// Installs ring as the crypto provider of the process, unless there is one.
pub(crate) fn install_provider() {
    // An error only means that there is a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn builder() -> ClientBuilder {
    install_provider();
    reqwest::Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE)
        .referer(false)
        .redirect(Policy::custom(redirect))
}

/// Redirect policy: another origin must not get this one's headers, and 301 to 303 would turn a call into a bare GET.
fn redirect(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let keeps_request = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let same_origin = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    if keeps_request && same_origin && attempt.previous().len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_can_be_built_repeatedly() {
        for address in ["https://a.example/", "http://127.0.0.1:1/"] {
            client_for(&Url::parse(address).unwrap()).unwrap();
        }
        assert!(rustls::crypto::CryptoProvider::get_default().is_some());
    }
}
