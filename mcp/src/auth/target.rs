//! What a login is for, and which addresses are trusted with it.

use crate::transport::address;
use crate::{Auth, OAuthClient, RemoteEndpoint};
use rmcp::transport::auth::{AuthError, AuthorizationManager};
use std::net::IpAddr;
use std::time::Duration;
use url::{Host, Url};

/// How long the name of a server may take to be looked up.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// A server that tokens are for.
pub(super) struct Target<'a> {
    /// Its name in the configuration.
    pub(super) name: &'a str,
    /// How it is reached.
    pub(super) endpoint: &'a RemoteEndpoint,
    /// Its address over HTTP, in full.
    pub(super) address: Url,
    /// The same without a query or a user, which may be secret: what tokens are kept under and asked for.
    pub(super) url: Url,
}

impl<'a> Target<'a> {
    /// The server at an endpoint, or what is wrong with its address.
    pub(super) fn new(name: &'a str, endpoint: &'a RemoteEndpoint) -> Result<Target<'a>, &'static str> {
        const BAD: &str = "its address is not a URL of http, https, ws or wss";
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

    /// What the configuration says about this client.
    pub(super) fn client(&self) -> OAuthClient {
        match &self.endpoint.auth {
            Auth::OAuthClient(client) => client.clone(),
            _ => OAuthClient::default(),
        }
    }
}

/// Whether nobody on the way can read what is sent to this address.
pub(super) fn is_safe(url: &Url) -> bool {
    address::HTTP.contains(&url.scheme()) && address::is_confidential(url)
}

/// rmcp's side of the login at a server. A server on the internet cannot make us ask hosts of a private network; one
/// that is in a private network itself can.
pub(super) async fn manager(url: &Url, is_private: bool) -> Result<AuthorizationManager, AuthError> {
    crate::transport::tls::install_provider();
    if is_private {
        AuthorizationManager::new_allowing_private_addresses(url.clone()).await
    } else {
        AuthorizationManager::new(url.clone()).await
    }
}

/// Whether a server that answered us from `peer` is in a private network. Its name alone does not say so: who has it
/// chooses what it stands for, each time that somebody looks.
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
    use crate::secrets::Secret;
    use std::collections::BTreeMap;

    fn endpoint(url: &str) -> RemoteEndpoint {
        RemoteEndpoint { url: Secret::new(url), headers: BTreeMap::new(), auth: Auth::OAuth }
    }

    #[test]
    fn what_may_be_secret_in_an_address_is_not_part_of_what_tokens_are_for() {
        let endpoint = endpoint("wss://me:password@Example.com:443/mcp?key=hidden#part");
        let target = Target::new("slack", &endpoint).unwrap();
        assert_eq!(target.url.as_str(), "https://example.com/mcp");
        assert_eq!(target.address.as_str(), "https://me:password@example.com/mcp?key=hidden");
    }

    #[test]
    fn an_address_that_cannot_be_used_is_not_repeated() {
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
