//! Requests of the host itself to URLs that its callers chose: no policy, but the same address checks and hardened client.

use super::address::reach;
use super::resolver::{System, check};
use super::{connector, failure, target};
use crate::error::StdError;
use agent_spaces_policy::{DomainPattern, NetworkPolicy};
use bytes::Bytes;
use reqwest::dns::Resolve;
use reqwest::header::HeaderMap;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use url::{Host, Url};

/// Bytes of a response that are read, so that its connection can be used again. Nobody looks at them.
const MAX_IGNORED_BYTES: usize = 64 << 10;

/// Client for URLs that callers chose. Without private addresses it sends over HTTPS alone.
pub struct GuardedClient {
    reaches_private: bool,
    policy: Arc<NetworkPolicy>,
    names: Arc<dyn Resolve>,
    /// Created at the first request: loading the platform's certificates is slow.
    connector: OnceLock<reqwest::Client>,
}

impl GuardedClient {
    /// Creates a client. Addresses such as those of a cloud's metadata service are never reached.
    pub fn new(reaches_private: bool) -> GuardedClient {
        GuardedClient::with_names(reaches_private, Arc::new(System::new()))
    }

    /// [`GuardedClient::new`] with another resolver, whose addresses are checked all the same.
    pub(super) fn with_names(reaches_private: bool, names: Arc<dyn Resolve>) -> GuardedClient {
        let every = DomainPattern::parse("*").ok().filter(|_| reaches_private);
        // For the resolver, which asks it alone whether a name may have a private address.
        let policy = NetworkPolicy { private: every.into_iter().collect(), ..NetworkPolicy::default() };
        GuardedClient { reaches_private, policy: Arc::new(policy), names, connector: OnceLock::new() }
    }

    /// Parses and checks a URL. The addresses of a name are checked whenever a request is sent.
    ///
    /// # Errors
    /// It cannot be read, has a user, is not HTTPS, or names a private address. The message does not contain it.
    pub fn check(&self, text: &str) -> Result<Url, StdError> {
        let url = target::read(text, None)?;
        if url.scheme() != "https" && !self.reaches_private {
            return Err(StdError::denied("The address must begin with https:"));
        }
        let address: IpAddr = match url.host() {
            Some(Host::Ipv4(address)) => address.into(),
            Some(Host::Ipv6(address)) => address.into(),
            Some(Host::Domain(name)) if is_local(name) && !self.reaches_private => {
                return Err(StdError::denied("The address is that of this machine"));
            }
            Some(Host::Domain(_)) => return Ok(url),
            None => return Err(StdError::invalid("The address has no host")),
        };
        match check(reach(address), self.reaches_private) {
            Ok(()) => Ok(url),
            Err(_) => Err(StdError::denied("The address is private, or can never be reached")),
        }
    }

    /// Sends a POST request and returns the status of the response. Redirects are not followed; the body is ignored.
    ///
    /// # Errors
    /// The URL is refused, its host cannot be reached, or the response is too slow.
    pub async fn post(&self, url: &str, headers: HeaderMap, body: Bytes, timeout: Duration) -> Result<u16, StdError> {
        let exchange = async {
            let url = self.check(url)?;
            let request = self.connector()?.post(url.clone()).headers(headers).body(body);
            let mut response = request.send().await.map_err(|error| failure::of(&error, target::host(&url)))?;
            let status = response.status().as_u16();
            let mut read = 0;
            // The status is the answer, whatever becomes of the body.
            while let Ok(Some(chunk)) = response.chunk().await {
                read += chunk.len();
                if read > MAX_IGNORED_BYTES {
                    break;
                }
            }
            Ok::<u16, StdError>(status)
        };
        tokio::time::timeout(timeout, exchange).await.unwrap_or_else(|_| Err(failure::timed_out(timeout)))
    }

    fn connector(&self) -> Result<&reqwest::Client, StdError> {
        connector::get_or_build(&self.connector, &self.policy, &self.names)
    }
}

/// True for names that mean this machine (RFC 6761), so that a wrong URL is refused before anything is sent.
fn is_local(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}
