//! Variables by which programs find proxies and certificates. Servers are not given them: a proxy's address may hold a
//! password, and who needs them is for the user to say.

use std::collections::BTreeSet;

/// Their names, in capitals; programs read some of them in small letters as well.
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

/// Those of them that are set here and have a value, each as it is spelled.
pub fn network_variables() -> Vec<String> {
    set(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Those of `here` that a server with these variables of its own does not get. Of a name in both spellings one is enough.
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
    fn names_are_found_in_either_case_and_given_ones_are_not_withheld() {
        let here = set(|name| ["HTTPS_PROXY", "no_proxy", "SSL_CERT_FILE"].contains(&name));
        assert_eq!(here, ["HTTPS_PROXY", "no_proxy", "SSL_CERT_FILE"]);
        let withheld = withheld_variables(&here, ["https_proxy", "TOKEN"].into_iter());
        assert_eq!(withheld, ["no_proxy", "SSL_CERT_FILE"]);
        assert!(withheld_variables(&[], std::iter::empty()).is_empty());
    }
}
