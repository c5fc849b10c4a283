//! Environment variables for proxies and certificates. Servers do not inherit them: a proxy URL may contain a password,
//! so the user has to configure them.

use std::collections::BTreeSet;

/// Their names in upper case; programs read some of them in lower case too.
const NAMES: [&str; 12] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "DENO_CERT",
];

/// Returns those that are set to a non-empty value, as spelled in the environment.
pub fn network_variables() -> Vec<String> {
    set(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Returns those of `here` that a server with these configured variables does not get. One spelling of a name is
/// enough.
pub fn withheld_variables<'a>(here: &'a [String], own: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let own: BTreeSet<String> = own.map(str::to_ascii_uppercase).collect();
    let is_withheld = |name: &&str| !own.contains(&name.to_ascii_uppercase());
    here.iter().map(String::as_str).filter(is_withheld).collect()
}

fn set(is_set: impl Fn(&str) -> bool) -> Vec<String> {
    let spellings = NAMES.iter().flat_map(|name| [(*name).to_owned(), name.to_ascii_lowercase()]);
    spellings.filter(|name| is_set(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::{set, withheld_variables};

    #[test]
    fn names_match_in_either_case_and_configured_ones_are_not_withheld() {
        let here = set(|name| ["HTTPS_PROXY", "no_proxy", "SSL_CERT_FILE"].contains(&name));
        assert_eq!(here, ["HTTPS_PROXY", "no_proxy", "SSL_CERT_FILE"]);
        let withheld = withheld_variables(&here, ["https_proxy", "TOKEN"].into_iter());
        assert_eq!(withheld, ["no_proxy", "SSL_CERT_FILE"]);
        assert!(withheld_variables(&[], std::iter::empty()).is_empty());
    }
}
