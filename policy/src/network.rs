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

impl NetworkPolicy {
    /// Whether a request of this method may go to this host, or what to tell who asked. A redirect is a request of
    /// its own.
    pub fn check(&self, method: &str, host: &str) -> Result<(), String> {
        if !self.enabled {
            return Err("Network access is disabled".to_owned());
        }
        // What is no host is not on any list either.
        let Some(host) = Host::parse(host) else { return Err(not_allowed(&shown(host))) };
        if self.blocked.iter().any(|pattern| pattern.covers(&host)) {
            return Err(format!("Domain \"{host}\" is blocked"));
        }
        if !self.domains.iter().any(|pattern| pattern.allows(&host)) {
            return Err(not_allowed(&host.to_string()));
        }
        let is_listed = |methods: &Vec<String>| methods.iter().any(|listed| listed.eq_ignore_ascii_case(method));
        if self.methods.as_ref().is_some_and(|methods| !is_listed(methods)) {
            return Err(format!("Method {} is not allowed", shown(&method.to_ascii_uppercase())));
        }
        Ok(())
    }

    /// Whether a host may have an address of an inner network. Addresses that no script has business with, such as
    /// that of a cloud's metadata, stay closed.
    pub fn allows_private(&self, host: &str) -> bool {
        Host::parse(host).is_some_and(|host| self.private.iter().any(|pattern| pattern.allows(&host)))
    }
}

fn not_allowed(host: &str) -> String {
    format!("Domain \"{host}\" is not allowed")
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
        for (method, host) in [("GET", "api.example.com"), ("get", "API.EXAMPLE.COM."), ("HEAD", "a.b.acme.com")] {
            assert_eq!(policy.check(method, host), Ok(()), "{method} {host}");
        }
        for (method, host, message) in [
            ("GET", "example.com", "Domain \"example.com\" is not allowed"),
            ("GET", "ACME.com", "Domain \"acme.com\" is not allowed"),
            ("GET", "evil.acme.com", "Domain \"evil.acme.com\" is blocked"),
            ("GET", "EVIL.acme.com.", "Domain \"evil.acme.com\" is blocked"),
            ("GET", "x.evil.acme.com", "Domain \"x.evil.acme.com\" is blocked"),
            ("GET", "10.0.0.2", "Domain \"10.0.0.2\" is not allowed"),
            ("GET", "", "Domain \"\" is not allowed"),
            ("GET", "a\u{1b}[2J", "Domain \"a\\u{1b}[2J\" is not allowed"),
            ("post", "api.example.com", "Method POST is not allowed"),
            ("GE\nT", "api.example.com", "Method GE\\nT is not allowed"),
        ] {
            assert_eq!(policy.check(method, host), Err(message.to_owned()), "{method} {host}");
        }
    }

    #[test]
    fn the_first_reason_is_the_one_that_is_told() {
        let mut policy = policy();
        // Blocked before not allowed, both before the method.
        policy.blocked = patterns(&["elsewhere.org"]);
        assert_eq!(policy.check("POST", "elsewhere.org").unwrap_err(), "Domain \"elsewhere.org\" is blocked");
        assert_eq!(policy.check("POST", "other.org").unwrap_err(), "Domain \"other.org\" is not allowed");
        policy.enabled = false;
        assert_eq!(policy.check("POST", "elsewhere.org").unwrap_err(), "Network access is disabled");
        assert_eq!(NetworkPolicy::default().check("GET", "a.com").unwrap_err(), "Network access is disabled");
    }

    #[test]
    fn a_star_allows_every_name_and_blocks_every_host() {
        let all = NetworkPolicy { domains: patterns(&["*"]), methods: None, ..policy() };
        assert_eq!(all.check("DELETE", "any.where"), Ok(()));
        assert!(all.check("GET", "127.0.0.1").unwrap_err().ends_with("is not allowed"));
        let none = NetworkPolicy { blocked: patterns(&["*"]), ..policy() };
        for host in ["api.example.com", "10.0.0.1"] {
            assert!(none.check("GET", host).unwrap_err().ends_with("is blocked"), "{host}");
        }
    }
}
