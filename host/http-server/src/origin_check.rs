//! Checks of the `Host` and `Origin` headers: protection against DNS rebinding and cross-site requests.

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, Uri};
use std::net::IpAddr;
use url::{Host, Url};

/// Allowed hosts and origins of requests.
#[derive(Clone, Debug, Default)]
pub struct OriginCheck {
    /// True if other machines may connect.
    is_remote: bool,
    hosts: Vec<String>,
    origins: Vec<url::Origin>,
}

/// Invalid origin or host name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OriginCheckError {
    /// The text is not an origin.
    #[error("invalid origin `{0}`: write scheme, host and port, such as `https://app.example.com`")]
    Origin(String),
    /// The text is not a host name.
    #[error("invalid host name `{0}`: write the name alone, such as `tools.example.com`")]
    Host(String),
}

impl OriginCheck {
    /// Allows the loopback host only, or any IP address if `is_remote`.
    pub fn new(is_remote: bool) -> OriginCheck {
        OriginCheck { is_remote, ..OriginCheck::default() }
    }

    /// Allows requests from pages of this origin.
    pub fn allow_origin(&mut self, text: &str) -> Result<(), OriginCheckError> {
        let refused = || OriginCheckError::Origin(text.to_owned());
        let url = Url::parse(text).map_err(|_| refused())?;
        let origin = url.origin();
        let is_bare = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
        if !origin.is_tuple() || !is_bare {
            return Err(refused());
        }
        self.origins.push(origin);
        Ok(())
    }

    /// Allows this host name in requests.
    pub fn allow_host(&mut self, text: &str) -> Result<(), OriginCheckError> {
        match Host::parse(text) {
            Ok(host) => self.hosts.push(host.to_string()),
            Err(_) => return Err(OriginCheckError::Host(text.to_owned())),
        }
        Ok(())
    }

    /// Returns true if the host of a request is allowed. With DNS rebinding, a page resolves its own host name to this
    /// machine, so the request names that host. A request may name the host in its target (`GET http://localhost/mcp`)
    /// and in `Host`: then both must be equal.
    pub(crate) fn is_host_open(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(HOST).iter();
        let port = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        let target = uri.authority().map(|authority| named(authority.as_str(), port));
        let header = match (given.next(), given.next()) {
            (Some(value), None) => Some(value.to_str().ok().and_then(|text| named(text, port))),
            (None, None) => None,
            _ => return false,
        };
        let host = match (target, header) {
            (Some(Some(target)), Some(Some(header))) if target == header => target.0,
            (Some(Some((host, _))), None) | (None, Some(Some((host, _)))) => host,
            _ => return false,
        };
        match address(&host) {
            // DNS rebinding needs a name, not an IP address.
            Some(address) => self.is_remote || address.is_loopback() || self.hosts.contains(&host.to_string()),
            None => is_localhost(&host) || self.hosts.contains(&host.to_string()),
        }
    }

    /// Returns true if a request has no origin, a loopback origin or an allowed one.
    pub(crate) fn is_origin_open(&self, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(ORIGIN).iter();
        match (given.next(), given.next()) {
            (None, None) => true,
            (Some(value), None) => value.to_str().ok().and_then(|text| Url::parse(text).ok()).is_some_and(|url| {
                let is_web = matches!(url.scheme(), "http" | "https");
                let is_own = url.host().is_some_and(|host| {
                    let host = host.to_owned();
                    is_localhost(&host) || address(&host).is_some_and(|address| address.is_loopback())
                });
                (is_web && is_own) || self.origins.contains(&url.origin())
            }),
            _ => false,
        }
    }
}

/// Parses `localhost:7878` to host and port. Refuses user information, which has no valid use there.
fn named(text: &str, default_port: u16) -> Option<(Host, u16)> {
    let authority = text.parse::<Authority>().ok().filter(|authority| !authority.as_str().contains('@'))?;
    Some((Host::parse(authority.host()).ok()?, authority.port_u16().unwrap_or(default_port)))
}

fn address(host: &Host) -> Option<IpAddr> {
    match host {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(IpAddr::V4(*address)),
        Host::Ipv6(address) => Some(IpAddr::V6(*address)),
    }
}

