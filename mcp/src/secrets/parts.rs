//! What of a secret is a secret on its own.

use super::places::{secrets_in_pairs, secrets_in_url};
use super::{MIN_SECRET, Secret};
use base64::Engine as _;
use std::collections::BTreeSet;

/// Shorter lines of a text of several lines are not looked for on their own.
const MIN_LINE: usize = 16;

/// Words that stand before the secret itself in an `Authorization` header.
const SCHEMES: [&str; 7] = ["Bearer", "Basic", "Token", "ApiKey", "Api-Key", "Digest", "Bot"];

/// The text without the space around it, and what it holds that is secret on its own: what follows `Bearer`, the
/// password of `Basic`, of an address or of a connection string, and every longer line of a key.
pub(super) fn parts(text: &str) -> BTreeSet<String> {
    let whole = text.trim();
    let mut found = BTreeSet::from([whole.to_owned()]);
    if let Some(rest) = after_scheme(whole) {
        found.insert(rest.to_owned());
        found.extend(basic_password(rest));
    }
    let within = secrets_in_url(whole).into_iter().chain(secrets_in_pairs(whole));
    found.extend(within.map(|secret: Secret| secret.expose().to_owned()));
    // A key inside JSON has its line breaks written as `\n`.
    for line in whole.split(['\n', '\r']).flat_map(|line| line.split("\\n")).map(str::trim) {
        if line.len() < whole.len() && line.chars().count() >= MIN_LINE && !is_banner(line) {
            found.insert(line.to_owned());
        }
    }
    found.retain(|part| part.chars().count() >= MIN_SECRET);
    found
}

/// What follows `Bearer` and the like.
pub(super) fn after_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.trim().split_once(' ')?;
    SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)).then_some(rest.trim())
}

fn basic_password(credentials: &str) -> Option<String> {
    let decoded = base64::engine::general_purpose::STANDARD.decode(credentials).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    text.split_once(':').map(|(_, password)| password.to_owned())
}

/// `-----BEGIN PRIVATE KEY-----` says nothing about the key.
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
    fn what_follows_the_scheme_is_a_secret() {
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
    fn space_around_a_secret_is_not_part_of_it_and_short_ones_are_left_out() {
        assert_eq!(parts(" abcdefgh\n"), BTreeSet::from(["abcdefgh".to_owned()]));
        assert_eq!(parts("abcdefg"), BTreeSet::new());
    }
}
