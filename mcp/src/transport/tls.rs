//! HTTP clients, and the one crypto provider under everything that is encrypted.

use super::address;
use crate::ConnectError;
use reqwest::redirect::{Attempt, Policy};
use reqwest::{ClientBuilder, StatusCode};
use std::time::Duration;
use url::Url;

const USER_AGENT: &str = concat!("agent-spaces/", env!("CARGO_PKG_VERSION"));

/// How long a TCP connection and its TLS handshake may take to be made.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Node closes idle connections after five seconds. A call that is sent just then is lost, so we leave first.
const IDLE: Duration = Duration::from_secs(4);

const MAX_REDIRECTS: usize = 5;

/// A client for HTTP as all of this crate speaks it.
///
/// Certificates are checked by what the platform trusts. There are no cookies. The usual variables `HTTPS_PROXY`,
/// `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` are heeded, but what runs on this machine is never reached through a proxy.
/// Redirects are followed within an origin only, and only those that keep the request as it is (307, 308).
pub(super) fn client_for(address: &Url) -> Result<reqwest::Client, ConnectError> {
    let builder = if address::is_loopback(address) { builder().no_proxy() } else { builder() };
    builder.build().map_err(|error| ConnectError::Failed(super::failure::words(error)))
}

/// Chooses ring for the process, unless something was chosen before.
pub(crate) fn install_provider() {
    // An error says that there is a provider already, which is all that is wanted.
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

/// Another origin must not get headers that are meant for this one; 301 to 303 would turn a call into a bare GET.
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
    fn clients_are_built_as_often_as_wanted() {
        for address in ["https://a.example/", "http://127.0.0.1:1/"] {
            client_for(&Url::parse(address).unwrap()).unwrap();
        }
        assert!(rustls::crypto::CryptoProvider::get_default().is_some());
    }
}
