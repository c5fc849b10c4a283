//! Parts of a secret that are secrets on their own.

use super::embedded::{secrets_in_pairs, secrets_in_url};
use super::secret::{MIN_SECRET, Secret};
use base64::Engine as _;
use std::collections::BTreeSet;

/// Shortest line of a multi-line secret that is a secret on its own.
const MIN_LINE: usize = 16;

/// Authentication schemes of an `Authorization` header.
const SCHEMES: [&str; 7] = ["Bearer", "Basic", "Token", "ApiKey", "Api-Key", "Digest", "Bot"];

/// Returns the trimmed text and its parts that are secrets on their own: the token after `Bearer`, the password of
/// `Basic`, of a URL or of a connection string, and every longer line of a key.
pub(super) fn parts(text: &str) -> BTreeSet<String> {
    let whole = text.trim();
    let mut found = BTreeSet::from([whole.to_owned()]);
    if let Some(rest) = after_scheme(whole) {
        found.insert(rest.to_owned());
        found.extend(basic_password(rest));
    }
    let within = secrets_in_url(whole).into_iter().chain(secrets_in_pairs(whole));
    found.extend(within.map(|secret: Secret| secret.expose().to_owned()));
    // A key inside JSON has its line breaks escaped as `\n`.
    for line in whole.split(['\n', '\r']).flat_map(|line| line.split("\\n")).map(str::trim) {
        if line.len() < whole.len() && line.chars().count() >= MIN_LINE && !is_banner(line) {
            found.insert(line.to_owned());
        }
    }
    found.retain(|part| part.chars().count() >= MIN_SECRET);
    found
}

/// Returns the credentials after `Bearer` or another scheme.
pub(super) fn after_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.trim().split_once(' ')?;
    SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)).then_some(rest.trim())
}

fn basic_password(credentials: &str) -> Option<String> {
    let decoded = base64::engine::general_purpose::STANDARD.decode(credentials).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    text.split_once(':').map(|(_, password)| password.to_owned())
}

/// Returns true for a line such as `-----BEGIN PRIVATE KEY-----`, which is not secret.
fn is_banner(line: &str) -> bool {
    line.contains("-----BEGIN ") || line.contains("-----END ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(text: &str, part: &str) -> bool {
        parts(text).contains(part)
    }

    #[test]
    fn credentials_after_a_scheme_are_a_secret() {
        assert!(has("Bearer abcdef123456", "abcdef123456"));
        assert!(has("token abcdef123456", "abcdef123456"));
        assert!(!has("Hello abcdef123456", "abcdef123456"));
    }

    #[test]
    fn the_password_of_basic_credentials_is_a_secret() {
        assert!(has("Basic dXNlcjpodW50ZXIyMjIy", "hunter2222"));
    }

    #[test]
    fn the_password_of_an_address_and_of_a_connection_string_is_a_secret() {
        assert!(has("postgres://app:hunter2222@db:5432/main", "hunter2222"));
        assert!(has("Server=db;User=app;Password=hunter2222;", "hunter2222"));
    }

    #[test]
    fn lines_of_a_key_are_secrets_but_its_banner_is_not() {
        let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\r\nshort\n-----END PRIVATE KEY-----\n";
        assert!(has(key, "MIIEvQIBADANBgkqhkiG"));
        assert!(!has(key, "short"));
        assert_eq!(parts(key).len(), 2, "{:?}", parts(key));
    }

    #[test]
    fn lines_of_a_key_inside_json_are_secrets() {
        let account =
            r#"{"private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END PRIVATE KEY-----\n"}"#;
        assert!(has(account, "MIIEvQIBADANBgkqhkiG"));
    }

    #[test]
    fn secrets_are_trimmed_and_short_parts_left_out() {
        assert_eq!(parts(" abcdefgh\n"), BTreeSet::from(["abcdefgh".to_owned()]));
        assert_eq!(parts("abcdefg"), BTreeSet::new());
    }
}
