//! Network access of scripts: allowed hosts, methods and sizes.

use crate::domains::{DomainPattern, Host};
use crate::sanitize::sanitize;
use std::time::Duration;

/// Default size limit of responses and request bodies.
const MAX_BYTES: u64 = 10 << 20;
/// Default timeout of a whole response.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Network access of scripts. No host is allowed by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkPolicy {
    /// Network access is enabled.
    pub enabled: bool,
    /// Allowed hosts.
    pub domains: Vec<DomainPattern>,
    /// Blocked hosts; takes precedence over `domains`.
    pub blocked: Vec<DomainPattern>,
    /// Hosts that may resolve to a private address such as `10.0.0.1`. They must be in `domains` too.
    pub private: Vec<DomainPattern>,
    /// Allowed HTTP methods, or all.
    pub methods: Option<Vec<String>>,
    /// Largest response body.
    pub max_response_bytes: u64,
    /// Largest request body.
    pub max_request_bytes: u64,
    /// Timeout of a whole response.
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

/// Refusal of a request, worded for the script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkRefusal {
    /// Network access is disabled.
    #[error("Network access is disabled")]
    Disabled,
    /// The host is blocked.
    #[error("Domain \"{0}\" is blocked")]
    Blocked(String),
    /// The host is not allowed.
    #[error("Domain \"{0}\" is not allowed")]
    Unlisted(String),
    /// The method is not allowed.
    #[error("Method {0} is not allowed")]
    Method(String),
}

impl NetworkPolicy {
    /// Checks a request of this method to this host. A redirect is a new request.
    ///
    /// # Errors
    /// The first check that fails.
    pub fn check(&self, method: &str, host: &str) -> Result<(), NetworkRefusal> {
        if !self.enabled {
            return Err(NetworkRefusal::Disabled);
        }
        // An invalid host is on no list.
        let Some(host) = Host::parse(host) else { return Err(NetworkRefusal::Unlisted(sanitize(host))) };
        if self.blocked.iter().any(|pattern| pattern.covers(&host)) {
            return Err(NetworkRefusal::Blocked(host.to_string()));
        }
        if !self.domains.iter().any(|pattern| pattern.allows(&host)) {
            return Err(NetworkRefusal::Unlisted(host.to_string()));
        }
        let is_listed = |methods: &Vec<String>| methods.iter().any(|listed| listed.eq_ignore_ascii_case(method));
        if self.methods.as_ref().is_some_and(|methods| !is_listed(methods)) {
            return Err(NetworkRefusal::Method(sanitize(&method.to_ascii_uppercase())));
        }
        Ok(())
    }

    /// True if the host may resolve to a private address. Addresses that scripts never need, such as a cloud's metadata
    /// service, stay blocked.
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
    fn only_listed_hosts_and_methods_are_allowed() {
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
    fn the_first_failed_check_is_reported() {
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
    fn a_star_allows_every_name_and_blocks_every_host_and_address() {
        let all = NetworkPolicy { domains: patterns(&["*"]), methods: None, ..policy() };
        assert_eq!(all.check("DELETE", "any.where"), Ok(()));
        assert!(all.check("GET", "127.0.0.1").unwrap_err().to_string().ends_with("is not allowed"));
        let none = NetworkPolicy { blocked: patterns(&["*"]), ..policy() };
        for host in ["api.example.com", "10.0.0.1"] {
            assert!(none.check("GET", host).unwrap_err().to_string().ends_with("is blocked"), "{host}");
        }
    }
}
