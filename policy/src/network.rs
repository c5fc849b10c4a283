//! Which hosts scripts may reach, and how.

use crate::domains::{DomainPattern, Host};
use crate::shown::shown;
use std::time::Duration;

/// Largest answer, and largest body of a request, where nothing else is said.
const MAX_BYTES: u64 = 10 << 20;
/// Longest wait for an answer, where nothing else is said.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Which hosts scripts may reach, and how. By default none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkPolicy {
    /// Whether any host may be reached.
    pub enabled: bool,
    /// The hosts that may be reached.
    pub domains: Vec<DomainPattern>,
    /// The hosts that may not, though they be among `domains`.
    pub blocked: Vec<DomainPattern>,
    /// The hosts that may have an address of an inner network, such as `10.0.0.1`. They must be among `domains` too.
    pub private: Vec<DomainPattern>,
    /// The methods of requests that may be sent, or all of them.
    pub methods: Option<Vec<String>>,
    /// The largest answer.
    pub max_response_bytes: u64,
    /// The largest body of a request.
    pub max_request_bytes: u64,
    /// The longest wait for a whole answer.
    pub timeout: Duration,
}

impl Default for NetworkPolicy {
    fn default() -> NetworkPolicy {
        NetworkPolicy {
            enabled: false,
            domains: Vec::new(),
            blocked: Vec::new(),
            private: Vec::new(),
            methods: None,
            max_response_bytes: MAX_BYTES,
            max_request_bytes: MAX_BYTES,
            timeout: TIMEOUT,
        }
    }
}

/// Why a request may not be sent, in words for who asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkRefusal {
    /// No host may be reached.
    #[error("Network access is disabled")]
    Disabled,
    /// The host is among those that may not be reached.
    #[error("Domain \"{0}\" is blocked")]
    Blocked(String),
    /// The host is not among those that may be reached.
    #[error("Domain \"{0}\" is not allowed")]
    Unlisted(String),
    /// The method is not among those that may be sent.
    #[error("Method {0} is not allowed")]
    Method(String),
}

impl NetworkPolicy {
    /// Whether a request of this method may go to this host. A redirect is a request of its own.
    ///
    /// # Errors
    /// The first reason why it may not.
    pub fn check(&self, method: &str, host: &str) -> Result<(), NetworkRefusal> {
        if !self.enabled {
            return Err(NetworkRefusal::Disabled);
        }
        // What is no host is not on any list either.
        let Some(host) = Host::parse(host) else { return Err(NetworkRefusal::Unlisted(shown(host))) };
        if self.blocked.iter().any(|pattern| pattern.covers(&host)) {
            return Err(NetworkRefusal::Blocked(host.to_string()));
        }
        if !self.domains.iter().any(|pattern| pattern.allows(&host)) {
            return Err(NetworkRefusal::Unlisted(host.to_string()));
        }
        let is_listed = |methods: &Vec<String>| methods.iter().any(|listed| listed.eq_ignore_ascii_case(method));
        if self.methods.as_ref().is_some_and(|methods| !is_listed(methods)) {
            return Err(NetworkRefusal::Method(shown(&method.to_ascii_uppercase())));
        }
        Ok(())
    }

    /// Whether a host may have an address of an inner network. Addresses that no script has business with, such as
    /// that of a cloud's metadata, stay closed.
    pub fn allows_private(&self, host: &str) -> bool {
        Host::parse(host).is_some_and(|host| self.private.iter().any(|pattern| pattern.allows(&host)))
    }
}

#[cfg(test)]
mod tests {
    use super::NetworkPolicy;
    use crate::domains::DomainPattern;

    fn patterns(texts: &[&str]) -> Vec<DomainPattern> {
        texts.iter().map(|text| DomainPattern::parse(text).unwrap()).collect()
    }

    fn policy() -> NetworkPolicy {
        NetworkPolicy {
            enabled: true,
            domains: patterns(&["api.example.com", "*.acme.com", "10.0.0.1"]),
            blocked: patterns(&["evil.acme.com", "*.evil.acme.com"]),
            methods: Some(vec!["GET".into(), "HEAD".into()]),
            ..NetworkPolicy::default()
        }
    }

    #[test]
    fn what_is_listed_is_reached_and_the_rest_is_not() {
        let policy = policy();
        let check = |method: &str, host: &str| policy.check(method, host).map_err(|refusal| refusal.to_string());
        for (method, host) in [("GET", "api.example.com"), ("get", "API.EXAMPLE.COM."), ("HEAD", "a.b.acme.com")] {
            assert_eq!(check(method, host), Ok(()), "{method} {host}");
        }
        for (method, host, message) in [
            ("GET", "example.com", "Domain \"example.com\" is not allowed"),
            ("GET", "ACME.com", "Domain \"acme.com\" is not allowed"),
            ("GET", "evil.acme.com", "Domain \"evil.acme.com\" is blocked"),
            ("GET", "EVIL.acme.com.", "Domain \"evil.acme.com\" is blocked"),
            ("GET", "x.evil.acme.com", "Domain \"x.evil.acme.com\" is blocked"),
            ("GET", "10.0.0.2", "Domain \"10.0.0.2\" is not allowed"),
            ("GET", "", "Domain \"\" is not allowed"),
            ("GET", "a\u{1b}[2J", "Domain \"a<U+001B>[2J\" is not allowed"),
            ("post", "api.example.com", "Method POST is not allowed"),
            ("GE\nT", "api.example.com", "Method GE<U+000A>T is not allowed"),
        ] {
            assert_eq!(check(method, host), Err(message.to_owned()), "{method} {host}");
        }
    }

    #[test]
    fn the_first_reason_is_the_one_that_is_told() {
        let mut policy = policy();
        // Blocked before not allowed, both before the method.
        policy.blocked = patterns(&["elsewhere.org"]);
        assert_eq!(
            policy.check("POST", "elsewhere.org").unwrap_err().to_string(),
            "Domain \"elsewhere.org\" is blocked"
        );
        assert_eq!(policy.check("POST", "other.org").unwrap_err().to_string(), "Domain \"other.org\" is not allowed");
        policy.enabled = false;
        assert_eq!(policy.check("POST", "elsewhere.org").unwrap_err().to_string(), "Network access is disabled");
        assert_eq!(
            NetworkPolicy::default().check("GET", "a.com").unwrap_err().to_string(),
            "Network access is disabled"
        );
    }

    #[test]
    fn a_star_allows_every_name_and_blocks_every_host() {
        let all = NetworkPolicy { domains: patterns(&["*"]), methods: None, ..policy() };
        assert_eq!(all.check("DELETE", "any.where"), Ok(()));
        assert!(all.check("GET", "127.0.0.1").unwrap_err().to_string().ends_with("is not allowed"));
        let none = NetworkPolicy { blocked: patterns(&["*"]), ..policy() };
        for host in ["api.example.com", "10.0.0.1"] {
            assert!(none.check("GET", host).unwrap_err().to_string().ends_with("is blocked"), "{host}");
        }
    }
}
