//! Host allowlist patterns (`api.example.com`, `*.example.com`, `*`) and matching.
//!
//! Pattern and requested host both go through the URL parser, so that there is one form to compare: lower case,
//! international names in Punycode, numbers such as `0x7f.1` as the IP address they denote.

use serde::{Serialize, Serializer};
use std::fmt;
use std::net::IpAddr;
use url::Host as Parsed;

/// Longest text that is parsed; host names have at most 253 characters.
const MAX_TEXT: usize = 1024;

/// A host in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Name(String),
    Address(IpAddr),
}

impl Host {
    /// Parses `api.example.com`, `10.0.0.1`, `::1` or `[::1]`; one trailing dot is ignored.
    pub(crate) fn parse(text: &str) -> Option<Host> {
        if text.len() > MAX_TEXT {
            return None;
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Host::Address(address.to_canonical()));
        }
        match Parsed::parse(text).ok()? {
            Parsed::Ipv4(address) => Some(Host::Address(address.into())),
            Parsed::Ipv6(address) => Some(Host::Address(IpAddr::from(address).to_canonical())),
            Parsed::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(&name);
                name.split('.').all(|label| !label.is_empty()).then(|| Host::Name(name.to_owned()))
            }
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => formatter.write_str(name),
            Host::Address(address) => address.fmt(formatter),
        }
    }
}

/// A host pattern: `api.example.com`, `*.example.com` or `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainPattern(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Every,
    Below(String),
    Only(Host),
}

/// Not a valid host pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a host: write a name such as `api.example.com`, `*.example.com` for its subdomains, an IP address such as \
     `203.0.113.7`, or `*`; without scheme, port or path"
)]
pub struct DomainError;

impl DomainPattern {
    /// Parses a host pattern.
    pub fn parse(text: &str) -> Result<DomainPattern, DomainError> {
        let kind = match (text, text.strip_prefix("*.")) {
            ("*", _) => Kind::Every,
            (_, Some(parent)) => match Host::parse(parent) {
                Some(Host::Name(parent)) if !parent.contains('*') => Kind::Below(parent),
                _ => return Err(DomainError),
            },
            _ => match Host::parse(text) {
                Some(Host::Name(name)) if name.contains('*') => return Err(DomainError),
                Some(host) => Kind::Only(host),
                None => return Err(DomainError),
            },
        };
        Ok(DomainPattern(kind))
    }

    /// `*`
    pub(crate) fn every() -> DomainPattern {
        DomainPattern(Kind::Every)
    }

    /// True if a requested host is allowed by this pattern. IP addresses must be listed literally: `*` does not allow
    /// them, since a bare address may be anything.
    pub(crate) fn allows(&self, host: &Host) -> bool {
        match (&self.0, host) {
            (Kind::Every, Host::Address(_)) => false,
            _ => self.covers(host),
        }
    }

    /// True if every host that `other` allows is allowed by this pattern.
    pub(crate) fn includes(&self, other: &DomainPattern) -> bool {
        match (&self.0, &other.0) {
            (_, Kind::Only(host)) => self.allows(host),
            (Kind::Every, Kind::Every | Kind::Below(_)) => true,
            (Kind::Below(parent), Kind::Below(below)) => below == parent || self.allows(&Host::Name(below.clone())),
            (Kind::Below(_) | Kind::Only(_), Kind::Every) | (Kind::Only(_), Kind::Below(_)) => false,
        }
    }

    /// True if the pattern matches the host, IP addresses included.
    pub(crate) fn covers(&self, host: &Host) -> bool {
        match (&self.0, host) {
            (Kind::Every, _) => true,
            (Kind::Below(parent), Host::Name(name)) => {
                name.strip_suffix(parent.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            (Kind::Below(_), Host::Address(_)) => false,
            (Kind::Only(only), _) => only == host,
        }
    }
}

impl fmt::Display for DomainPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Every => formatter.write_str("*"),
            Kind::Below(parent) => write!(formatter, "*.{parent}"),
            Kind::Only(host) => host.fmt(formatter),
        }
    }
}

