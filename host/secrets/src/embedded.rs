//! Secrets in URLs, connection strings and command line arguments.

use super::names::looks_secret;
use super::secret::{MIN_SECRET, Secret};
use url::form_urlencoded;

/// Returns the password of a URL and the values of parameters with names of secrets, encoded and decoded. Those shorter
/// than [`MIN_SECRET`] are left out, because they cannot be redacted.
pub fn secrets_in_url(url: &str) -> Vec<Secret> {
    let Some((_, rest)) = url.split_once("://") else { return Vec::new() };
    // Not with a URL parser: database URLs have several hosts, and passwords contain unescaped characters.
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let userinfo = authority.rsplit_once('@').map(|(userinfo, _)| userinfo);
    let mut found = Vec::new();
    if let Some((_, password)) = userinfo.and_then(|userinfo| userinfo.split_once(':')) {
        found.push(password.to_owned());
        found.push(percent_decoded(password));
    }
    for query in rest.split(['?', '#']).skip(1) {
        for pair in query.split('&') {
            let Some((name, value)) = pair.split_once('=') else { continue };
            if looks_secret(&percent_decoded(name)) {
                found.push(value.to_owned());
                found.push(percent_decoded(value));
                found.extend(form_urlencoded::parse(pair.as_bytes()).map(|(_, value)| value.into_owned()));
            }
        }
    }
    secrets(found)
}

/// Returns the values with names of secrets in `Name=value;Name=value`: connection strings and cookies.
pub(super) fn secrets_in_pairs(text: &str) -> Vec<Secret> {
    if !text.contains(';') {
        return Vec::new();
    }
    let pairs = text.split(';').filter_map(|pair| pair.split_once('='));
    secrets(pairs.filter(|(name, _)| looks_secret(name)).map(|(_, value)| value.trim().to_owned()).collect())
}

/// Returns the secrets in a command line: `--token=VALUE`, `--api-key VALUE`, `API_KEY=VALUE`,
/// `--header Authorization:VALUE`, and secrets in URLs.
pub fn secrets_in_args(args: &[String]) -> Vec<Secret> {
    let mut found = Vec::new();
    for (index, arg) in args.iter().enumerate() {
        found.extend(secrets_in_url(arg).iter().map(|secret| secret.expose().to_owned()));
        if let Some(value) = value_of_pair(arg) {
            found.push(value.to_owned());
        } else if arg.starts_with('-') && is_word(arg) && looks_secret(arg) {
            found.extend(args.get(index + 1).filter(|next| !next.starts_with('-')).cloned());
        }
    }
    secrets(found)
}

/// Returns the value after the first name of a secret: `VALUE` of `--env=API_KEY=VALUE`.
fn value_of_pair(arg: &str) -> Option<&str> {
    let mut rest = arg;
    while let Some((name, value)) = rest.split_once(['=', ':']) {
        if !is_word(name.trim()) {
            return None;
        }
        if looks_secret(name) {
            return Some(value.trim().trim_matches(['"', '\'']));
        }
        rest = value;
    }
    None
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn percent_decoded(text: &str) -> String {
    // Unlike in form data, `+` is not a space here.
    let pairs = text.replace('+', "%2B").replace('&', "%26").replace('=', "%3D");
    form_urlencoded::parse(pairs.as_bytes()).next().map(|(name, _)| name.into_owned()).unwrap_or_default()
}

fn secrets(mut found: Vec<String>) -> Vec<Secret> {
    found.retain(|text| text.chars().count() >= MIN_SECRET);
    found.sort();
    found.dedup();
    found.into_iter().map(Secret::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(url: &str) -> Vec<String> {
        secrets_in_url(url).iter().map(|secret| secret.expose().to_owned()).collect()
    }

    fn args(args: &[&str]) -> Vec<String> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        secrets_in_args(&args).iter().map(|secret| secret.expose().to_owned()).collect()
    }

    #[test]
    fn passwords_of_urls_are_found_encoded_and_decoded() {
        assert_eq!(url("https://me:pass%2Bword@host/x"), ["pass%2Bword", "pass+word"]);
        assert_eq!(url("mongodb://me:p@ssword1@a:1,b:2/db"), ["p@ssword1"]);
        assert_eq!(url("https://host/path?x=1"), Vec::<String>::new());
        assert_eq!(url("https://password-user@host"), Vec::<String>::new());
        assert_eq!(url("not an address"), Vec::<String>::new());
    }

    #[test]
    fn parameters_with_names_of_secrets_are_found() {
        let found = url("https://host/mcp?api_key=abcd%2Fefgh&page=12345678&token=short#access_token=fragment1");
        assert_eq!(found, ["abcd%2Fefgh", "abcd/efgh", "fragment1"]);
        assert_eq!(url("https://host/?key=with+a+space"), ["with a space", "with+a+space"]);
    }

    #[test]
    fn arguments_with_names_of_secrets_are_found() {
        assert_eq!(args(&["--token=abcdefgh", "--verbose"]), ["abcdefgh"]);
        assert_eq!(args(&["--api-key", "abcdefgh", "--port", "12345678"]), ["abcdefgh"]);
        assert_eq!(args(&["-e", "API_KEY=abcdefgh"]), ["abcdefgh"]);
        assert_eq!(args(&["--env=API_KEY=abcdefgh"]), ["abcdefgh"]);
        assert_eq!(args(&["--header", "Authorization: Bearer abcdefgh"]), ["Bearer abcdefgh"]);
        assert_eq!(args(&["https://me:password1@host"]), ["password1"]);
        assert_eq!(args(&["--auth", "--other-option"]), Vec::<String>::new());
        assert_eq!(args(&["run", "the key: long text that is none"]), Vec::<String>::new());
    }
}
