//! URL parsing and policy check of a request.

use super::address::reach;
use super::resolver::check as check_reach;
use crate::error::StdError;
use crate::refused::RefusalReason;
use agent_spaces_policy::NetworkPolicy;
use reqwest::Method;
use std::net::IpAddr;
use url::{Host, Url};

/// Longest URL. Servers accept about eight thousand characters.
const MAX_URL: usize = 16 << 10;

/// Longest valid host name.
const MAX_HOST: usize = 253;

/// Parses a URL, relative to `base` if given. Errors never contain it: its query may hold a key.
pub(super) fn read(text: &str, base: Option<&Url>) -> Result<Url, StdError> {
    if text.len() > MAX_URL {
        return Err(StdError::invalid(format!("The address has more than {MAX_URL} characters")));
    }
    let mut url = Url::options()
        .base_url(base)
        .parse(text)
        .map_err(|error| StdError::invalid(format!("The address cannot be read: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        let scheme: String = url.scheme().chars().take(20).collect();
        return Err(StdError::invalid(format!("The address begins with {scheme}:, which is not http: or https:")));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(StdError::invalid(
            "The address holds a user name or password: send them in an authorization header instead",
        ));
    }
    url.set_fragment(None);
    plain_host(&mut url)?;
    Ok(url)
}

/// Removes a trailing dot, so that a host has one spelling.
fn plain_host(url: &mut Url) -> Result<(), StdError> {
    let Some(Host::Domain(name)) = url.host() else { return Ok(()) };
    let bad_host = || StdError::invalid("The address has an invalid host name");
    let plain = name.strip_suffix('.').unwrap_or(name).to_owned();
    if plain.len() > MAX_HOST || plain.split('.').any(str::is_empty) {
        return Err(bad_host());
    }
    if plain.len() != name.len() {
        url.set_host(Some(&plain)).map_err(|_| bad_host())?;
    }
    Ok(())
}

/// Checks a request against the policy. The addresses of a name are checked when it is resolved.
pub(super) fn check(policy: &NetworkPolicy, method: &Method, url: &Url) -> Result<(), StdError> {
    let host = host(url);
    policy
        .check(method.as_str(), host)
        .map_err(|refusal| StdError::refused(refusal.to_string(), host, RefusalReason::Policy(refusal)))?;
    // A literal IP address bypasses the resolver, so check it here.
    let address: Option<IpAddr> = match url.host() {
        Some(Host::Ipv4(address)) => Some(address.into()),
        Some(Host::Ipv6(address)) => Some(address.into()),
        Some(Host::Domain(_)) | None => None,
    };
    let Some(address) = address else { return Ok(()) };
    check_reach(reach(address), policy.allows_private(host))
        .map_err(|reason| StdError::refused(format!("\"{host}\" is a private address"), host, reason))
}

/// Returns the host for messages.
pub(super) fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}