impl Serialize for DomainPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{DomainPattern, Host};

    fn is_match(pattern: &str, host: &str) -> bool {
        DomainPattern::parse(pattern).unwrap().allows(&Host::parse(host).unwrap())
    }

    #[test]
    fn a_name_matches_itself_in_any_spelling() {
        for host in ["api.example.com", "API.Example.COM", "api.example.com.", "ａｐｉ.example.com", "api。example.com"]
        {
            assert!(is_match("api.example.com", host), "{host}");
            assert!(is_match(host, "api.example.com"), "{host}");
        }
        for host in
            ["example.com", "x.api.example.com", "api.example.com.evil.com", "apixexample.com", "api.example.co"]
        {
            assert!(!is_match("api.example.com", host), "{host}");
        }
        assert!(is_match("bücher.example", "xn--bcher-kva.example"));
        assert!(is_match("xn--bcher-kva.example", "BÜCHER.example"));
        // A Cyrillic а is another letter.
        assert!(!is_match("example.com", "ex\u{430}mple.com"));
    }

    #[test]
    fn a_wildcard_matches_subdomains_and_not_the_domain_itself() {
        for host in ["a.example.com", "a.b.c.example.com", "A.EXAMPLE.com."] {
            assert!(is_match("*.example.com", host), "{host}");
        }
        for host in ["example.com", "aexample.com", "a.example.com.evil.com", "a.example.org"] {
            assert!(!is_match("*.example.com", host), "{host}");
        }
    }

    #[test]
    fn ip_addresses_are_allowed_only_if_listed() {
        for (pattern, host) in [
            ("203.0.113.7", "203.0.113.7"),
            ("203.0.113.7", "0xcb.0.113.7"),
            ("203.0.113.7", "3405803783"),
            ("203.0.113.7", "[::ffff:203.0.113.7]"),
            ("2001:db8::1", "[2001:DB8:0::1]"),
            ("[2001:db8::1]", "2001:db8::1"),
        ] {
            assert!(is_match(pattern, host), "{pattern} {host}");
            assert!(!is_match("*", host), "{host}");
            assert!(DomainPattern::parse("*").unwrap().covers(&Host::parse(host).unwrap()), "{host}");
        }
        assert!(!is_match("203.0.113.7", "203.0.113.8"));
        assert!(is_match("*", "anything.example"));
    }

    #[test]
    fn a_pattern_includes_what_allows_no_more() {
        let includes =
            |one: &str, other: &str| DomainPattern::parse(one).unwrap().includes(&DomainPattern::parse(other).unwrap());
        for (one, other) in [
            ("*", "*"),
            ("*", "*.example.com"),
            ("*", "example.com"),
            ("*.example.com", "*.example.com"),
            ("*.example.com", "*.a.example.com"),
            ("*.example.com", "a.example.com"),
            ("example.com", "EXAMPLE.com."),
            ("10.0.0.1", "10.0.0.1"),
        ] {
            assert!(includes(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("*", "10.0.0.1"),
            ("*.example.com", "*"),
            ("*.example.com", "example.com"),
            ("*.example.com", "*.com"),
            ("*.example.com", "*.aexample.com"),
            ("*.example.com", "10.0.0.1"),
            ("example.com", "*.example.com"),
            ("example.com", "*"),
            ("10.0.0.1", "10.0.0.2"),
        ] {
            assert!(!includes(one, other), "{one} {other}");
        }
    }

    #[test]
    fn invalid_hosts_are_refused() {
        for text in [
            "",
            ".",
            "..",
            "*.",
            "*.*",
            "**",
            "a*.com",
            "*a.com",
            "a.*.com",
            "https://a.com",
            "a.com:443",
            "a.com/x",
            "a..com",
            ".a.com",
            "*..com",
            "a b.com",
            "a@b.com",
            "*.10.0.0.1",
            "*.1",
            "[::1",
            "a.com\0",
            "user:x@a.com",
            "a.com..",
            "256.0.0.1",
            "%2e",
        ] {
            assert!(DomainPattern::parse(text).is_err(), "{text}");
        }
        assert!(DomainPattern::parse(&"a.".repeat(4000)).is_err());
        assert_eq!(Host::parse("a..com"), None);
    }

    #[test]
    fn display_prints_the_canonical_form() {
        for (text, shown) in
            [("*", "*"), ("*.EXAMPLE.com.", "*.example.com"), ("[::1]", "::1"), ("Bücher.de", "xn--bcher-kva.de")]
        {
            assert_eq!(DomainPattern::parse(text).unwrap().to_string(), shown);
        }
    }
}