fn is_localhost(host: &Host) -> bool {
    matches!(host, Host::Domain(name) if name == "localhost")
}

#[cfg(test)]
mod tests {
    use crate::origin_check::*;

    fn headers(name: http::HeaderName, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(&name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn only_loopback_hosts_are_allowed_by_default() {
        let is_open = |origin_check: &OriginCheck, values: &[&str]| {
            origin_check.is_host_open(&Uri::from_static("/mcp"), &headers(HOST, values))
        };
        let mut origin_check = OriginCheck::new(false);
        for own in ["localhost", "LOCALHOST:80", "127.0.0.1:7878", "127.1.2.3", "[::1]:1"] {
            assert!(is_open(&origin_check, &[own]), "{own}");
        }
        for other in ["evil.example", "localhost.evil.example", "10.0.0.1", "0.0.0.0", "[fe80::1]", "", "a b"] {
            assert!(!is_open(&origin_check, &[other]), "{other}");
        }
        assert!(!is_open(&origin_check, &[]) && !is_open(&origin_check, &["localhost", "evil.example"]));
        origin_check.allow_host("Tools.Example.com").unwrap();
        assert!(is_open(&origin_check, &["tools.example.com:443"]) && !is_open(&origin_check, &["example.com"]));
        let remote = OriginCheck::new(true);
        assert!(is_open(&remote, &["10.0.0.1:7878"]) && !is_open(&remote, &["evil.example"]));
        assert!(origin_check.allow_host("https://x").is_err());
    }

    #[test]
    fn the_host_in_the_request_target_must_equal_the_host_header() {
        let origin_check = OriginCheck::new(false);
        let is_open =
            |target: &str, values: &[&str]| origin_check.is_host_open(&target.parse().unwrap(), &headers(HOST, values));
        for (target, host) in [
            ("http://localhost:7878/mcp", "localhost:7878"),
            ("http://LOCALHOST/mcp", "localhost:80"),
            ("https://127.0.0.1/mcp", "127.0.0.1:443"),
        ] {
            assert!(is_open(target, &[host]) && is_open(target, &[]), "{target} {host}");
        }
        for (target, host) in [
            ("http://evil.example/mcp", "localhost"),
            ("http://localhost/mcp", "evil.example"),
            ("http://localhost:7878/mcp", "localhost"),
            ("http://localhost:7878/mcp", "127.0.0.1:7878"),
            ("http://user@localhost/mcp", "localhost"),
            ("http://localhost/mcp", "user@localhost"),
            ("http://evil.example/mcp", "evil.example"),
        ] {
            assert!(!is_open(target, &[host]), "{target} {host}");
        }
        assert!(
            !is_open("http://evil.example/mcp", &[]) && !is_open("http://localhost/mcp", &["localhost", "localhost"])
        );
    }

    #[test]
    fn only_loopback_origins_are_allowed_by_default() {
        let is_open =
            |origin_check: &OriginCheck, values: &[&str]| origin_check.is_origin_open(&headers(ORIGIN, values));
        let mut origin_check = OriginCheck::new(false);
        assert!(is_open(&origin_check, &[]), "no page calls");
        for own in ["http://localhost:6274", "https://localhost", "http://127.0.0.1:1", "http://[::1]:2"] {
            assert!(is_open(&origin_check, &[own]), "{own}");
        }
        for other in
            ["null", "", "http://evil.example", "http://localhost.evil.example", "file://", "vscode://localhost"]
        {
            assert!(!is_open(&origin_check, &[other]), "{other}");
        }
        assert!(!is_open(&origin_check, &["http://localhost", "http://localhost"]));
        origin_check.allow_origin("https://app.example.com").unwrap();
        assert!(
            is_open(&origin_check, &["https://app.example.com:443"])
                && is_open(&origin_check, &["https://app.example.com"])
        );
        assert!(
            !is_open(&origin_check, &["http://app.example.com"])
                && !is_open(&origin_check, &["https://app.example.com:8443"])
        );
        for wrong in ["*", "app.example.com", "null", "https://x/path", "file:///x"] {
            assert!(origin_check.allow_origin(wrong).is_err(), "{wrong}");
        }
    }
}
