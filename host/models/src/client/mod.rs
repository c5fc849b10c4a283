//! HTTP client for providers.
//!
//! - `call`: one request and its answer, within bounds and time.
//! - `head`: URL and headers of a request.
//! - `refusal`: kind of failure of an HTTP error.

mod call;
mod head;
mod refusal;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{ClientBuilder, redirect};

use crate::ModelErrorKind::Configuration;
use crate::answer::Watch;
use crate::trace::Trace;
use crate::{Answer, ModelError, Provider, Request};
use call::Call;

/// Timeout of a TCP connection with its TLS handshake.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Idle timeout of a pooled connection. The next request of a conversation often follows within seconds.
const IDLE: Duration = Duration::from_secs(30);

/// Sends requests to models. Clones share connections.
///
/// Certificates are verified with the platform's trust store. The variables `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and
/// `NO_PROXY` apply, but servers on this machine are never reached through a proxy. Redirects are not followed: they
/// would carry the key elsewhere.
#[derive(Clone)]
pub struct Client {
    remote: reqwest::Client,
    /// For servers on this machine.
    local: reqwest::Client,
    trace: Option<Arc<dyn Trace>>,
}

impl Client {
    /// Creates a client without connections.
    ///
    /// # Errors
    /// `Configuration`, if TLS cannot be set up: this machine has no root certificates.
    pub fn new() -> Result<Self, ModelError> {
        let build = |builder: ClientBuilder| {
            builder.build().map_err(|error| {
                ModelError::new(Configuration, format!("The HTTP client cannot be set up: {}", chain(error)))
            })
        };
        Ok(Client { remote: build(builder())?, local: build(builder().no_proxy())?, trace: None })
    }

    /// Gives all traffic to `trace`, without keys.
    #[must_use]
    pub fn with_trace(self, trace: Arc<dyn Trace>) -> Self {
        Client { trace: Some(trace), ..self }
    }

    /// Sends a request and waits for the answer. If the request is streamed, `watch` gets the deltas of the answer as
    /// they arrive. Dropping the future closes the connection, which cancels the request.
    ///
    /// # Errors
    /// The request cannot be written for this provider, the provider is unreachable or refuses it, or the answer is late,
    /// cut, malformed or too large. The message names provider and model, and has no key.
    pub async fn answer(
        &self,
        provider: &Provider,
        request: &Request,
        watch: &mut Watch<'_>,
    ) -> Result<Answer, ModelError> {
        Call::new(self, provider, request).answer(watch).await
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").field("is_traced", &self.trace.is_some()).finish_non_exhaustive()
    }
}

fn builder() -> ClientBuilder {
    // An error only means that there is a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .referer(false)
        .http1_only()
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE)
        // Other crates may enable these features.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
}

/// Message of an HTTP client error with its causes. The URL is left out: it may contain a key.
fn chain(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.ends_with(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        source = cause.source();
    }
    text
}
