//! Server that a login is for, and the check of URLs that may get its tokens.

use crate::transport::address;
use crate::{Auth, OAuthClient, RemoteEndpoint};
use rmcp::transport::auth::{AuthError, AuthorizationManager};
use std::net::IpAddr;
use std::time::Duration;
use url::{Host, Url};

/// Timeout of a DNS lookup.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// Server that tokens are for.
pub(super) struct Target<'a> {
    /// Name in the configuration.
    pub(super) name: &'a str,
    /// Its endpoint.
    pub(super) endpoint: &'a RemoteEndpoint,
    /// Its complete HTTP URL.
    pub(super) address: Url,
    /// Its URL without query and user, which may be secret: the key of stored tokens and the `resource` of requests.
    pub(super) url: Url,
}

impl<'a> Target<'a> {
    /// Creates a target; returns an error text if the URL is invalid.
    pub(super) fn new(name: &'a str, endpoint: &'a RemoteEndpoint) -> Result<Target<'a>, &'static str> {
        const BAD: &str = "its `url` is not a valid http, https, ws or wss URL";
        let mut address = Url::parse(endpoint.url.expose()).map_err(|_| BAD)?;
        match address.scheme() {
            "http" | "https" => {}
            "ws" => address.set_scheme("http").map_err(|()| BAD)?,
            "wss" => address.set_scheme("https").map_err(|()| BAD)?,
            _ => return Err(BAD),
        }
        address.set_fragment(None);
        let mut url = address.clone();
        url.set_query(None);
        url.set_username("").map_err(|()| BAD)?;
        url.set_password(None).map_err(|()| BAD)?;
        Ok(Target { name, endpoint, address, url })
    }

    /// Returns the configured OAuth client.
    pub(super) fn client(&self) -> OAuthClient {
        match &self.endpoint.auth {
            Auth::OAuthClient(client) => client.clone(),
            _ => OAuthClient::default(),
        }
    }
}

/// Returns true for https and for loopback.
pub(super) fn is_safe(url: &Url) -> bool {
    address::HTTP.contains(&url.scheme()) && address::is_confidential(url)
}

/// Creates rmcp's authorization manager. Only a server in a private network may direct us to hosts in one.
pub(super) async fn manager(url: &Url, is_private: bool) -> Result<AuthorizationManager, AuthError> {
    crate::transport::tls::install_provider();
    if is_private {
        AuthorizationManager::new_allowing_private_addresses(url.clone()).await
    } else {
        AuthorizationManager::new(url.clone()).await
    }
}

/// Returns true if a server that answered from `peer` is in a private network. A DNS lookup of its name alone is no
/// proof: the owner of the name can answer each lookup differently.
pub(super) async fn is_private(url: &Url, peer: Option<IpAddr>) -> bool {
    if !peer.is_some_and(is_private_address) {
        return false;
    }
    let (Some(Host::Domain(host)), Some(port)) = (url.host(), url.port_or_known_default()) else { return false };
    let Ok(Ok(addresses)) = tokio::time::timeout(LOOKUP_TIMEOUT, tokio::net::lookup_host((host, port))).await else {
        return false;
    };
    let mut addresses = addresses.map(|address| is_private_address(address.ip()));
    addresses.next() == Some(true) && addresses.all(|private| private)
}

fn is_private_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_private(),
        IpAddr::V6(address) => address.is_unique_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_secrets::Secret;
    use std::collections::BTreeMap;

    fn endpoint(url: &str) -> RemoteEndpoint {
        RemoteEndpoint { url: Secret::new(url), headers: BTreeMap::new(), auth: Auth::OAuth }
    }

    #[test]
    fn secrets_in_a_url_are_not_part_of_the_resource() {
        let endpoint = endpoint("wss://me:password@Example.com:443/mcp?key=hidden#part");
        let target = Target::new("slack", &endpoint).unwrap();
        assert_eq!(target.url.as_str(), "https://example.com/mcp");
        assert_eq!(target.address.as_str(), "https://me:password@example.com/mcp?key=hidden");
    }

    #[test]
    fn errors_do_not_quote_the_url() {
        for url in ["file:///etc/passwd", "hidden", "ftp://hidden/"] {
            let message = Target::new("slack", &endpoint(url)).err().unwrap();
            assert!(!message.contains("hidden"), "{message}");
        }
    }

    #[tokio::test]
    async fn a_name_alone_does_not_put_a_server_into_a_private_network() {
        let url = Url::parse("https://example.com/").unwrap();
        for peer in [None, Some("93.184.216.34"), Some("127.0.0.1"), Some("169.254.169.254")] {
            assert!(!is_private(&url, peer.map(|peer| peer.parse().unwrap())).await, "{peer:?}");
        }
    }

    #[test]
    fn only_https_and_loopback_are_safe() {
        for (url, safe) in [
            ("https://example.com/", true),
            ("http://127.0.0.1:80/", true),
            ("http://[::1]/", true),
            ("http://[::ffff:127.0.0.1]/", true),
            ("http://localhost/", true),
            ("http://localhost./", true),
            ("http://example.com/", false),
            ("http://localhost.example.com/", false),
            ("http://10.0.0.1/", false),
            ("wss://example.com/", false),
            ("ftp://127.0.0.1/", false),
            ("javascript:alert(1)", false),
            ("file:///tmp/x", false),
        ] {
            assert_eq!(is_safe(&Url::parse(url).unwrap()), safe, "{url}");
        }
    }
}
