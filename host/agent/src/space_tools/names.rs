//! Names of tools that every provider accepts.

use crate::handles::Handles;
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Longest name.
const MAX_NAME: usize = 64;

/// Characters of a hash that tells apart names that would be the same.
const HASH: usize = 8;

/// Returns a unique name for each of these names: letters, digits, `_` and `-`, at most 64. An acceptable name stays as
/// it is. Others have `_` for each wrong character, and a hash of the whole name if they are too long or not unique, so
/// that a name does not depend on the order of the list.
pub(super) fn for_models(names: &[&str]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in names {
        *counts.entry(escaped(name)).or_default() += 1;
    }
    let mut taken: BTreeSet<String> =
        names.iter().filter(|name| is_acceptable(name)).map(|name| (*name).to_owned()).collect();
    taken.insert(Handles::TOOL.to_owned());
    let mut used: BTreeSet<&str> = BTreeSet::new();
    let mut chosen = Vec::with_capacity(names.len());
    for name in names.iter().copied() {
        // A server that lists a name twice keeps it for the first.
        if is_acceptable(name) && used.insert(name) {
            chosen.push(name.to_owned());
            continue;
        }
        let plain = escaped(name);
        let is_unique = plain.len() <= MAX_NAME && counts.get(&plain) == Some(&1) && !taken.contains(&plain);
        let mut candidate = if is_unique { plain.clone() } else { hashed(&plain, name) };
        let mut number = 2;
        while !taken.insert(candidate.clone()) {
            candidate = hashed(&plain, &format!("{name} {number}"));
            number += 1;
        }
        chosen.push(candidate);
    }
    chosen
}

fn is_acceptable(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_valid) && name != Handles::TOOL
}

fn is_valid(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

fn escaped(name: &str) -> String {
    let escaped: String = name.chars().map(|letter| if is_valid(letter) { letter } else { '_' }).collect();
    if escaped.is_empty() { "_".to_owned() } else { escaped }
}

/// The beginning of a name, with a hash of the whole name.
fn hashed(escaped: &str, name: &str) -> String {
    let hash = HEXLOWER.encode(&Sha256::digest(name.as_bytes()));
    let beginning: String = escaped.chars().take(MAX_NAME - HASH - 1).collect();
    let hash: String = hash.chars().take(HASH).collect();
    format!("{beginning}_{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acceptable_names_stay() {
        let names = ["search", "create-ticket", "list_2", "A"];
        assert_eq!(for_models(&names), names);
    }

    #[test]
    fn other_names_are_escaped_and_never_take_the_name_of_another() {
        let names = for_models(&["crm.search", "crm_find", "crm.find", "wiki.é", "", "read_result"]);
        assert_eq!((names[0].as_str(), names[1].as_str(), names[3].as_str()), ("crm_search", "crm_find", "wiki__"));
        assert!(names[2].starts_with("crm_find_"), "{names:?}");
        assert!(names[5].starts_with("read_result_"), "{names:?}");
        // Alone it would have kept the plain form.
        assert_eq!(for_models(&["crm.find"]), ["crm_find"]);
    }

    #[test]
    fn names_are_short_unique_and_independent_of_their_order() {
        let long = ["x".repeat(64), "x".repeat(65), format!("{}y", "x".repeat(200)), "a.b".into(), "a/b".into()];
        let given: Vec<&str> = long.iter().map(String::as_str).chain(["same", "same"]).collect();
        let names = for_models(&given);
        assert!(names.iter().all(|name| name.len() <= MAX_NAME && name.chars().all(is_valid)), "{names:?}");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        let backwards: Vec<&str> = given.iter().rev().copied().collect();
        let mut others = for_models(&backwards);
        others.reverse();
        assert_eq!(names[..5], others[..5]);
    }
}
