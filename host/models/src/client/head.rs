//! URL and headers of a request.

use agent_spaces_secrets::Secret;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use url::{Host, Url};

use crate::ModelErrorKind::Configuration;
use crate::wire::{Framing, KeyHeader, WireRequest};
use crate::{ModelError, Provider};

/// Name of this program, with its version.
const PROGRAM: &str = concat!("agent-spaces/", env!("CARGO_PKG_VERSION"));
/// Headers by which OpenRouter attributes requests to a program.
const ATTRIBUTION: [(&str, &str); 2] =
    [("http-referer", env!("CARGO_PKG_REPOSITORY")), ("x-openrouter-title", "Agent Spaces")];

/// The URL: path and query of the format, appended to the provider's base URL.
pub(super) fn address(provider: &Provider, request: &WireRequest) -> Result<Url, ModelError> {
    let mut url = provider.base_url.clone();
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong("its base URL has to begin with `https://` or `http://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("its base URL contains a user name or password; use a key or a header instead"));
    }
    url.set_fragment(None);
    match url.path_segments_mut() {
        Ok(mut segments) => {
            segments.pop_if_empty().extend(&request.path);
        }
        Err(()) => return Err(wrong("paths cannot be appended to its base URL")),
    }
    if !request.query.is_empty() {
        url.query_pairs_mut().extend_pairs(&request.query);
    }
    Ok(url)
}

/// The headers: ours, the key, those of the format, and last those of the provider, which replace others.
pub(super) fn headers(provider: &Provider, request: &WireRequest, is_stream: bool) -> Result<HeaderMap, ModelError> {
    let accepted = match (is_stream, request.framing) {
        (true, Framing::Events) => "text/event-stream",
        (true, Framing::Lines) => "application/x-ndjson",
        (false, _) => "application/json",
    };
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static(PROGRAM));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static(accepted));
    if provider.openrouter {
        for (name, value) in ATTRIBUTION {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
    }
    if let Some(key) = &provider.key {
        // Files with a key end with a line feed.
        let key = key.expose().trim();
        let (name, value) = match request.key {
            KeyHeader::Bearer => ("authorization", Secret::new(format!("Bearer {key}"))),
            KeyHeader::Named(name) => (name, Secret::new(key)),
        };
        let Some(value) = sensitive(&value) else {
            return Err(wrong("its key contains a character that no header may contain"));
        };
        headers.insert(named(name)?, value);
    }
    for (name, value) in &request.headers {
        let Ok(value) = HeaderValue::try_from(value) else { return Err(unfit(name)) };
        headers.insert(named(name)?, value);
    }
    for header in &provider.headers {
        let name = named(&header.name)?;
        let Some(value) = sensitive(&header.value) else { return Err(unfit(name.as_str())) };
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Returns true if a server is on this machine, and so not reached through a proxy.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    }
}

fn named(name: &str) -> Result<HeaderName, ModelError> {
    HeaderName::try_from(name).map_err(|_| wrong("one of its headers has an invalid name"))
}

fn unfit(name: &str) -> ModelError {
    wrong(&format!("the value of its header {name} contains a character that no header may contain"))
}

