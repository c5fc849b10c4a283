//! URLs of remote servers.

use crate::ConnectError;
use agent_spaces_secrets::Secret;
use url::{Host, Url};

/// URL schemes of HTTP servers.
pub(crate) const HTTP: [&str; 2] = ["http", "https"];

/// URL schemes of WebSocket servers.
pub(super) const WEBSOCKET: [&str; 2] = ["ws", "wss"];

/// Parses a URL. Errors never show it, because its query may contain a key.
pub(super) fn parse(address: &Secret, schemes: [&str; 2]) -> Result<Url, ConnectError> {
    let mut url = Url::parse(address.expose().trim())
        .map_err(|error| ConnectError::Failed(format!("its `url` is not a valid URL: {error}")))?;
    if !schemes.contains(&url.scheme()) {
        let [plain, encrypted] = schemes;
        return Err(ConnectError::Failed(format!(
            "its `url` begins with `{}:`; this kind of server needs `{encrypted}:` or `{plain}:`",
            url.scheme()
        )));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ConnectError::Failed(
            "its `url` contains a user name or password; use an `Authorization` header instead".to_owned(),
        ));
    }
    url.set_fragment(None);
    Ok(url)
}

/// Returns true if requests to the URL are encrypted or stay on this machine.
pub(crate) fn is_confidential(url: &Url) -> bool {
    matches!(url.scheme(), "https" | "wss") || is_loopback(url)
}

/// Returns true for a loopback address.
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

/// Returns the error for credentials that would be sent unencrypted to another machine.
pub(super) fn refuse_plain(url: &Url) -> String {
    format!("credentials are not sent over `{0}:`, where others can read them; use `{0}s:`", url.scheme())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Url, String> {
        parse(&Secret::new(text), HTTP).map_err(|error| error.to_string())
    }

    #[test]
    fn addresses_are_read() {
        assert_eq!(read(" https://a.example/mcp?key=1#part ").unwrap().as_str(), "https://a.example/mcp?key=1");
        assert!(parse(&Secret::new("wss://a.example/"), WEBSOCKET).is_ok());
    }

    #[test]
    fn errors_say_what_to_do_and_never_show_the_address() {
        for (text, expected) in [
            ("a.example/?hush", "not a valid URL"),
            ("ftp://a.example/?hush", "needs `https:` or `http:`"),
            ("wss://a.example/?hush", "needs `https:`"),
            ("https://hush@a.example/", "`Authorization` header"),
            ("https://:hush@a.example/", "`Authorization` header"),
            ("https://", "not a valid URL"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(!error.contains("hush"), "{error}");
        }
    }

    #[test]
    fn only_loopback_is_confidential_without_encryption() {
        for text in [
            "http://127.0.0.1/",
            "http://127.9.9.9:80/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://localhost:3000/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "https://a.example/",
        ] {
            assert!(is_confidential(&read(text).unwrap()), "{text}");
        }
        for text in ["http://a.example/", "http://10.0.0.1/", "http://localhost.example/", "http://notlocalhost/"] {
            assert!(!is_confidential(&read(text).unwrap()), "{text}");
        }
    }
}
