//! HTTP client for scripts, restricted to the hosts of a policy.
//!
//! | file | contents |
//! |---|---|
//! | `request` | request from the parameters of a call |
//! | `headers` | allowed headers, redirected headers, response headers |
//! | `target` | URL and policy check |
//! | `address` | classification of IP addresses |
//! | `resolver` | DNS resolution without private addresses |
//! | `connector` | hardened client under all requests |
//! | `redirect` | next request of a redirect |
//! | `exchange` | request with its redirects, up to the last byte |
//! | `answer` | response as returned to a script |
//! | `exact` | requests of the host itself |
//! | `guarded_client` | requests of the host itself to URLs that its callers chose |
//! | `failure` | connection errors without network details |
//!
//! Addresses are checked at connection time: the resolver returns only checked addresses, and the name is not resolved
//! again (no DNS rebinding). A reused connection was checked when it was made, for the same host.

mod address;
mod answer;
mod connector;
mod exact;
mod exchange;
mod failure;
mod guarded_client;
mod headers;
mod redirect;
mod request;
mod resolver;
mod target;
#[cfg(test)]
mod tests;

pub use answer::parse_json;
pub use exact::{ExactAnswer, ExactRequest, Redirects};
pub use guarded_client::GuardedClient;

use crate::error::{Answer, StdError};
use agent_spaces_policy::NetworkPolicy;
use request::Request;
use reqwest::dns::Resolve;
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Most concurrent requests. Each may hold a response of the largest size in memory; more wait, which counts towards
/// their timeout.
const MAX_CONCURRENT: usize = 32;

/// Bodies up to this size are parsed inline; larger ones on a blocking thread, to avoid stalling others.
const MAX_INLINE_BYTES: usize = 64 << 10;

/// HTTP client of a space's scripts.
pub struct Client {
    policy: Arc<NetworkPolicy>,
    names: Arc<dyn Resolve>,
    /// Created at the first allowed request: loading the platform's certificates is slow.
    connector: OnceLock<reqwest::Client>,
    slots: Semaphore,
}

impl Client {
    /// Creates a client within this policy.
    pub fn new(policy: NetworkPolicy) -> Client {
        Client::with_names(policy, Arc::new(resolver::System::new()))
    }

    /// [`Client::new`] with another resolver, whose addresses are checked all the same.
    fn with_names(policy: NetworkPolicy, names: Arc<dyn Resolve>) -> Client {
        let slots = Semaphore::new(MAX_CONCURRENT);
        Client { policy: Arc::new(policy), names, connector: OnceLock::new(), slots }
    }

    /// Calls a function of the interface `http`.
    pub async fn call(&self, function: &str, params: Value) -> Answer {
        let request = Request::read(function, params, &self.policy)?;
        let (timeout, wanted) = (request.timeout, request.wanted);
        let received = self.in_time(timeout, exchange::run(self, request)).await?;
        if received.body.len() <= MAX_INLINE_BYTES {
            return answer::of(received, wanted);
        }
        let read = tokio::task::spawn_blocking(move || answer::of(received, wanted)).await;
        read.unwrap_or_else(|_| Err(StdError::failed("The answer could not be read")))
    }

    /// Runs an exchange when a slot is free, with the wait in its timeout.
    async fn in_time<T>(
        &self,
        timeout: Duration,
        exchange: impl Future<Output = Result<T, StdError>>,
    ) -> Result<T, StdError> {
        let exchange = async {
            // The semaphore is never closed, so acquiring cannot fail.
            let _slot = self.slots.acquire().await;
            exchange.await
        };
        tokio::time::timeout(timeout, exchange).await.unwrap_or_else(|_| Err(failure::timed_out(timeout)))
    }

    fn connector(&self) -> Result<&reqwest::Client, StdError> {
        connector::get_or_build(&self.connector, &self.policy, &self.names)
    }
}