fn sensitive(value: &Secret) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(value.expose()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn wrong(what: &str) -> ModelError {
    ModelError::new(Configuration, what)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::Value;

    use super::*;
    use crate::{Api, Header};

    fn provider(base: &str) -> Provider {
        Provider {
            name: "p".to_owned(),
            api: Api::OpenaiChat,
            base_url: Url::parse(base).unwrap(),
            key: Some(Secret::new("sk-1\n")),
            headers: Vec::new(),
            timeout: Duration::from_secs(1),
            openrouter: false,
        }
    }

    fn request(path: &[&str]) -> WireRequest {
        WireRequest {
            path: path.iter().map(|&segment| segment.to_owned()).collect(),
            query: Vec::new(),
            headers: vec![("x-format", "1".to_owned())],
            key: KeyHeader::Bearer,
            body: Value::Null,
            framing: Framing::Events,
        }
    }

    #[test]
    fn paths_are_appended_to_the_base() {
        let path = ["models", "a/b c%:generate"];
        for (base, expected) in [
            ("https://a.example", "https://a.example/models/a%2Fb%20c%25:generate"),
            ("https://a.example/v1", "https://a.example/v1/models/a%2Fb%20c%25:generate"),
            ("https://a.example/v1/#x", "https://a.example/v1/models/a%2Fb%20c%25:generate"),
            ("http://a.example/v1?version=2", "http://a.example/v1/models/a%2Fb%20c%25:generate?version=2"),
        ] {
            assert_eq!(address(&provider(base), &request(&path)).unwrap().as_str(), expected);
        }
        let streamed = WireRequest { query: vec![("alt", "sse")], ..request(&["m"]) };
        let url = address(&provider("https://a.example/v1?version=2"), &streamed).unwrap();
        assert_eq!(url.as_str(), "https://a.example/v1/m?version=2&alt=sse");
    }

    #[test]
    fn wrong_bases_are_refused_without_their_text() {
        for base in ["ftp://a.example/hush", "data:hush", "https://hush@a.example/", "https://:hush@a.example/"] {
            let error = address(&provider(base), &request(&["m"])).unwrap_err();
            assert_eq!(error.kind, Configuration, "{base}");
            assert!(!error.message.contains("hush"), "{error}");
        }
    }

    #[test]
    fn headers_of_the_provider_replace_others() {
        let mut provider = provider("https://a.example");
        provider.openrouter = true;
        let header = |name: &str, value: &str| Header { name: name.to_owned(), value: Secret::new(value) };
        provider.headers = vec![header("Accept", "x/y"), header("X-Format", "2"), header("x-more", "3")];
        let all = headers(&provider, &request(&[]), true).unwrap();
        for (name, expected) in [
            ("authorization", "Bearer sk-1"),
            ("content-type", "application/json"),
            ("accept", "x/y"),
            ("x-format", "2"),
            ("x-more", "3"),
            ("user-agent", PROGRAM),
            ("x-openrouter-title", "Agent Spaces"),
            ("http-referer", env!("CARGO_PKG_REPOSITORY")),
        ] {
            assert_eq!(all[name], expected, "{name}");
        }
        assert!(all["authorization"].is_sensitive() && all["x-more"].is_sensitive());
        let named = WireRequest { key: KeyHeader::Named("x-api-key"), ..request(&[]) };
        provider.headers.clear();
        provider.openrouter = false;
        let all = headers(&provider, &named, true).unwrap();
        assert_eq!(
            (&all["x-api-key"], &all["accept"]),
            (&HeaderValue::from_static("sk-1"), &HeaderValue::from_static("text/event-stream"))
        );
        assert!(!all.contains_key("authorization") && !all.contains_key("x-openrouter-title"));
        assert_eq!(headers(&provider, &named, false).unwrap()["accept"], "application/json");
        let lines = WireRequest { framing: Framing::Lines, ..request(&[]) };
        assert_eq!(headers(&provider, &lines, true).unwrap()["accept"], "application/x-ndjson");
    }

    #[test]
    fn invalid_headers_are_refused_without_their_text() {
        for (key, name, value) in [("hush\nhush", "a", "b"), ("k", "a:hush", "b"), ("k", "a", "hush\r\nb: c")] {
            let mut provider = provider("https://a.example");
            provider.key = Some(Secret::new(key));
            provider.headers = vec![Header { name: name.to_owned(), value: Secret::new(value) }];
            let error = headers(&provider, &request(&[]), true).unwrap_err();
            assert_eq!(error.kind, Configuration);
            assert!(!error.message.contains("hush"), "{error}");
        }
    }

    #[test]
    fn servers_on_this_machine_are_known() {
        let is_local = |text: &str| is_loopback(&Url::parse(text).unwrap());
        for text in ["http://127.0.0.1:1/", "http://[::1]/", "http://localhost/", "http://[::ffff:127.0.0.1]/"] {
            assert!(is_local(text), "{text}");
        }
        for text in ["https://a.example/", "http://10.0.0.1/", "http://localhost.example/"] {
            assert!(!is_local(text), "{text}");
        }
    }
}
