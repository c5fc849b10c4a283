//! Tool names of exposed functions.

use std::collections::{BTreeMap, BTreeSet};

/// Maximum length of a name that MCP recommends.
const MAX_NAME: usize = 128;

/// Returns unique tool names for functions given as capability and name: the name alone if no other function has it,
/// else both. A server chooses the names of its tools, so none may equal the combined name of another capability's
/// function.
pub(super) fn names(functions: &[(&str, &str)]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, name) in functions {
        *counts.entry(valid(name)).or_default() += 1;
    }
    let is_shared = |name: &str| counts.get(&valid(name)) != Some(&1);
    let both = |capability: &str, name: &str| valid(&format!("{capability}_{name}"));
    let reserved: BTreeSet<String> =
        functions.iter().filter(|(_, name)| is_shared(name)).map(|(capability, name)| both(capability, name)).collect();
    let mut taken = BTreeSet::new();
    let mut names = Vec::new();
    for (capability, name) in functions {
        let own = valid(name);
        let wanted = if is_shared(name) || reserved.contains(&own) { both(capability, name) } else { own };
        let mut chosen = wanted.clone();
        let mut number = 2;
        while !taken.insert(chosen.clone()) {
            let end = format!("_{number}");
            chosen = wanted.chars().take(MAX_NAME - end.len()).chain(end.chars()).collect();
            number += 1;
        }
        names.push(chosen);
    }
    names
}

/// Replaces characters that MCP does not allow.
fn valid(name: &str) -> String {
    let is_valid = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let valid: String = name.chars().take(MAX_NAME).map(|letter| if is_valid(letter) { letter } else { '_' }).collect();
    if valid.is_empty() { "_".to_owned() } else { valid }
}

#[cfg(test)]
mod tests {
    use super::{MAX_NAME, names};

    #[test]
    fn the_capability_is_added_only_to_ambiguous_names() {
        let functions = [("crm", "search"), ("wiki", "search"), ("crm", "create_ticket"), ("a b", "tüv/x")];
        assert_eq!(names(&functions), ["crm_search", "wiki_search", "create_ticket", "t_v_x"]);
    }

    #[test]
    fn no_tool_takes_the_combined_name_of_another() {
        let functions = [("a", "search"), ("a", "crm_search"), ("crm", "search")];
        assert_eq!(names(&functions), ["a_search", "a_crm_search", "crm_search"]);
    }

    #[test]
    fn names_are_short_and_unique() {
        let long = "x".repeat(300);
        let found = names(&[("a", &long), ("a", &long), ("a_x", "y"), ("a", "x_y"), ("b", "a_x_y")]);
        assert!(found.iter().all(|name| name.len() <= MAX_NAME), "{found:?}");
        assert_eq!(found.iter().collect::<std::collections::BTreeSet<_>>().len(), found.len(), "{found:?}");
    }
}
