//! HTTP headers for a remote server from the configuration.

use super::address;
use crate::{ConnectError, Context, RemoteEndpoint, ServerSettings};
use agent_spaces_secrets::Secret;
use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION};
use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

/// Headers that the protocols set in each request.
const OWN: [&str; 12] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "keep-alive",
    "last-event-id",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
];

/// Prefixes of headers that the protocols set.
const OWN_PREFIXES: [&str; 2] = ["mcp-", "sec-websocket-"];

const CREDENTIALS: [HeaderName; 3] = [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION];

/// Returns the headers of every request to this server. A configured `Authorization` overrides the bearer token.
///
/// Headers that the protocol sets are left out with a warning, because many configurations repeat them.
pub(super) fn of(
    settings: &ServerSettings,
    endpoint: &RemoteEndpoint,
    address: &Url,
    bearer: Option<&Secret>,
    context: &Context,
) -> Result<HeaderMap, ConnectError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &endpoint.headers {
        let header = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| ConnectError::Failed(format!("invalid header name `{name}`")))?;
        if is_own(&header) {
            context.warn(
                &settings.name,
                &format!("header `{name}` is set by the protocol; the configured one is ignored"),
            );
            continue;
        }
        let value = sensitive(value.expose())
            .ok_or_else(|| ConnectError::Failed(format!("invalid value of the header `{name}`")))?;
        if headers.insert(header, value).is_some() {
            return Err(ConnectError::Failed(format!("duplicate header `{name}`")));
        }
    }
    if let Some(token) = bearer
        && !headers.contains_key(AUTHORIZATION)
    {
        headers.insert(AUTHORIZATION, bearer_value(token.expose(), address)?);
    }
    if !address::is_confidential(address) && CREDENTIALS.iter().any(|name| headers.contains_key(name)) {
        return Err(ConnectError::Failed(address::refuse_plain(address)));
    }
    Ok(headers)
}

/// Returns the value of `Authorization` for a bearer token.
pub(super) fn bearer_value(token: &str, address: &Url) -> Result<HeaderValue, ConnectError> {
    if !address::is_confidential(address) {
        return Err(ConnectError::Failed(address::refuse_plain(address)));
    }
    let value = if token.is_empty() { None } else { sensitive(&format!("Bearer {token}")) };
    value.ok_or_else(|| ConnectError::Failed("its bearer token is empty or contains invalid characters".to_owned()))
}

fn sensitive(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn is_own(name: &HeaderName) -> bool {
    OWN.contains(&name.as_str()) || OWN_PREFIXES.iter().any(|prefix| name.as_str().starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Auth, Endpoint, Warnings};
    use std::sync::{Arc, Mutex};

    fn headers_of(
        url: &str,
        headers: &[(&str, &str)],
        bearer: Option<&str>,
        context: &Context,
    ) -> Result<HeaderMap, String> {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value))).collect();
        let endpoint = RemoteEndpoint { url: Secret::new(url), headers, auth: Auth::None };
        let settings = ServerSettings::new("s", Endpoint::Http(endpoint.clone()));
        let address = address::parse(&endpoint.url, address::HTTP).unwrap();
        let bearer = bearer.map(Secret::new);
        of(&settings, &endpoint, &address, bearer.as_ref(), context).map_err(|error| error.to_string())
    }

    fn read(url: &str, headers: &[(&str, &str)], bearer: Option<&str>) -> Result<HeaderMap, String> {
        headers_of(url, headers, bearer, &Context::default())
    }

    #[test]
    fn values_are_sent_but_not_shown() {
        let headers = read("https://a.example/", &[("X-Key", "hush-hush")], Some("token-hush")).unwrap();
        assert_eq!(
            (&headers["x-key"], &headers[AUTHORIZATION]),
            (&"hush-hush".parse().unwrap(), &"Bearer token-hush".parse().unwrap())
        );
        assert!(!format!("{headers:?}").contains("hush"));
    }

    #[test]
    fn a_configured_authorization_wins_over_the_token() {
        let headers = read("https://a.example/", &[("authorization", "Basic abc")], Some("token")).unwrap();
        assert_eq!(headers.get_all(AUTHORIZATION).iter().collect::<Vec<_>>(), ["Basic abc"]);
    }

    #[test]
    fn credentials_are_not_sent_unencrypted() {
        let plain = "http://a.example/";
        for (headers, bearer) in
            [(&[("Authorization", "Basic abc")][..], None), (&[("Cookie", "a=b")], None), (&[], Some("token"))]
        {
            let error = read(plain, headers, bearer).unwrap_err();
            assert!(error.contains("use `https:`"), "{error}");
            read("http://127.0.0.1/", headers, bearer).unwrap();
        }
        read(plain, &[("X-Tenant", "a")], None).unwrap();
    }

    #[test]
    fn bad_headers_are_named_but_their_values_are_not() {
        for (headers, expected) in [
            (&[("a b", "hush")][..], "`a b`"),
            (&[("X-Key", "hush\r\nX-Other: 1")], "`X-Key`"),
            (&[("X-Key", "hush"), ("x-key", "hush")], "duplicate header `x-key`"),
        ] {
            let error = read("https://a.example/", headers, None).unwrap_err();
            assert!(error.contains(expected) && !error.contains("hush"), "{error}");
        }
        assert!(read("https://a.example/", &[], Some("hush\n")).is_err_and(|error| !error.contains("hush")));
    }

    #[test]
    fn headers_of_the_protocol_are_left_out_with_a_warning() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let sink = told.clone();
        let warnings = Warnings::to(move |text| sink.lock().unwrap().push(text.to_string()));
        let context = Context { warnings, ..Context::default() };
        let given = [("Accept", "x"), ("Mcp-Session-Id", "x"), ("X-Mine", "x")];
        let headers = headers_of("https://a.example/", &given, None, &context).unwrap();
        assert_eq!(headers.keys().collect::<Vec<_>>(), ["x-mine"]);
        let told = told.lock().unwrap();
        assert!(told.len() == 2 && told[0].contains("`Accept`"), "{told:?}");
    }
}
