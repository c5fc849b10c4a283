//! Requests to the hosts that a policy lists.
//!
//! | file | what |
//! |---|---|
//! | `request` | what a script asks for, from the parameters of its call |
//! | `headers` | which headers a script may set, which follow a redirect, and those of an answer |
//! | `target` | whether a request may go where it is to go |
//! | `address` | which addresses are those of an inner network |
//! | `resolver` | names to addresses, none of them inner ones |
//! | `connector` | the client under all requests, and what it must not do |
//! | `redirect` | the request that a redirect leads to |
//! | `exchange` | a request and all that it is redirected to, up to the last byte |
//! | `answer` | what a script is given |
//! | `exact` | requests of the host's own, made for others than scripts |
//! | `refused` | requests that were refused, for whoever may allow them |
//! | `failure` | why a connection failed, in words that tell nothing of the network |
//!
//! An address is checked where the connection is made: the resolver hands out checked addresses, and nothing looks the
//! name up again. A connection that is used again was checked when it was made, for the same host.

mod address;
mod answer;
mod connector;
mod exact;
mod exchange;
mod failure;
mod headers;
mod redirect;
mod refused;
mod request;
mod resolver;
mod target;
#[cfg(test)]
mod tests;

pub use answer::parse_json;
pub use exact::{ExactAnswer, ExactRequest, Redirects};
pub use refused::{RefusalReason, Refused};

use crate::error::{Answer, StdError};
use agent_spaces_policy::NetworkPolicy;
use request::Request;
use reqwest::dns::Resolve;
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Semaphore;

/// A module that makes `fetch` a global, over the functions of this one.
pub const FETCH_JS: &str = include_str!("fetch.js");

/// Requests under way at once. Each may hold an answer of the largest size in memory; more than this wait, which
/// counts towards their time.
const MAX_CONCURRENT: usize = 32;

/// Bodies up to this size are read where they are; larger ones on a thread that may block, so that they hold up
/// nobody else.
const MAX_INLINE_BYTES: usize = 64 << 10;

/// Sends the requests of a space's scripts.
pub struct Client {
    policy: Arc<NetworkPolicy>,
    names: Arc<dyn Resolve>,
    /// Made with the first request that the policy allows: reading the platform's certificates takes a while.
    connector: OnceLock<reqwest::Client>,
    slots: Semaphore,
}

impl Client {
    /// A client that does what the policy allows.
    pub fn new(policy: NetworkPolicy) -> Client {
        Client::with_names(policy, Arc::new(resolver::System::new()))
    }

    /// As [`Client::new`], but names are looked up by `names`. What it answers is checked all the same.
    fn with_names(policy: NetworkPolicy, names: Arc<dyn Resolve>) -> Client {
        let slots = Semaphore::new(MAX_CONCURRENT);
        Client { policy: Arc::new(policy), names, connector: OnceLock::new(), slots }
    }

    /// Answers one call of a function of the interface `http`.
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

    /// An exchange when it is its turn, with all the waiting in its time.
    async fn in_time<T>(
        &self,
        timeout: Duration,
        exchange: impl Future<Output = Result<T, StdError>>,
    ) -> Result<T, StdError> {
        let exchange = async {
            // The semaphore is never closed, so that there is a slot in the end.
            let _slot = self.slots.acquire().await;
            exchange.await
        };
        tokio::time::timeout(timeout, exchange).await.unwrap_or_else(|_| {
            Err(StdError::timeout(format!("There was no whole answer within {} ms", timeout.as_millis())))
        })
    }

    fn connector(&self) -> Result<&reqwest::Client, StdError> {
        if let Some(connector) = self.connector.get() {
            return Ok(connector);
        }
        let made = connector::builder(&self.policy, &self.names).build().map_err(|_| {
            StdError::unavailable("No request can be sent: this machine has no certificates to check others by")
        })?;
        Ok(self.connector.get_or_init(|| made))
    }
}
