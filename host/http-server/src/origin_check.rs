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

    /// Returns true if a request has no origin, the server's own, a loopback origin or an allowed one. Call it after
    /// [`is_host_open`](OriginCheck::is_host_open): with DNS rebinding, a foreign page has the origin that `Host` names.
    pub(crate) fn is_origin_open(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(ORIGIN).iter();
        match (given.next(), given.next()) {
            (None, None) => true,
            (Some(value), None) => value.to_str().ok().and_then(|text| Url::parse(text).ok()).is_some_and(|url| {
                let is_web = matches!(url.scheme(), "http" | "https");
                let is_own = url.host().is_some_and(|host| {
                    let host = host.to_owned();
                    is_localhost(&host) || address(&host).is_some_and(|address| address.is_loopback())
                });
                (is_web && is_own) || self.origins.contains(&url.origin()) || is_of_host(&url, uri, headers)
            }),
            _ => false,
        }
    }
}

/// Returns true if a request has no `Origin`, or the one of the host and port that it is sent to.
pub(crate) fn is_same_origin(uri: &Uri, headers: &HeaderMap) -> bool {
    let mut given = headers.get_all(ORIGIN).iter();
    match (given.next(), given.next()) {
        (None, None) => true,
        (Some(value), None) => {
            let origin = value.to_str().ok().and_then(|text| Url::parse(text).ok());
            origin.is_some_and(|origin| is_of_host(&origin, uri, headers))
        }
        _ => false,
    }
}

/// Returns true if an origin has the host and port that a request is sent to. A proxy may have ended TLS, so that only the
/// origin knows the scheme.
fn is_of_host(origin: &Url, uri: &Uri, headers: &HeaderMap) -> bool {
    let default_port = match origin.scheme() {
        "http" => 80,
        "https" => 443,
        _ => return false,
    };
    let asked = match (uri.authority(), headers.get(HOST)) {
        (Some(authority), _) => named(authority.as_str(), default_port),
        (None, Some(value)) => value.to_str().ok().and_then(|text| named(text, default_port)),
        (None, None) => None,
    };
    let own = origin.host().map(|host| (host.to_owned(), origin.port().unwrap_or(default_port)));
    asked.is_some() && asked == own
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
        let is_open = |origin_check: &OriginCheck, values: &[&str]| {
            origin_check.is_origin_open(&Uri::from_static("/mcp"), &headers(ORIGIN, values))
        };
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

    #[test]
    fn the_origin_of_the_server_itself_is_allowed_and_no_other_of_its_host() {
        let origin_check = OriginCheck::new(true);
        let sent = |host: &str, origin: &str| {
            let mut sent = headers(HOST, &[host]);
            sent.insert(ORIGIN, origin.parse().unwrap());
            sent
        };
        let uri = Uri::from_static("/v1/me");
        for (host, origin) in [
            ("10.0.0.1:7878", "http://10.0.0.1:7878"),
            ("tools.example.com", "https://tools.example.com"),
            ("tools.example.com:8443", "https://TOOLS.example.com:8443"),
            ("[::1]:7878", "http://[::1]:7878"),
        ] {
            let sent = sent(host, origin);
            assert!(is_same_origin(&uri, &sent) && origin_check.is_origin_open(&uri, &sent), "{host} {origin}");
        }
        for (host, origin) in [
            ("10.0.0.1:7878", "http://10.0.0.1:3000"),
            ("10.0.0.1:7878", "http://10.0.0.2:7878"),
            ("10.0.0.1:7878", "http://10.0.0.1"),
            ("tools.example.com", "http://tools.example.com:443"),
            ("tools.example.com", "ftp://tools.example.com"),
            ("tools.example.com", "null"),
        ] {
            let sent = sent(host, origin);
            assert!(!is_same_origin(&uri, &sent) && !origin_check.is_origin_open(&uri, &sent), "{host} {origin}");
        }
        // Other pages of this machine may send tokens, but are other origins.
        let other = sent("localhost:7878", "http://localhost:3000");
        assert!(origin_check.is_origin_open(&uri, &other) && !is_same_origin(&uri, &other));
        assert!(is_same_origin(&uri, &headers(HOST, &["localhost"])), "no page calls");
    }
}
